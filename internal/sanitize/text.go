package sanitize

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"

	"cloudburst/internal/text"
)

// Text returns the words of the HTML s, without tags, with references decoded and white space
// collapsed. Boundaries between blocks become spaces.
func Text(s string) string {
	if strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '&') < 0 {
		return collapse(s)
	}
	if out, ok := fastText(s); ok {
		return out
	}
	return slowText(s)
}

// slowText is like Text for texts with any markup.
func slowText(s string) string {
	s = text.Head(s, maxText)
	var out strings.Builder
	t := html.NewTokenizer(strings.NewReader(s))
	silent := ""
	for {
		switch kind := t.Next(); kind {
		case html.ErrorToken:
			return collapse(out.String())
		case html.TextToken:
			if silent == "" {
				out.Write(t.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			raw, _ := t.TagName()
			name := string(raw)
			switch name {
			case "script", "style", "applet", "template":
				switch {
				case kind == html.EndTagToken && silent == name:
					silent = ""
				case kind == html.StartTagToken && silent == "":
					silent = name
				case kind == html.SelfClosingTagToken:
					t.NextIsNotRawText()
				}
			case "iframe", "noembed", "noframes", "noscript":
				t.NextIsNotRawText()
			}
			if !isInline(name) {
				out.WriteByte(' ')
			}
		}
	}
}

// PageText is like Text for the page of an error, without its navigation: it returns the words of
// <main>, otherwise from the first <h1> or in <body>, otherwise of the whole page.
func PageText(page string) string {
	ranks := map[string]int{"body": 1, "h1": 2, "main": 3}
	begin, end, best := 0, len(page), 0
	t := html.NewTokenizer(strings.NewReader(page))
	for at, kind := 0, t.Next(); kind != html.ErrorToken && end == len(page); kind = t.Next() {
		name, _ := t.TagName()
		switch rank := ranks[string(name)]; {
		case kind == html.StartTagToken && rank > best:
			begin, best = at, rank
		case kind == html.EndTagToken && rank == 3 && best == 3:
			end = at
		}
		at += len(t.Raw())
	}
	return cmp.Or(Text(page[begin:end]), Text(page))
}

// isInline reports whether an element can begin and end inside a word.
func isInline(name string) bool {
	e := elements[name]
	return e != nil && !e.is(block|special) || name == "wbr"
}
