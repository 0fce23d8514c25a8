package href

import "strings"

// resolveSet resolves the addresses of a srcset: addresses with what they are for,
// between commas. An address ends at white space; a comma may be in it. A set that
// would become longer than limit does not fit.
func (b *Base) resolveSet(set string, limit int) (resolved string, fits bool) {
	var out strings.Builder
	done, i := 0, 0
	for {
		for i < len(set) && (isHTMLSpace(set[i]) || set[i] == ',') {
			i++
		}
		if i >= len(set) {
			break
		}
		start := i
		for i < len(set) && !isHTMLSpace(set[i]) {
			i++
		}
		ref := strings.TrimRight(set[start:i], ",")
		// One that would end in a comma would be another address the next time.
		if abs := b.Resolve(ref); abs != ref && !strings.HasSuffix(abs, ",") {
			if out.Len()+len(abs) > limit {
				return set, false
			}
			grow(&out, start-done+len(abs))
			out.WriteString(set[done:start])
			writeWithoutSpaces(&out, abs)
			done = start + len(ref)
		}
		if start+len(ref) == i {
			i = afterDescriptors(set, i)
		}
	}
	if done == 0 {
		return set, true
	}
	out.WriteString(set[done:])
	return out.String(), true
}

// writeSpaceless writes an address without the white space that would end it; the
// base can have some.
func writeWithoutSpaces(out *strings.Builder, u string) {
	for {
		i := strings.IndexAny(u, " \f")
		if i < 0 {
			out.WriteString(u)
			return
		}
		out.WriteString(u[:i])
		out.WriteString("%20")
		u = u[i+1:]
	}
}

// afterDescriptors is the place of the comma that ends what is said of an address:
// one in parentheses does not.
func afterDescriptors(set string, i int) int {
	open := false
	for ; i < len(set); i++ {
		switch c := set[i]; {
		case c == '(':
			open = true
		case c == ')':
			open = false
		case c == ',' && !open:
			return i
		}
	}
	return i
}

func isHTMLSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}
