package inspect

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"cloudburst/internal/fault"
)

const rss = `<rss version="2.0"><channel><title>A &amp; B</title><link>http://a.example/</link><description/><item><title>x</title></item></channel></rss>`

// wide returns a text in UTF-16 with a byte order mark.
func wide(s string) string {
	b := []byte("\xFF\xFE")
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func TestWellFormedFeedsAreAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, doc, with, typ, title string }{
		{"RSS", rss, "", "application/rss+xml; charset=utf-8", "A & B"},
		{"RSS with a mark", "\xEF\xBB\xBF" + rss, "", "application/rss+xml; charset=utf-8", "A & B"},
		{"RSS that declares UTF-8", `<?xml version="1.0" encoding="UTF-8"?>` + rss, "text/xml", "application/rss+xml; charset=utf-8", "A & B"},
		{"windows-1251", "<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss version=\"2.0\"><channel><title>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0</title></channel></rss>",
			"", "application/rss+xml; charset=windows-1251", "Привет, мир"},
		{"ISO-8859-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss version=\"2.0\"><channel><title>\xdcbersicht</title></channel></rss>",
			"", "application/rss+xml; charset=iso-8859-1", "Übersicht"},
		{"windows-1252 declared as ISO-8859-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss version=\"2.0\"><channel><title>\x93\xdcber\x94</title></channel></rss>",
			"", "application/rss+xml; charset=windows-1252", "“Über”"},
		{"Shift_JIS", "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><rss version=\"2.0\"><channel><title>\x93\xfa\x96{\x8c\xea</title></channel></rss>",
			"", "application/rss+xml; charset=shift_jis", "日本語"},
		{"UTF-16", wide(`<?xml version="1.0" encoding="UTF-16"?><rss version="2.0"><channel><title>日本</title></channel></rss>`),
			"", "application/rss+xml; charset=utf-16", "日本"},
		{"text of a call that declares another encoding", `<?xml version="1.0" encoding="utf-16"?><rss version="2.0"><channel><title>日本</title></channel></rss>`,
			"text/xml; charset=utf-8", "application/rss+xml; charset=utf-8", "日本"},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">a &lt;b&gt;bold&lt;/b&gt; one</title></feed>`, "application/atom+xml",
			"application/atom+xml; charset=utf-8", "a bold one"},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>x</title></channel></rdf:RDF>`, "",
			"application/rdf+xml; charset=utf-8", "x"},
		{"JSON Feed", `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, "application/feed+json", "application/feed+json; charset=utf-8", "x"},
		{"JSON Feed as JSON", `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, "application/json; charset=utf-8", "application/feed+json; charset=utf-8", "x"},
	} {
		got, err := Document([]byte(c.doc), c.with)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Type != c.typ || got.Title != c.title {
			t.Errorf("%s: the type is %q and the title %q, want %q and %q", c.name, got.Type, got.Title, c.typ, c.title)
		}
	}
}

func TestInvalidDocumentIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	rssWith := func(inner string) string {
		return "<rss version=\"2.0\">\n<channel><title>x</title>\n" + inner + "\n</channel></rss>"
	}
	for _, c := range []struct{ name, doc, with, want string }{
		{"an empty document", "", "", "empty"},
		{"text", "hello", "", "plain text, not a feed"},
		{"a page", "<!DOCTYPE html><html><head><title>x</title></head><body><p>x</body></html>", "", "This is an HTML page, not a feed."},
		{"a page in XML", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head></html>`, "", "This is an HTML page, not a feed."},
		{"OPML", `<opml version="2.0"><head/><body/></opml>`, "", "This is OPML, a list of feeds and not a feed."},
		{"other XML", `<menu><dish/></menu>`, "", "its root element is <menu>"},
		{"other XML that is broken", "<menu>\n<a></menu>", "", "not well-formed XML: in line 2"},
		{"a DOCTYPE", `<!DOCTYPE rss SYSTEM "x">` + rss, "", "The document has a DOCTYPE, which is not accepted"},
		{"entities", `<!DOCTYPE rss [<!ENTITY a "b">]>` + rss, "", "DOCTYPE"},
		{"an undefined entity", rssWith("<item><title>&nbsp;</title></item>"), "", "not well-formed XML: in line 3"},
		{"a bare ampersand", rssWith("<item><title>a & b</title></item>"), "", "line 3"},
		{"a wrong end", rssWith("<item><title>x</item></title>"), "", "line 3"},
		{"an end that is missing", "<rss version=\"2.0\">\n<channel><title>x</title>", "", "line 2"},
		{"text after the root", rss + "\nmore", "", "in line 1, there is text after the root element"},
		{"two roots", rss + rss, "", "not well-formed"},
		{"space before the declaration", "\n<?xml version=\"1.0\"?>" + rss, "", "not well-formed"},
		{"an attribute twice", rssWith(`<item a="1" a="2"/>`), "", "line 3"},
		{"an undeclared prefix", rssWith(`<dc:creator>x</dc:creator>`), "", "line 3"},
		{"a control character", rssWith("<item><title>\x01</title></item>"), "", "line 3"},
		{"a control character as a reference", rssWith("<item><title>&#1;</title></item>"), "", "line 3"},
		{"a null byte", rssWith("<item><title>\x00</title></item>"), "", ""},
		{"broken UTF-8", rssWith("<item><title>日本語\xff日本語</title></item>"), "", "encoding"},
		{"Latin letters without a declaration", rssWith("<item><title>\xdcbersicht</title></item>"), "", "encoding"},
		{"an unknown encoding", `<?xml version="1.0" encoding="klingon"?>` + rssWith("<item><title>\xdcbersicht</title></item>"), "", "encoding"},
		{"broken Shift_JIS", "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><rss version=\"2.0\"><channel><title>\x93\xfa\x96{\x8c\xea \x81</title></channel></rss>", "", ""},
		{"broken UTF-16", wide(rss) + "x", "", ""},
		{"too deep", rssWith(strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200)), "", "more than 100 deep"},
		{"too many elements", rssWith(strings.Repeat("<a/>", maxElements)), "", "too many parts"},
		{"too large", rssWith(strings.Repeat(" ", MaxBytes)), "", "at most 2097152 (2 MiB)"},
		{"JSON as XML", `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, "", "JSON Feed that was sent as XML"},
		{"XML as JSON", rss, "application/json", "is JSON"},
		{"broken JSON", "{\"version\":\"https://jsonfeed.org/version/1.1\",\n\"title\":\"x\",\"items\":[],}", "application/json", "not well-formed JSON: in line 2"},
		{"JSON twice", `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]} {}`, "application/json", "not well-formed JSON"},
		{"JSON in Latin letters", "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"\xdcber\",\"items\":[]}", "application/json", "not UTF-8"},
		{"other JSON", `{"a":1}`, "application/json", "JSON, but no feed"},
		{"a redirect", `<redirect><newLocation>http://a.example/</newLocation></redirect>`, "", "not a feed"},
		{"an image", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "", "image"},
	} {
		_, err := Document([]byte(c.doc), c.with)
		if err == nil || fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), c.want) {
			t.Errorf("%s: got %v, want a fault with %q", c.name, err, c.want)
		}
		if err != nil && len(fault.Message(err)) > 1000 {
			t.Errorf("%s: the message has %d bytes", c.name, len(fault.Message(err)))
		}
	}
}

func TestLongTitleIsTruncated(t *testing.T) {
	t.Parallel()
	got, err := Document(fmt.Appendf(nil, `<rss version="2.0"><channel><title> %s </title></channel></rss>`, strings.Repeat("日 \n", 1000)), "")
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(got.Title)); n != MaxTitle {
		t.Errorf("the title has %d characters", n)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte(rss), "")
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`), "application/json")
	f.Fuzz(func(t *testing.T, doc []byte, with string) {
		got, err := Document(doc, with)
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("%v is not a fault.Invalid", err)
			}
			return
		}
		if again, err := Document(doc, got.Type); err != nil {
			t.Fatalf("accepted as %q, but rejected as %q (%v): %v", with, got.Type, again, err)
		}
	})
}
