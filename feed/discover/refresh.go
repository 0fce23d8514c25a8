package discover

import (
	"strconv"
	"strings"
)

// soon is the maximum delay of a redirect, in seconds. A page with a longer delay is meant to be
// read first.
const soon = 30

// refresh returns the target URL of a redirecting meta element, or "" for any other.
//
// spec:html-2024#refresh
func (p *pageReader) refresh(more bool) string {
	refresh, content := false, ""
	for n := 0; more && n < maxAttrs; n++ {
		var key, val []byte
		key, val, more = p.z.TagAttr()
		switch string(key) {
		case "http-equiv":
			refresh = refresh || strings.EqualFold(strings.TrimSpace(string(val)), "refresh")
		case "content":
			if content == "" && len(val) <= maxURL {
				content = string(val)
			}
		}
	}
	if !refresh {
		return ""
	}
	return refreshTo(content)
}

// refreshTo parses "0; url=/new": seconds and an optional URL, optionally in quotes.
func refreshTo(content string) string {
	content = strings.TrimSpace(content)
	rest := strings.TrimLeft(content, "0123456789")
	seconds, err := strconv.Atoi(content[:len(content)-len(rest)])
	if err != nil && !strings.HasPrefix(rest, ".") || seconds > soon {
		return ""
	}
	rest = strings.TrimLeft(rest, ".0123456789")
	after := strings.TrimLeft(rest, " \t\n\f\r")
	if cut := strings.TrimLeft(after, ";,"); len(cut) < len(after) {
		after = strings.TrimSpace(cut)
	} else if after == rest { // there is no separator between the seconds and the URL
		return ""
	}
	if len(after) > 3 && strings.EqualFold(after[:3], "url") {
		if address, ok := strings.CutPrefix(strings.TrimSpace(after[3:]), "="); ok {
			after = strings.TrimSpace(address)
		}
	}
	if after != "" && (after[0] == '"' || after[0] == '\'') {
		after, _, _ = strings.Cut(after[1:], after[:1])
	}
	return after
}
