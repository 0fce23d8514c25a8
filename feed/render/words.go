package render

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/feed"
)

// Media types of texts.
const (
	plainText = "text/plain"
	htmlText  = "text/html"
	xhtmlText = "application/xhtml+xml"
)

// isHTML reports whether a text is HTML or XHTML.
func isHTML(t *feed.Text) bool { return t.Type == htmlText || t.Type == xhtmlText }

// subtitle returns the description of a channel, which readers show as plain text or as HTML: plain
// text is escaped only if readers of HTML would show other words.
func subtitle(t *feed.Text) string {
	if isHTML(t) || htmlWords(t.Value) != t.Value {
		return asHTML(t)
	}
	return t.Value
}

// asHTML returns a text as HTML, for elements that always contain HTML. It escapes plain text,
// so that readers display it unchanged.
func asHTML(t *feed.Text) string {
	if isHTML(t) {
		return t.Value
	}
	return escapeHTML(t.Value)
}

// htmlOf is like asHTML for the text of an item. It marks the line breaks of plain text in a JSON
// Feed, because they are significant there.
func htmlOf(w *writer, t *feed.Text) string {
	s := asHTML(t)
	if w.f.Format == feed.JSONFeed && !isHTML(t) {
		s = strings.ReplaceAll(s, "\n", "<br>\n")
	}
	return s
}

// asWords returns a text without markup, for formats and elements that allow no markup.
func asWords(t *feed.Text) string {
	if isHTML(t) {
		return htmlWords(t.Value)
	}
	return t.Value
}

// escapeHTML returns s as HTML. If s needs no escaping, it returns s itself.
func escapeHTML(s string) string {
	if strings.IndexByte(s, '&') < 0 && strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '>') < 0 {
		return s
	}
	b := make([]byte, 0, len(s)+len(s)/8+16)
	for i := range len(s) {
		switch c := s[i]; c {
		case '&':
			b = append(b, "&amp;"...)
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// htmlWords returns the readable text of HTML, without tags, comments, scripts and styles.
// Paragraphs and line breaks become line feeds. It does not make HTML safe: its result is
// plain text.
func htmlWords(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return strings.TrimSpace(html.UnescapeString(s))
	}
	b := make([]byte, 0, len(s))
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		b = appendSpaced(b, s[:i])
		if s = s[i:]; s == "" {
			break
		}
		name, end := tagAt(s)
		if end == 0 { // the < does not begin a tag
			b, s = append(b, '<'), s[1:]
			continue
		}
		s = s[end:]
		switch name {
		case "script", "style":
			s = behind(s, name)
		case "br", "p", "div", "li", "ul", "ol", "tr", "table", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "dt", "dd":
			b = newLine(b)
		case "td", "th":
			b = appendSpaced(b, " ")
		}
	}
	return strings.TrimSpace(html.UnescapeString(string(b)))
}

// appendSpaced appends a text and replaces each run of white space by one space.
func appendSpaced(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c == '\n' || c == '\t' || c == '\r' || c == '\f' {
			c = ' '
		}
		if c == ' ' && (len(b) == 0 || b[len(b)-1] == ' ' || b[len(b)-1] == '\n') {
			continue
		}
		b = append(b, c)
	}
	return b
}

func newLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	if n := len(b); n == 0 || n > 1 && b[n-1] == '\n' && b[n-2] == '\n' {
		return b
	}
	return append(b, '\n')
}

// tagAt returns the name, in lowercase, and the length of the tag or comment at the beginning of s;
// if s begins with neither, the length is 0.
func tagAt(s string) (name string, end int) {
	if strings.HasPrefix(s, "<!--") {
		if i := strings.Index(s[4:], "-->"); i >= 0 {
			return "", 4 + i + 3
		}
		return "", len(s)
	}
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	from := i
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || i > from && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == from && (len(s) < 2 || s[1] != '!' && s[1] != '?') {
		return "", 0
	}
	const longest = 20
	if i-from < longest {
		name = strings.ToLower(s[from:i])
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '>':
			return name, i + 1
		case '"', '\'':
			n := strings.IndexByte(s[i+1:], s[i])
			if n < 0 {
				return name, len(s)
			}
			i += n + 1
		}
	}
	return name, len(s)
}

// behind returns the part of s after the end tag of an element.
func behind(s, name string) string {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ""
		}
		s = s[i:]
		if n, end := tagAt(s); n == name && s[1] == '/' {
			return s[end:]
		}
		s = s[1:]
	}
}

// FirstWords returns the beginning of a text as one line of at most n characters. If possible, it
// ends after a whole word.
func FirstWords(s string, n int) string {
	const limit = 4 // maximum bytes of a character
	if len(s) > 2*limit*n {
		s = strings.ToValidUTF8(s[:2*limit*n], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	count, space := 0, 0
	for i, c := range s {
		if count == n-1 && i+utf8.RuneLen(max(c, 0)) < len(s) {
			if space > len(s[:i])/2 {
				i = space
			}
			return strings.TrimRightFunc(s[:i], unicode.IsPunct) + "…"
		}
		if c == ' ' {
			space = i
		}
		count++
	}
	return s
}

// validText returns s without invalid UTF-8, for formats that allow all characters. If it removes
// bytes, it adds a warning with the part of the feed that where names.
func (w *writer) validText(s, where string) string {
	if utf8.ValidString(s) {
		return s
	}
	w.warnCharacters(where)
	return strings.ToValidUTF8(s, "")
}
