package scan

// elementName is like nameParts for the name of an element. The space between the name and the
// first attribute may be missing.
func (r *Reader) elementName(from int) (end, colon int, upper bool) {
	end, colon, upper = nameParts(r.doc, from)
	if colon >= 0 && end < len(r.doc) && r.doc[end] == '=' {
		if at := r.missingSpace(from, colon); at > 0 {
			return at, -1, upper
		}
	}
	return end, colon, upper
}

// missingSpace returns the offset of an attribute that follows the name of its element without a
// space, as in <channelrdf:about="…">. Its prefix must be declared. from and colon are the offsets
// of the name and its colon. It returns 0 if there is no such attribute.
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

// nameParts returns the end of the name at i, its colon (-1 if there is none), and whether it has
// uppercase letters.
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

// maxFoldName is the maximum length, in bytes, of an end tag's name that is compared without regard
// to case. Such a name is compared with all open elements.
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
