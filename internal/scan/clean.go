package scan

import "strings"

// maxCleanDepth is the maximum nesting of clean markup.
const maxCleanDepth = 32

// clean returns the offset of the end tag of the open element. ok is true only if the content of
// the element can be returned unchanged. Most calls of Inner take this path, which is several times
// as fast as reading events.
func (r *Reader) clean() (end int, ok bool) {
	if r.entities != nil || r.over > 0 || r.ends > 0 || len(r.stack)+maxCleanDepth > r.opt.Depth {
		return 0, false
	}
	doc, pos, top := r.doc, r.pos, &r.stack[len(r.stack)-1]
	var open [maxCleanDepth]string
	n := 0
	for {
		i := strings.IndexByte(doc[pos:], '<')
		if i < 0 || pos+i+2 >= len(doc) {
			return 0, false
		}
		pos += i
		if doc[pos+1] == '/' {
			name := top.name
			if n > 0 {
				name = open[n-1]
			}
			rest := doc[pos+2:]
			if len(rest) <= len(name) || rest[:len(name)] != name || rest[len(name)] != '>' {
				return 0, false
			}
			if n == 0 {
				return pos, true
			}
			n--
			pos += len(name) + 3
			continue
		}
		after, nameAt, closed := cleanTag(doc, pos+1)
		if after < 0 {
			return 0, false
		}
		name := doc[pos+1 : nameAt]
		if name == r.sibling || n == 0 && r.opt.Closes != nil && r.opt.Closes(top.prefix(), r.local(top), "", name) {
			return 0, false
		}
		if pos = after; !closed {
			if n == maxCleanDepth {
				return 0, false
			}
			open[n] = name
			n++
		}
	}
}

// cleanTag reads a start tag from its name on. It accepts only names of letters, digits, "-" and
// "_", and attributes with quoted values. after is -1 for other tags.
func cleanTag(doc string, i int) (after, nameEnd int, closed bool) {
	begin := i
	for i < len(doc) && cleanByte(doc[i]) {
		i++
	}
	if nameEnd = i; i == begin || doc[begin] < 'A' {
		return -1, 0, false
	}
	for i < len(doc) {
		spaced := false
		for i < len(doc) && space(doc[i]) {
			i++
			spaced = true
		}
		if i+1 >= len(doc) {
			break
		}
		switch {
		case doc[i] == '>':
			return i + 1, nameEnd, false
		case doc[i] == '/' && doc[i+1] == '>':
			return i + 2, nameEnd, true
		case !spaced:
			return -1, 0, false
		}
		name := i
		for i < len(doc) && cleanByte(doc[i]) {
			i++
		}
		if i == name || i+1 >= len(doc) || doc[i] != '=' || doc[i+1] != '"' && doc[i+1] != '\'' {
			return -1, 0, false
		}
		n := strings.IndexByte(doc[i+2:], doc[i+1])
		if n < 0 || strings.IndexByte(doc[i+2:i+2+n], '<') >= 0 {
			return -1, 0, false
		}
		i += n + 3
	}
	return -1, 0, false
}

// cleanByte reports whether c is allowed in names of clean markup.
func cleanByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
