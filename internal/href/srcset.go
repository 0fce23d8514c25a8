package href

import "strings"

// resolveSet resolves the URLs of a srcset, a comma-separated list of URLs with descriptors. A URL
// ends at white space and may contain commas. fits is false if the result would be longer than
// limit.
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
		// In the result, a comma at the end of a URL would be a separator.
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

// writeWithoutSpaces writes a URL with its spaces percent-encoded; the spaces can come from the
// base.
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

// afterDescriptors returns the index of the comma that ends the descriptors of a URL. Commas in
// parentheses are ignored.
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
