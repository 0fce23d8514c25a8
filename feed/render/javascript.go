package render

// appendJS writes a module with the data as its default export.
//
// spec:datafeeds-2006#output-formats
func appendJS(w *writer) {
	w.b = append(w.b, "export default "...)
	w.script()
	w.b = append(w.b, ";\n"...)
}

// appendJSONP writes a function call with the data as its argument. A comment precedes the call.
// Without it, a client could choose the first bytes of the document, which some plug-ins interpret
// as a program.
//
// spec:datafeeds-2006#output-formats
func appendJSONP(w *writer) {
	name, _ := w.o.callback() // Append has already checked the name
	w.b = append(append(append(w.b, "/**/"...), name...), '(')
	w.script()
	w.b = append(w.b, ");\n"...)
}

// script writes the data as JSON that is safe inside JavaScript and inside a page.
func (w *writer) script() {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: ": ", yes: "true", quote: quoteScript}
	w.b = l.source(w.b, w.data())
}

// quoteScript is like quoteJSON, but also escapes characters that have a meaning in HTML, and the
// two line separators that old versions of JavaScript treat as line ends.
func quoteScript(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || c == ' ':
			continue
		case c == '<' || c == '>' || c == '&' || c == 0x7f:
			b = appendHex(append(append(b, s[from:i]...), `\u`...), rune(c), 4)
		case c < ' ' || c == '"' || c == '\\':
			b = appendJSONEscape(append(b, s[from:i]...), c)
		case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]|1 == 0xA9:
			b = appendHex(append(append(b, s[from:i]...), `\u`...), 0x2000|rune(s[i+2]&0x3f), 4)
			from = i + 3
			continue
		default:
			continue
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// quoteJSON writes a JSON string.
func quoteJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := plainJSON(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		b = appendJSONEscape(b, s[n])
		s = s[n+1:]
	}
}

// plainJSON returns the length of the beginning of s that needs no escaping in JSON. It checks
// eight bytes at once: in the result of the additions, the high bit of each byte that needs
// escaping is set.
func plainJSON(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		v := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := v^('"'*ones), v^('\\'*ones)
		if ((v-' '*ones)&^v|(quote-ones)&^quote|(slash-ones)&^slash)&high != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

func appendJSONEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return appendHex(append(b, `\u`...), rune(c), 4)
}
