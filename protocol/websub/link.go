package websub

import "strings"

// LinkHeader returns the value of a Link header with the hub and the topic's own URL.
// Publishers send it with a topic, hubs with a delivery. An empty hub or self is left out.
//
// Bytes that are not valid in a URL or that would end the link are percent-encoded, so the
// URL of a topic cannot inject a link or a header.
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
