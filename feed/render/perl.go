package render

// appendPerl writes an expression that is a reference to a hash: what do FILE and eval
// give back. It is ASCII, and its texts are characters, not bytes, whatever pragmas are
// in force. Flags are 1.
//
// spec:datafeeds-2006#output-formats
func appendPerl(w *writer) {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: " => ", yes: "1", quote: quotePerl}
	w.b = l.source(append(w.b, '+'), w.data()) // or the brace would begin a block
	w.b = append(w.b, ";\n"...)
}

func quotePerl(b []byte, s string) []byte {
	return appendASCII(b, s, `"\$@`, func(b []byte, c rune) []byte {
		return append(appendHex(append(b, `\x{`...), c, 1), '}')
	})
}
