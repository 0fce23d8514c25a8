package doctor

import (
	"fmt"
	"html"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cloudburst/internal/text"
)

// quote shows what a stranger wrote, short and on one line.
func quote(s string) string { return strconv.Quote(short(s, 200)) }

// short cuts a text to a number of letters and takes out what is not to be seen.
func short(s string, most int) string {
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
	if len(r) <= most {
		return string(r)
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}

func size(n int64) string {
	switch {
	case n < 1000:
		return text.Plural(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f kB", float64(n)/1024)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// span is a time in the largest unit that says it well.
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

// escape makes s safe between double quotes of XML and HTML.
func escape(s string) string { return html.EscapeString(s) }

// hostOf is the host of a URL in small letters, without its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// isLocal reports a host that only this machine or this network knows.
func isLocal(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (a.Unmap().IsLoopback() || a.Unmap().IsPrivate() || a.Unmap().IsLinkLocalUnicast())
}

// isLoopback reports a host that is this very machine.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.Trim(host, "[]"))
	a, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && a.Unmap().IsLoopback()
}
