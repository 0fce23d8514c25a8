package rules

import (
	"net/mail"
	"regexp"
	"strings"
)

// maxEmail is the maximum length of a mail address in bytes.
const maxEmail = 254

// IsMail reports whether s is a mail address that every feed format can contain.
func IsMail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= maxEmail && !strings.ContainsAny(s, `"<>()[]\ `) && strings.Contains(s[strings.LastIndexByte(s, '@'):], ".")
}

// PageAddress derives the last segment of a page's path from the page's title; "": the title has no
// usable characters.
func PageAddress(title string) string {
	return strings.Trim(pageSeparators.ReplaceAllString(strings.ToLower(title), "-"), "-")
}

var pageSeparators = regexp.MustCompile(`[^a-z0-9]+`)
