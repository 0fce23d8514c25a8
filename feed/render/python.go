package render

// appendPython writes a module that defines the data as feed. You can import it, run it, or pass
// the text after the first equals sign to ast.literal_eval, which executes nothing. The text is
// ASCII.
//
// spec:datafeeds-2006#output-formats
func appendPython(w *writer) {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: ": ", yes: "True", quote: quotePython}
	w.b = append(l.source(append(w.b, "feed = "...), w.data()), '\n')
}

func quotePython(b []byte, s string) []byte {
	return appendASCII(b, s, `"\`, func(b []byte, c rune) []byte {
		switch {
		case c < 0x100:
			return appendHex(append(b, `\x`...), c, 2)
		case c < 0x10000:
			return appendHex(append(b, `\u`...), c, 4)
		}
		return appendHex(append(b, `\U`...), c, 8)
	})
}
