package doctor

import (
	"cmp"
	"fmt"
	"html"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// quote quotes a text from another server and shortens it to one line.
func quote(s string) string { return strconv.Quote(short(s, 200)) }

// short shortens a text to limit characters and removes invisible characters.
func short(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= limit {
		return string(r)
	}
	return strings.TrimSpace(string(r[:limit-1])) + "…"
}

// sameURL reports whether two URLs are equal in their usual spelling: a client writes é as %C3%A9.
func sameURL(a, b string) bool {
	return cmp.Or(href.UsualSpelling(a), a) == cmp.Or(href.UsualSpelling(b), b)
}

// span formats a duration in a suitable unit.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return text.Plural(int(max(d, time.Millisecond).Milliseconds()), "millisecond")
	case d < 10*time.Second:
		return strings.Replace(fmt.Sprintf("%.1f seconds", d.Seconds()), ".0", "", 1)
	case d < 2*time.Minute:
		return text.Plural(int(d.Seconds()), "second")
	case d < 2*time.Hour:
		return text.Plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return text.Plural(int(d.Hours()), "hour")
	}
	return text.Plural(int(d.Hours()/24), "day")
}

// escape escapes s for an attribute in double quotes.
func escape(s string) string { return html.EscapeString(s) }

// hostOf returns the host of a URL in lowercase, without the port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// isLocal reports whether a host name is known only on this machine or network.
func isLocal(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (a.Unmap().IsLoopback() || a.Unmap().IsPrivate() || a.Unmap().IsLinkLocalUnicast())
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	a, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && a.Unmap().IsLoopback()
}
