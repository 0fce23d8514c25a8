package feedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

func (w *writer) atom(xhtml bool) {
	w.printf("<?xml version=\"1.0\" encoding=%q?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=%q>\n", w.encoding(), w.lang.tag)
	w.printf("  <title type=\"text\">%s</title>\n  <subtitle>%s</subtitle>\n", w.escape(w.sentence(3)), w.escape(w.sentence(8)))
	w.printf("  <link rel=\"alternate\" type=\"text/html\" href=\"%s/\"/>\n  <link rel=\"self\" type=\"application/atom+xml\" href=\"%s/feed\"/>\n", w.site, w.site)
	w.printf("  <id>%s/</id>\n  <updated>%s</updated>\n  <generator uri=\"https://writer.example/\" version=\"4.2\">Writer</generator>\n  <rights>%s</rights>\n", w.site, w.iso(), w.escape(w.sentence(4)))
	based := w.chance(30)
	for w.more() {
		link := w.link()
		w.printf("  <entry>\n    <title type=\"html\">%s</title>\n", w.escape(w.sentence(3+w.rnd.IntN(8))))
		w.printf("    <link rel=\"alternate\" type=\"text/html\" href=\"%s.html\"/>\n", link)
		if w.chance(30) {
			w.printf("    <link rel=\"replies\" type=\"application/atom+xml\" href=\"%s/comments.atom\"/>\n", link)
		}
		w.printf("    <id>tag:%s,%d:/%d</id>\n    <published>%s</published>\n    <updated>%s</updated>\n", w.site[len("https://"):], w.now.Year(), 70000-w.items, w.iso(), w.iso())
		w.printf("    <author><name>%s</name><uri>%s/about</uri></author>\n", w.name(), w.site)
		for range w.rnd.IntN(4) {
			w.printf("    <category term=\"%s\" scheme=\"%s/tags\"/>\n", pick(w, w.lang.words), w.site)
		}
		if w.summary {
			w.printf("    <summary type=\"html\">%s</summary>\n", w.escape("<p>"+w.sentence(25)+"</p>"))
		}
		base := ""
		if based {
			base = fmt.Sprintf(" xml:base=%q", w.site+"/")
		}
		if xhtml {
			w.printf("    <content type=\"xhtml\"%s><div xmlns=\"http://www.w3.org/1999/xhtml\">%s</div></content>\n  </entry>\n", base, w.html())
		} else {
			w.printf("    <content type=\"html\"%s>%s</content>\n  </entry>\n", base, w.escape(w.html()))
		}
	}
	w.printf("</feed>\n")
}

// quote returns text as a JSON string. If ascii is true, characters beyond ASCII are
// written as \u escapes, as some programs do.
func (w *writer) quote(text string, ascii bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// Encoding a string never fails.
	_ = enc.Encode(text)
	out := bytes.TrimSpace(b.Bytes())
	if !ascii {
		return string(out)
	}
	var s []byte
	for _, r := range string(out) {
		switch {
		case r < 0x80:
			s = append(s, byte(r))
		case r > 0xffff:
			r -= 0x10000
			s = fmt.Appendf(s, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			s = fmt.Appendf(s, `\u%04x`, r)
		}
	}
	return string(s)
}

func (w *writer) jsonFeed() {
	ascii := w.chance(30)
	q := func(text string) string { return w.quote(text, ascii) }
	w.printf("{\n  \"version\": \"https://jsonfeed.org/version/1.1\",\n  \"title\": %s,\n  \"home_page_url\": %s,\n  \"feed_url\": %s,\n", q(w.sentence(3)), q(w.site+"/"), q(w.site+"/feed"))
	w.printf("  \"description\": %s,\n  \"language\": %q,\n  \"authors\": [{\"name\": %s, \"url\": %s}],\n  \"items\": [", q(w.sentence(8)), w.lang.tag, q(w.name()), q(w.site+"/about"))
	for w.more() {
		if w.items > 1 {
			w.printf(",")
		}
		link := w.link()
		w.printf("\n    {\n      \"id\": %s,\n      \"url\": %s,\n      \"title\": %s,\n", q(link), q(link), q(w.sentence(3+w.rnd.IntN(8))))
		w.printf("      \"content_html\": %s,\n", q(w.html()))
		if w.summary {
			w.printf("      \"summary\": %s,\n", q(w.sentence(20)))
		}
		w.printf("      \"tags\": [%s, %s],\n", q(pick(w, w.lang.words)), q(pick(w, w.lang.words)))
		if w.chance(15) {
			w.printf("      \"attachments\": [{\"url\": %s, \"mime_type\": \"audio/mpeg\", \"size_in_bytes\": %d}],\n", q(link+".mp3"), w.rnd.IntN(5e7))
		}
		w.printf("      \"date_published\": %q\n    }", w.iso())
	}
	w.printf("\n  ]\n}\n")
}
