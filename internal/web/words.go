package web

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
)

// count writes 1204 as 1,204.
func count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// some writes a number with its noun: "1 feed", "1,204 feeds".
func some[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// lasting writes a duration in the unit that a person would say it in.
func lasting(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Microsecond:
		return "under 1 µs"
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < 10*time.Millisecond:
		return trimZero(d.Seconds()*1000) + " ms"
	case d < 100*time.Millisecond:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return trimZero(math.Max(d.Seconds(), 0.1)) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return some(int(d.Hours()/24), "day", "days")
}

func trimZero(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// moment is a time as a page shows it.
type moment struct {
	ISO   string // for the datetime attribute
	Exact string // for the title
	Text  string // relative, as of when the page was made
	Zero  bool
}

func when(now, t time.Time) moment {
	if t.IsZero() {
		return moment{Zero: true, Text: "never"}
	}
	t = t.UTC()
	return moment{
		ISO:   t.Format("2006-01-02T15:04:05.000Z"),
		Exact: t.Format("Monday, 2 January 2006, 15:04:05.000 UTC"),
		Text:  relative(now, t),
	}
}

// relative is the distance in words, the same ones as static/base.js uses.
func relative(now, t time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		if -d < time.Second {
			return "now"
		}
		if d = -d; d >= time.Hour {
			d += 30 * time.Minute // the nearest hour: what ends in 24 h 59 min does not end in 24 h
		}
		return "in " + lasting(d.Truncate(time.Second))
	}
	switch {
	case d < time.Second:
		return "now"
	case d < 7*24*time.Hour:
		return lasting(d.Truncate(time.Second)) + " ago"
	}
	return t.UTC().Format("2 Jan 2006")
}

// clean makes a stranger's text fit for a page: valid UTF-8, no control
// characters, no more than limit characters.
func clean(s string, limit int) string {
	if len(s) > limit*utf8.UTFMax {
		s = s[:limit*utf8.UTFMax]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// short is an address without what every address has.
func short(address string) string {
	s := clean(address, 160)
	for _, prefix := range []string{"https://", "http://"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			s = rest
			break
		}
	}
	return strings.TrimPrefix(s, "www.")
}

// hostOf is the host, and the port if it says one, of a callback: all that
// strangers may see of it.
func hostOf(callback string) string {
	u, err := url.Parse(callback)
	if err != nil || u.Host == "" {
		return "unknown host"
	}
	return clean(u.Host, 100)
}

// webAddress reports whether s may be the target of a link.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// feedAddress checks what a person wrote as a feed's address.
func feedAddress(s string) (string, error) {
	s = strings.TrimSpace(s)
	return s, rsscloud.CheckFeedURL(s)
}

// list joins words the way a sentence does.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// plainLanguage is a language of two letters, with a region of two if it has one, as
// most feeds have it; "" for others.
func plainLanguage(tag string) string {
	letters := func(s string) bool {
		return len(s) == 2 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	}
	language, region, has := strings.Cut(tag, "-")
	if !letters(language) || has && !letters(region) {
		return ""
	}
	return tag
}

// protocolWords are the ways in which a subscriber is told, in words that fit after
// "by".
func protocolWords(protocol string) string {
	switch protocol {
	case hub.HTTPPost:
		return "rssCloud (http-post)"
	case hub.HTTPSPost:
		return "rssCloud (https-post)"
	case hub.XMLRPC:
		return "rssCloud (XML-RPC)"
	case hub.SOAP:
		return "rssCloud (SOAP)"
	case hub.WebSub:
		return "WebSub"
	case hub.CNWS:
		return "CNWS"
	}
	return clean(protocol, 20)
}

// paragraphs parts plain text where it has empty lines.
func paragraphs(s string, limit int) (all []string, cut bool) {
	if len(s) > limit {
		s, cut = s[:limit], true
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(clean(part, limit)); part != "" {
			all = append(all, part)
		}
	}
	return all, cut
}

// bytesWords writes a size in the unit that a person would say it in.
func bytesWords(n int64) string {
	switch {
	case n < 1000:
		return some(n, "byte", "bytes")
	case n < 1000_000:
		return trimZero(float64(n)/1e3) + " kB"
	case n < 1000_000_000:
		return trimZero(float64(n)/1e6) + " MB"
	}
	return trimZero(float64(n)/1e9) + " GB"
}

// address reports what may be the target of a link that a stranger wrote.
func address(s string) bool {
	return len(s) <= longestAddress && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0 && webAddress(s)
}

const longestAddress = 4096

func lower(s string) string { return string(s[0]|0x20) + s[1:] }

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return count(n) + suffix
}
