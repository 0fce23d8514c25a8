package content

import "strings"

// IsInline reports markup without blocks: it can stand on one line with other things.
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
