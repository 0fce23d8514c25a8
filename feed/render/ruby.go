package render

// appendRuby writes an expression for eval that yields a hash with strings as keys. The text is
// ASCII, and none of its strings contains an interpolation.
//
// spec:datafeeds-2006#output-formats
func appendRuby(w *writer) {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: " => ", yes: "true", quote: quoteRuby}
	w.b = append(l.source(append(w.b, "# encoding: utf-8\n"...), w.data()), '\n')
}

func quoteRuby(b []byte, s string) []byte {
	return appendASCII(b, s, `"\#`, func(b []byte, c rune) []byte {
		return append(appendHex(append(b, `\u{`...), c, 1), '}')
	})
}
