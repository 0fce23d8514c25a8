package feed

import (
	"strings"

	"cloudburst/feed/discover"
)

// looksLikeJSON reports whether s begins with an object, an array, or the function call of a
// JSON-P document.
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

// notFeed returns the error for a document that is not a feed. The error names the detected type.
func (p *parser) notFeed(text, root string) error {
	e := &NotFeedError{Encoding: p.f.Encoding, Detail: root}
	head := strings.ToLower(text[:min(len(text), 1024)])
	switch {
	case strings.TrimSpace(head) == "" && strings.TrimSpace(text) == "":
		e.Looks = "empty"
	case root == "opml":
		e.Looks = "opml"
	case looksLikeHTMLRoot(root) && root != "svg" && root != "urlset" && root != "sitemapindex", strings.Contains(head, "<!doctype html"), strings.Contains(head, "<html"), strings.Contains(head, "<body"):
		e.Looks = "html"
	case root == "rdf:RDF":
		e.Looks = "rdf"
	case root == "svg":
		e.Looks = "image"
	case p.binary || strings.Count(head, "\ufffd") > 2:
		e.Looks, e.Detail = "binary", ""
	case root != "" || strings.HasPrefix(strings.TrimSpace(head), "<?xml"):
		e.Looks = "xml"
	default:
		e.Looks = "text"
	}
	if e.Looks == "html" {
		e.Feeds = discover.Text(text, p.o.URL, p.o.Header).Links
	}
	return e
}

// mediaType reports a Content-Type header that is not the media type of a feed.
func (p *parser) mediaType() {
	typ, _, _ := strings.Cut(p.header("Content-Type"), ";")
	typ = strings.ToLower(strings.TrimSpace(typ))
	if typ == "" || p.f.Format == MCF {
		return // MCF was served as plain text
	}
	for _, word := range [...]string{"xml", "json", "rss", "atom", "rdf", "cdf"} {
		if strings.Contains(typ, word) && typ != "application/xhtml+xml" && typ != "image/svg+xml" {
			return
		}
	}
	p.problemAt(ProblemType, 0, "", "The Content-Type header is "+quote(typ)+", which is not the type of a feed.")
}

// magic returns the type of a binary file by its first bytes, or "" if unknown.
func magic(doc []byte) string {
	head := string(doc[:min(len(doc), 16)])
	for _, m := range [...]struct{ sign, looks string }{
		{"\x89PNG\r\n", "image"}, {"GIF87a", "image"}, {"GIF89a", "image"}, {"\xff\xd8\xff", "image"}, {"BM\x00", "image"},
		{"\x00\x00\x01\x00", "image"}, {"II*\x00", "image"}, {"MM\x00*", "image"}, {"%PDF-", "pdf"}, {"PK\x03\x04", "zip"},
		{"\x1f\x8b\x08", "gzip"}, {"BZh9", "binary"}, {"\xfd7zXZ\x00", "binary"}, {"\x28\xb5\x2f\xfd", "binary"}, {"7z\xbc\xaf", "binary"},
		{"ID3", "audio"}, {"OggS", "audio"}, {"fLaC", "audio"}, {"\xff\xfb", "audio"}, {"\x1aE\xdf\xa3", "video"},
		{"\x7fELF", "binary"}, {"MZ\x90\x00", "binary"}, {"SQLite format 3", "binary"}, {"\x00asm", "binary"},
	} {
		if strings.HasPrefix(head, m.sign) {
			return m.looks
		}
	}
	switch {
	case len(head) >= 12 && head[:4] == "RIFF" && head[8:] >= "WEBP" && head[8:12] == "WEBP":
		return "image"
	case len(head) >= 12 && head[:4] == "RIFF":
		return "audio"
	case len(head) >= 12 && (head[4:12] == "ftypavif" || head[4:12] == "ftypheic"):
		return "image"
	case len(head) >= 8 && head[4:8] == "ftyp":
		return "video"
	}
	return ""
}

// looksBinary reports whether doc begins with bytes that no text contains, neither in UTF-8 nor
// in a single-byte encoding.
func looksBinary(doc []byte) bool {
	n := 0
	for _, c := range doc[:min(len(doc), 1024)] {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b {
			n++
		}
	}
	return n > 8
}
