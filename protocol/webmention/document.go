package webmention

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
	"cloudburst/internal/charset"
	"cloudburst/internal/href"
)

// Endpoint returns the endpoint that a page names: the first Link header with the relation
// webmention, otherwise the first element link or a with that relation, in the order of the
// document. at is the URL of the page after redirects. An element without href names no endpoint,
// and an empty href names the page itself. If the page names no endpoint with an http or https URL,
// ok is false.
//
// spec:webmention-2017#discovery-order
// spec:webmention-2017#endpoint-relative
func Endpoint(header http.Header, at string, doc []byte) (endpoint string, ok bool) {
	base := href.New(at)
	for _, to := range discover.Related(header, at, "webmention") {
		if to = withoutFragment(base.Resolve(to)); CheckURL("endpoint", to) == nil {
			return to, true
		}
	}
	if kindOf(header.Get("Content-Type"), doc) != markup {
		return "", false
	}
	p := readPage(doc, header.Get("Content-Type"), base)
	for _, to := range p.endpoints {
		if to = withoutFragment(p.base.Resolve(to)); CheckURL("endpoint", to) == nil {
			return to, true
		}
	}
	return "", false
}

// Links returns the http and https URLs to which an HTML document links, absolute, without
// repetition and in the order of the document, at most [MaxLinks]. at is the URL of the document.
func Links(doc []byte, contentType, at string) []string {
	p := readPage(doc, contentType, href.New(at))
	return p.absolute(p.links)
}

// Hyperlinks is like Links, but returns only the links of elements a, and no images or other
// resources.
func Hyperlinks(doc []byte, contentType, at string) []string {
	p := readPage(doc, contentType, href.New(at))
	return p.absolute(p.anchors)
}

// absolute returns references as http and https URLs, each once, at most [MaxLinks].
func (p *page) absolute(refs []string) []string {
	var list []string
	for _, ref := range refs {
		to := p.base.Resolve(ref)
		if len(list) < MaxLinks && CheckURL("link", to) == nil && !slices.Contains(list, to) {
			list = append(list, to)
		}
	}
	return list
}

// Mentions reports whether a document mentions the URL target. In HTML and XML an element must link
// to it, by href, src, or a similar attribute; in JSON a value must be equal to it; in plain text
// it must occur as a whole URL. Documents of other types count as mentioning nothing. at is the URL
// of the document.
//
// spec:webmention-2017#verify-by-type
func Mentions(doc []byte, contentType, at, target string) bool {
	switch kindOf(contentType, doc) {
	case markup:
		p := readPage(doc, contentType, href.New(at))
		return slices.ContainsFunc(p.links, func(ref string) bool { return SameURL(p.base.Resolve(ref), target) })
	case jsonText:
		var value any
		return json.Unmarshal(doc, &value) == nil && hasValue(value, target)
	case plainText:
		return hasURL(charset.Decode(doc, contentType).Text, target)
	}
	return false
}

// kind is the format in which a document is read.
type kind int

const (
	otherType kind = iota
	markup
	jsonText
	plainText
)

// kindOf returns the kind of a document by its media type, or by its content if it has none.
func kindOf(contentType string, doc []byte) kind {
	if strings.TrimSpace(contentType) == "" {
		contentType = http.DetectContentType(doc)
	}
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		name, _, _ = strings.Cut(contentType, ";") // invalid parameters of the media type do not matter
		name = strings.ToLower(strings.TrimSpace(name))
	}
	switch {
	case name == "text/html", name == "text/xml", name == "application/xml", strings.HasSuffix(name, "+xml"):
		return markup
	case name == "application/json", strings.HasSuffix(name, "+json"):
		return jsonText
	case strings.HasPrefix(name, "text/"):
		return plainText
	}
	return otherType
}

// page contains the references of a document, as they are written there.
type page struct {
	base      *href.Base
	based     bool     // the document had a base element
	endpoints []string // references of the elements link and a with rel=webmention
	links     []string
	anchors   []string // links of elements a only
}

// readPage reads the references of a document. It reads tokens, not a tree, so time and memory are
// proportional to the document, however it is nested. Comments, scripts, escaped markup and the
// content of template elements have no references.
func readPage(doc []byte, contentType string, base *href.Base) page {
	p := page{base: base}
	z := html.NewTokenizer(strings.NewReader(charset.Decode(doc, contentType).Text))
	templates := 0
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			return p
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch {
			case t.Data == "template" && tt == html.StartTagToken:
				templates++
			case t.Data == "noscript":
				z.NextIsNotRawText()
			case templates == 0:
				p.element(t)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "template" && templates > 0 {
				templates--
			}
		}
	}
}

func (p *page) element(t html.Token) {
	to, linked := attr(t, "href")
	switch t.Data {
	case "base":
		if linked && !p.based {
			p.base, p.based = p.base.Child(to), true
		}
		return
	case "link", "a":
		rel, _ := attr(t, "rel")
		if linked && slices.Contains(strings.Fields(strings.ToLower(rel)), "webmention") {
			p.endpoints = append(p.endpoints, to)
		}
	}
	if linked && t.Data == "a" && strings.TrimSpace(to) != "" {
		p.anchors = append(p.anchors, to)
	}
	for _, name := range [...]string{"href", "src", "cite", "poster"} {
		if ref, ok := attr(t, name); ok && strings.TrimSpace(ref) != "" {
			p.links = append(p.links, ref)
		}
	}
	// Microformats are also written as values: <data class="u-in-reply-to" value="…">.
	if name := map[string]string{"data": "value", "object": "data"}[t.Data]; name != "" {
		if ref, ok := attr(t, name); ok && strings.Contains(ref, "://") {
			p.links = append(p.links, ref)
		}
	}
}

// attr returns the first attribute of that name.
func attr(t html.Token, name string) (value string, ok bool) {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// hasValue reports whether a decoded JSON value contains the text target as a value. The decoder
// has bounded the depth.
func hasValue(value any, target string) bool {
	switch v := value.(type) {
	case string:
		return SameURL(v, target)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return hasValue(e, target) })
	case map[string]any:
		for _, e := range v {
			if hasValue(e, target) {
				return true
			}
		}
	}
	return false
}

// hasURL reports whether target occurs in a text as a whole URL, not as the beginning of a longer
// one.
func hasURL(s, target string) bool {
	for {
		i := strings.Index(s, target)
		if i < 0 {
			return false
		}
		s = s[i+len(target):]
		rest := strings.TrimLeft(s, ".,;:!?')")
		if rest == "" || strings.ContainsRune(" \t\r\n\"<>[]{}|\\^`", rune(rest[0])) || rest[0] >= 0x80 {
			return true
		}
	}
}
