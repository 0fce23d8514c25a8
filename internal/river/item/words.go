package item

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

// Words returns the words of a text in one line, without markup.
func Words(t feed.Text) string {
	s := t.Value
	if isHTML(t) {
		s = sanitize.Text(s)
	}
	return text.PlainLine(s)
}

// WebURL returns a URL that a user may be sent to, or "": absolute, http or https, and at most
// maxURL bytes. A login in it is removed.
func WebURL(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) < 8 || len(raw) > maxURL || !utf8.ValidString(raw) || strings.ContainsFunc(raw, isControl) {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if u.User != nil || strings.ContainsAny(raw, " \\\"<>") {
		u.User = nil
		return u.String()
	}
	return raw
}

func isHTML(t feed.Text) bool { return t.Type == "text/html" || t.Type == "application/xhtml+xml" }

func ImageURL(i *feed.Image) string {
	if i == nil {
		return ""
	}
	return i.URL
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }
