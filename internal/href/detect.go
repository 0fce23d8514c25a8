package href

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LooksLikeHTML guesses whether s, a text of unknown format, is HTML rather than plain text. HTML
// needs an end tag or a character reference; any unknown tag or reference means plain text. Plain
// text mistaken for HTML loses the text between "<" and ">"; the opposite mistake only looks bad.
func LooksLikeHTML(s string) bool {
	found := false
	if strings.IndexByte(s, '<') >= 0 {
		ends, ok := onlyTags(s)
		if !ok {
			return false
		}
		found = ends
	}
	if strings.IndexByte(s, '&') >= 0 {
		refs, ok := onlyReferences(s)
		if !ok {
			return false
		}
		found = found || refs
	}
	return found
}

// onlyTags reports whether s has an end tag, and whether HTML knows all its tags.
func onlyTags(s string) (ends, ok bool) {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ends, true
		}
		s = s[i+1:]
		end := strings.HasPrefix(s, "/")
		if end {
			s = s[1:]
		}
		n := wordLength(s)
		if n == 0 {
			continue
		}
		if !isTextTag(s[:n]) {
			return false, false
		}
		s = s[n:]
		ends = ends || end && strings.HasPrefix(s, ">")
	}
}

// onlyReferences reports whether s has a character reference, and whether HTML knows all named
// references.
func onlyReferences(s string) (refs, ok bool) {
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return refs, true
		}
		s = s[i+1:]
		number := strings.HasPrefix(s, "#")
		if number {
			s = s[1:]
		}
		n := wordLength(s)
		if n == 0 || n == len(s) || s[n] != ';' {
			continue
		}
		if !number && !isEntity(s[:n]) {
			return false, false
		}
		refs, s = true, s[n+1:]
	}
}

// wordLength returns the length of the letters, digits and underscores at the beginning of s.
func wordLength(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if !isWordByte(c) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
		i += size
	}
	return len(s)
}

func isWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// isEntity reports whether HTML has a character reference of this name.
func isEntity(name string) bool {
	switch name {
	case "amp", "lt", "gt", "quot", "apos", "nbsp":
		return true
	}
	// The longest name has 31 letters. If only a prefix of the name is known ("notit"),
	// UnescapeString preserves the semicolon.
	if len(name) > 31 {
		return false
	}
	text := html.UnescapeString("&" + name + ";")
	return text[0] != '&' && !strings.HasSuffix(text, ";")
}

// isTextTag reports whether name, in any case, is an element that marks up text. Scripts and
// elements that structure whole pages are excluded: texts with such elements are usually about
// HTML.
func isTextTag(name string) bool {
	if len(name) > len("blockquote") {
		return false
	}
	var lower [16]byte
	switch string(lowerTo(&lower, name)) {
	case "a", "abbr", "acronym", "address", "area", "article", "aside", "audio", "b", "bdi", "bdo",
		"big", "blockquote", "br", "button", "canvas", "caption", "center", "cite", "code", "col",
		"colgroup", "command", "datagrid", "datalist", "dd", "del", "details", "dfn", "dialog", "dir",
		"div", "dl", "dt", "em", "fieldset", "figcaption", "figure", "font", "footer", "form",
		"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "input", "ins", "kbd", "keygen",
		"label", "legend", "li", "m", "main", "map", "mark", "menu", "meter", "multicol", "nav", "nextid",
		"noscript", "ol", "optgroup", "option", "output", "p", "picture", "pre", "progress", "q", "rp",
		"rt", "ruby", "s", "samp", "section", "select", "small", "sound", "source", "spacer", "span",
		"strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "textarea", "tfoot", "th",
		"thead", "time", "tr", "track", "tt", "u", "ul", "var", "video", "wbr":
		return true
	}
	return false
}

// lowerTo writes name in lowercase into lower, which must be long enough.
func lowerTo(lower *[16]byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return lower[:len(name)]
}
