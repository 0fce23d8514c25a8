package render

// appendJS writes a module whose default export is the data.
//
// spec:datafeeds-2006#output-formats
func appendJS(w *writer) {
	w.b = append(w.b, "export default "...)
	w.script()
	w.b = append(w.b, ";\n"...)
}

// appendJSONP writes a call of a function with the data. The comment before it keeps
// what the caller chose from being the first bytes of the document, which some plugins
// take for a program of theirs.
//
// spec:datafeeds-2006#output-formats
func appendJSONP(w *writer) {
	name, _ := w.o.callback() // Append looked
	w.b = append(append(append(w.b, "/**/"...), name...), '(')
	w.script()
	w.b = append(w.b, ");\n"...)
}

// script writes the data as JSON that may stand in JavaScript, in a page too.
func (w *writer) script() {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: ": ", yes: "true", quote: quoteScript}
	w.b = l.source(w.b, w.data())
}

// quoteScript is quoteJSON without what means something to a page around the script,
// and without the two characters that old JavaScript took for ends of lines.
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

// quoteJSON writes a text as JSON has it.
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

// plainJSON is how much of s stands for itself in JSON. Eight bytes are looked at in
// one go: in each of them, the high bit of the sum is set when a byte is one of those
// that do not.
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
