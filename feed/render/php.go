package render

// appendPHP writes a file whose include gives back an array. Its texts are in single
// quotes, in which PHP replaces nothing.
//
// spec:datafeeds-2006#output-formats
func appendPHP(w *writer) {
	l := dialect{mapOpen: "[", mapClose: "]", listOpen: "[", listClose: "]", arrow: " => ", yes: "true", quote: quotePHP}
	w.b = append(l.source(append(w.b, "<?php\nreturn "...), w.data()), ";\n"...)
}

// quotePHP parts what would end the program outside of quotes, though within them it
// does not: whoever reads the file is not always PHP.
func quotePHP(b []byte, s string) []byte {
	b = append(b, '\'')
	from := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b = append(append(b, s[from:i]...), '\\')
			from = i
		case c == '>' && i > 0 && s[i-1] == '?':
			b = append(append(b, s[from:i]...), "'.'"...)
			from = i
		}
	}
	return append(append(b, s[from:]...), '\'')
}
