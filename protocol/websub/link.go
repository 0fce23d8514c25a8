package websub

import "strings"

// LinkHeader is the value of a Link header that names the hub and the topic's own
// URL: what a publisher sends with a topic, and a hub with a delivery. One of them may
// be empty, and is then left out.
//
// A byte that no URL has, or that would end the link, is percent-encoded: what a
// stranger calls his topic can add neither a link nor a header.
//
// spec:websub-2018#publisher-link-header
// spec:websub-2018#delivery-links-combined
func LinkHeader(hub, self string) string {
	var b strings.Builder
	for _, l := range [...]struct{ target, rel string }{{hub, "hub"}, {self, "self"}} {
		if l.target == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('<')
		writeTarget(&b, l.target)
		b.WriteString(`>; rel="` + l.rel + `"`)
	}
	return b.String()
}

func writeTarget(b *strings.Builder, target string) {
	const digits = "0123456789ABCDEF"
	for i := range len(target) {
		switch c := target[i]; {
		case c <= ' ', c >= 0x7f, c == '<', c == '>', c == '"':
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		default:
			b.WriteByte(c)
		}
	}
}
