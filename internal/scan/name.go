package scan

// elementName is nameParts of the name of an element, which ends where an attribute begins.
func (r *Reader) elementName(from int) (end, colon int, upper bool) {
	end, colon, upper = nameParts(r.doc, from)
	if colon >= 0 && end < len(r.doc) && r.doc[end] == '=' {
		if at := r.missingSpace(from, colon); at > 0 {
			return at, -1, upper
		}
	}
	return end, colon, upper
}

// unspaced finds where an attribute begins that stands right behind the name of its element, as
// in <channelrdf:about="…">: its prefix is one that was declared. colon is that of the name,
// which begins at from. 0: there is none.
func (r *Reader) missingSpace(from, colon int) int {
	at := 0
	for k := range r.bindings {
		prefix := r.bindings[k].prefix
		if j := colon - len(prefix); prefix != "" && j > from && r.doc[j:colon] == prefix && (at == 0 || j < at) {
			at = j
		}
	}
	if at > 0 {
		r.problem(Markup, at, "There is no space between the name of <", r.doc[from:at], "> and its first attribute.")
	}
	return at
}

// nameParts finds the end of the name that begins at i, its colon (−1 without), and
// whether there are capitals in it.
func nameParts(s string, i int) (end, colon int, upper bool) {
	colon = -1
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
		case 'A' <= c && c <= 'Z':
			upper = true
		case c == ':':
			if colon < 0 {
				colon = i
			}
		case c == '>' || c == '/' || c <= ' ' && space(c) || c == '=' || c == '<' || c == '"' || c == '\'':
			return i, colon, upper
		}
	}
	return i, colon, upper
}

// longestFold is how long a name may be for its capitals not to matter: comparing with
// all that is open takes its time.
const maxFoldName = 256

func nameEnd(s string, i int) int {
	for i < len(s) {
		switch s[i] {
		case '>', '/', ' ', '\n', '\t', '\r', '=', '<', '"', '\'':
			return i
		}
		i++
	}
	return i
}
