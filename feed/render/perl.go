package render

// appendPerl writes an expression that evaluates to a hash reference, for do FILE and eval. The
// source is ASCII. Its strings contain characters, not bytes, whatever pragmas are active. A true
// value is the number 1.
//
// spec:datafeeds-2006#output-formats
func appendPerl(w *writer) {
	l := dialect{mapOpen: "{", mapClose: "}", listOpen: "[", listClose: "]", arrow: " => ", yes: "1", quote: quotePerl}
	w.b = l.source(append(w.b, '+'), w.data()) // without the plus sign, Perl would take the brace for the beginning of a block
	w.b = append(w.b, ";\n"...)
}

func quotePerl(b []byte, s string) []byte {
	return appendASCII(b, s, `"\$@`, func(b []byte, c rune) []byte {
		return append(appendHex(append(b, `\x{`...), c, 1), '}')
	})
}
