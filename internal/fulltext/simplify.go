package fulltext

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// maxFormatting is the number of formatting elements that may be open at once. A browser repeats
// the open formatting elements in each paragraph that follows, so without a limit a small page
// becomes a tree of millions of elements.
const maxFormatting = 8

// maxNoscript is the maximum number of tags in a noscript element. Content with more tags is
// removed.
const maxNoscript = 6

// isFormatting reports whether browsers repeat an element in the paragraphs that follow.
func isFormatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// isDropped reports whether an element contains no text of an article.
func isDropped(name string) bool {
	switch name {
	case "script", "style", "template", "svg", "math", "iframe", "object", "embed", "select", "textarea":
		return true
	}
	return false
}

// simplify removes the parts of a page that cost much and have no text, and bounds the tree that a
// parser makes of the rest. It takes time in proportion to the page. base is the href of the base
// element.
func simplify(page string) (out, base string, err error) {
	var b strings.Builder
	b.Grow(len(page))
	z := html.NewTokenizer(strings.NewReader(page))
	s := simplifier{open: map[string]int{}}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String(), s.base, nil
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, attrs := z.TagName()
			if !s.keep(kind, string(name), z, attrs) {
				continue
			}
			if s.tags > maxTags {
				return "", "", fmt.Errorf("has more than %d elements, too many to be read", maxTags)
			}
		case html.CommentToken:
			continue
		case html.TextToken:
			if s.dropped != "" || s.noscript && bytes.Count(z.Raw(), []byte("<")) > maxNoscript {
				continue
			}
		}
		b.Write(z.Raw())
	}
}

type simplifier struct {
	open    map[string]int // number of open formatting elements; key: name
	active  int            // number of all open formatting elements
	dropped string         // name of the element whose content is dropped
	nested  int            // open elements of the same name inside the dropped element
	tags    int
	// noscript is set inside a noscript element. The tokenizer returns the content of the element
	// as one text. The content is useful for images that a script would load.
	noscript bool
	base     string
}

// keep reports whether a tag remains in the page.
func (s *simplifier) keep(kind html.TokenType, name string, z *html.Tokenizer, attrs bool) bool {
	start := kind != html.EndTagToken
	if s.dropped != "" {
		switch {
		case name != s.dropped || kind == html.SelfClosingTagToken:
		case start:
			s.nested++
		case s.nested > 0:
			s.nested--
		default:
			s.dropped = ""
		}
		return false
	}
	if isDropped(name) {
		if kind == html.StartTagToken && name != "embed" {
			s.dropped, s.nested = name, 0
		}
		return false
	}
	if start {
		s.tags++
	}
	s.noscript = start && name == "noscript"
	if name == "base" {
		for attrs && s.base == "" {
			var key, value []byte
			if key, value, attrs = z.TagAttr(); string(key) == "href" {
				s.base = strings.TrimSpace(string(value))
			}
		}
		return false
	}
	return !isFormatting(name) || s.format(start, name)
}

// format counts the open formatting elements, and reports whether a formatting tag remains in the
// page. A link ends the previous link, so at most one link counts.
func (s *simplifier) format(start bool, name string) bool {
	switch {
	case !start:
		if s.open[name] > 0 {
			s.open[name]--
			s.active--
		}
		return true
	case name == "a" && s.open[name] > 0:
		return true
	case s.active >= maxFormatting:
		return false
	}
	s.open[name]++
	s.active++
	return true
}
