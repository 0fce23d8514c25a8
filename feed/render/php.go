package render

// appendPHP writes a file that returns an array to include. Its strings have single quotes,
// within which PHP does not interpolate.
//
// spec:datafeeds-2006#output-formats
func appendPHP(w *writer) {
	l := dialect{mapOpen: "[", mapClose: "]", listOpen: "[", listClose: "]", arrow: " => ", yes: "true", quote: quotePHP}
	w.b = append(l.source(append(w.b, "<?php\nreturn "...), w.data()), ";\n"...)
}

// quotePHP writes a string. It splits sequences such as ?> that end a PHP program outside of
// quotes. PHP ignores them inside quotes, but other programs may also read the file.
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
