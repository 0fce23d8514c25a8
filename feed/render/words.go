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

// isHTML reports a text that is markup, XHTML included.
func isHTML(t *feed.Text) bool { return t.Type == htmlText || t.Type == xhtmlText }

// asHTML is a text as HTML, for elements that are HTML whatever they hold. What is not
// HTML is escaped, so that readers see the same words.
func asHTML(t *feed.Text) string {
	if isHTML(t) {
		return t.Value
	}
	return escapeHTML(t.Value)
}

// asWords is a text without markup, for formats and elements that have none.
func asWords(t *feed.Text) string {
	if isHTML(t) {
		return htmlWords(t.Value)
	}
	return t.Value
}

// escapeHTML is text that means the same in HTML. s itself where it does already.
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

// htmlWords is what a person reads of HTML: without tags, comments, scripts and
// styles; paragraphs and line breaks are line feeds. It is no defence against HTML that
// means harm, for its result is no HTML.
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
		if end == 0 { // a lone <
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

// appendSpaced adds text whose runs of white space are one space.
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

// tagAt gives the name, in small letters, and the length of the tag or comment that s
// begins with; 0 when it begins with neither.
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

// behind is what follows the end tag of a name.
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

// FirstWords is the beginning of a text in one line, of at most n characters, whole
// words where there are any.
func FirstWords(s string, n int) string {
	const most = 4 // bytes of a character
	if len(s) > 2*most*n {
		s = strings.ToValidUTF8(s[:2*most*n], "")
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

// validText is s without bytes that are no UTF-8, for formats that hold any character
// of it; a warning names the part of the feed.
func (w *writer) validText(s, where string) string {
	if utf8.ValidString(s) {
		return s
	}
	w.warnCharacters(where)
	return strings.ToValidUTF8(s, "")
}
