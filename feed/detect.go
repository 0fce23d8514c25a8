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

// wrapsFeed reports whether a web page is only a wrapper: a feed is near the beginning of its body.
func wrapsFeed(page string) bool {
	const near = 1024
	head := strings.ToLower(page[:min(len(page), 8*near)])
	body := head[max(0, strings.Index(head, "<body")):]
	body = body[:min(len(body), near)]
	for _, tag := range [...]string{"<rss", "<feed", "<rdf:rdf"} {
		if i := strings.Index(body, tag); i >= 0 && hasTag(body[i:], tag) {
			return true
		}
	}
	return false
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
