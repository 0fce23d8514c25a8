package item

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

// Words returns the plain text of t in one line, without markup.
func Words(t feed.Text) string {
	s := t.Value
	if isHTML(t) {
		s = sanitize.Text(s)
	}
	return text.PlainLine(s)
}

// WebURL returns an absolute http or https URL that is safe to use as a link, without a login. It
// returns "" if raw is not such a URL or has more than maxURL bytes.
func WebURL(raw string) string {
	if len(raw) <= maxURL && isSimpleURL(raw) {
		return raw
	}
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

// isSimpleURL reports whether raw starts with http:// or https://, has a host without port or
// login, and continues with a path, query or fragment whose characters need no check.
func isSimpleURL(raw string) bool {
	rest, ok := strings.CutPrefix(raw, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(raw, "http://")
	}
	host := 0
	for host < len(rest) && (isAlphanumeric(rest[host]) || rest[host] == '.' || rest[host] == '-') {
		host++
	}
	if !ok || host == 0 || host < len(rest) && rest[host] != '/' {
		return false
	}
	for i := host; i < len(rest); i++ {
		if c := rest[i]; !isAlphanumeric(c) && strings.IndexByte("/-_.~?&=#+,;:!@$*'()", c) < 0 {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

func isHTML(t feed.Text) bool { return t.Type == "text/html" || t.Type == "application/xhtml+xml" }

func ImageURL(i *feed.Image) string {
	if i == nil {
		return ""
	}
	return i.URL
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }
