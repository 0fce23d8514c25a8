package scan

import "strings"

const (
	maxNested = 256 << 10 // how far nested reads ahead for one element, in bytes
	maxAhead  = 4096      // tags that nested may read ahead in any document; more tags permit more
)

// nested reports whether the start tag of a sibling at pos belongs to an open element of another
// vocabulary: this element has its end tag, and up to there each element with this name has its own.
// Otherwise the end tag of an open element is missing.
//
// spec:atom-rfc4287#structured-extensions
func nested(r *Reader, name string) bool {
	if r.pos < r.inside {
		return true
	}
	for k := len(r.stack) - 1; k >= r.within && r.looked <= 4*len(r.doc) && r.ahead <= maxAhead+4*r.tags; k-- {
		if f := &r.stack[k]; f.space == 0 && f.prefix() == Prefix(name) {
			continue
		}
		r.inside = balanced(r, name, r.stack[k].name)
		return r.inside > 0
	}
	return false
}

// balanced returns the offset of the end tag of the open element outer, or 0 if there is none nearby, or
// if the start and end tags named name up to there do not match.
func balanced(r *Reader, name, outer string) int {
	doc := r.doc[:min(len(r.doc), r.pos+maxNested)]
	names, depth := [...]string{name, outer}, [...]int{0, 1}
	i, tags := r.pos, 0
	defer func() { r.looked, r.ahead = r.looked+i-r.pos, r.ahead+tags }()
	for ; ; tags++ {
		n := strings.IndexByte(doc[i:], '<')
		if n < 0 {
			i = len(doc)
			return 0
		}
		i += n + 1
		end := strings.HasPrefix(doc[i:], "/")
		for k, name := range names {
			from := i
			if end {
				from++
			}
			after := from + len(name)
			switch {
			case after >= len(doc) || doc[from:after] != name || !space(doc[after]) && doc[after] != '>' && doc[after] != '/':
				continue
			case end:
				depth[k]--
			case !emptyTag(doc[after:]):
				depth[k]++
			}
		}
		switch {
		case strings.HasPrefix(doc[i:], "!--"):
			i += upTo(doc[i:], "-->")
		case strings.HasPrefix(doc[i:], "![CDATA["):
			i += upTo(doc[i:], "]]>")
		case depth[0] < 0:
			return 0
		case depth[1] == 0:
			if depth[0] != 0 {
				return 0
			}
			return i
		}
	}
}

// upTo returns the length of s up to end; the whole length without end.
func upTo(s, end string) int {
	before, _, _ := strings.Cut(s, end)
	return len(before)
}

// emptyTag reports whether the rest of a tag ends with />.
func emptyTag(s string) bool {
	i := strings.IndexAny(s, "<>")
	return i > 0 && s[i] == '>' && s[i-1] == '/'
}
