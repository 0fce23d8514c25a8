package sanitize

import (
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

// isInline reports whether an element can begin and end inside a word.
func isInline(name string) bool {
	e := elements[name]
	return e != nil && !e.is(block|special) || name == "wbr"
}
