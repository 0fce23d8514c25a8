package endpoint

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

const maxLine = 500 // in bytes

// DisplayURL returns a URL for a public message. It removes credentials and truncates a long URL.
func DisplayURL(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if ok {
		host := rest
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			host = rest[:i]
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			url = scheme + "://" + rest[i+1:]
		}
	}
	if len(url) > 200 {
		return fmt.Sprintf("%q…", url[:200])
	}
	return url
}

// OneLine returns text from another server as one line of limited length, for logs.
func OneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	return cmp.Or(strings.ToValidUTF8(text, "\uFFFD"), "No reason given.")
}
