package content

import "strings"

// IsInline reports whether markup has no block elements, so that it fits on a line with other text.
func IsInline(markup string) bool {
	for rest := markup; ; {
		_, after, ok := strings.Cut(rest, "<")
		if !ok {
			return true
		}
		name := strings.TrimPrefix(after, "/")
		switch name[:nameLength(name)] {
		case "a", "b", "i", "em", "strong", "code", "s", "del", "ins", "u", "sub", "sup", "small", "mark", "span", "abbr", "cite", "q", "kbd", "samp", "var", "time", "bdi", "bdo", "br", "wbr", "dfn", "data", "img":
		default:
			return false
		}
		rest = after
	}
}
