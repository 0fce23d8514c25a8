package feed

import (
	"strings"

	"cloudburst/discover"
)

// looksLikeJSON reports a document whose first character, or that behind the name of
// a JSON-P call, opens an object.
func looksLikeJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n\v\f")
	if s == "" || s[0] == '<' {
		return false
	}
	if s[0] == '{' || s[0] == '[' {
		return true
	}
	head := s[:min(len(s), 200)]
	if strings.HasPrefix(head, "/*") || strings.HasPrefix(head, "//") || strings.HasPrefix(head, ")]}'") {
		return strings.IndexByte(head, '<') < 0
	}
	i := strings.IndexByte(head, '(')
	if i <= 0 {
		return false
	}
	for _, c := range head[:i] {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("_$. ;\n=", c) {
			return false
		}
	}
	return strings.HasPrefix(strings.TrimLeft(head[i+1:], " \t\r\n"), "{")
}

// notFeed says what a document is that is no feed.
func (p *parser) notFeed(text, root string) error {
	e := &NotFeedError{Encoding: p.f.Encoding, Detail: root}
	head := strings.ToLower(text[:min(len(text), 1024)])
	trimmed := strings.TrimLeft(head, " \t\r\n")
	switch {
	case strings.TrimSpace(head) == "" && strings.TrimSpace(text) == "":
		e.Looks = "empty"
	case root == "opml":
		e.Looks = "opml"
	case looksLikeHTMLRoot(root) && root != "svg" && root != "urlset" && root != "sitemapindex", strings.Contains(head, "<!doctype html"), strings.Contains(head, "<html"), strings.Contains(head, "<body"):
		e.Looks = "html"
	case root == "svg":
		e.Looks = "image"
	case root != "":
		e.Looks = "xml"
	default:
		e.Looks = magic(trimmed)
	}
	if e.Looks == "html" {
		e.Feeds = discover.HTML([]byte(text), p.o.URL, p.o.Header).Links
	}
	return e
}

// magic tells files by their first bytes. They have been through the decoding of
// characters, so only ASCII is looked at.
func magic(s string) string {
	for _, m := range [...]struct{ sign, looks string }{
		{"png\r", "image"}, {"gif8", "image"}, {"jfif", "image"}, {"exif", "image"}, {"webpvp", "image"}, {"%pdf", "pdf"}, {"pk\x03", "zip"},
		{"id3", "audio"}, {"oggs", "audio"}, {"ftyp", "video"}, {"<?xml", "xml"}, {"<", "html"},
	} {
		if i := strings.Index(s[:min(len(s), 16)], m.sign); i >= 0 && (m.sign != "<" || i == 0) {
			return m.looks
		}
	}
	if strings.ContainsRune(s, 0xfffd) {
		return "binary"
	}
	return "text"
}
