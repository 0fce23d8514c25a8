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
	from := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b = appendJSONEscape(append(b, s[from:i]...), c)
			from = i + 1
		}
	}
	return append(append(b, s[from:]...), '"')
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
