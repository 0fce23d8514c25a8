package shell

import (
	"html"
	"html/template"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/hub"
	"cloudburst/internal/web/locale"
	"cloudburst/protocol/rsscloud"
)

// FormatCount writes 1204 as 1,204.
func FormatCount[N int | int64](n N) string { return locale.English().Count(int64(n)) }

// FormatQuantity writes a number with its noun: "1 feed", "1,204 feeds".
func FormatQuantity[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}

// FormatDuration writes a duration in a unit that fits its size.
func FormatDuration(d time.Duration) string { return locale.English().Duration(d) }

// Moment is a time for a page.
type Moment struct {
	ISO   string // value of the datetime attribute
	Exact string // value of the title attribute
	Text  string // distance from the time of the page, in words
	Zero  bool

	now, at time.Time
}

// In returns m with its texts in a language. The results of two moments with the same texts are
// equal.
func (m Moment) In(l *locale.Locale) Moment {
	return Moment{ISO: m.ISO, Exact: m.exactIn(l), Text: m.in(l), Zero: m.Zero}
}

// HTML returns the time element of m in a language.
func (m Moment) HTML(l *locale.Locale) template.HTML {
	text := html.EscapeString(m.in(l))
	if m.Zero {
		return template.HTML(text)
	}
	return template.HTML(`<time datetime="` + html.EscapeString(m.ISO) + `" title="` + html.EscapeString(m.exactIn(l)) + `">` + text + `</time>`)
}

func NewMoment(now, t time.Time) Moment {
	if t.IsZero() {
		return Moment{Zero: true, Text: "never"}
	}
	t = t.UTC()
	return Moment{
		ISO:   t.Format("2006-01-02T15:04:05.000Z"),
		Exact: t.Format("Monday, 2 January 2006, 15:04:05.000 UTC"),
		Text:  RelativeTime(now, t),
		now:   now,
		at:    t,
	}
}

// As returns m with another text, such as a time of day.
func (m Moment) As(text string) Moment {
	m.Text, m.now = text, time.Time{}
	return m
}

// in returns the text of m in a language.
func (m Moment) in(l *locale.Locale) string {
	if m.Zero || m.now.IsZero() {
		return l.Words(m.Text)
	}
	return l.Relative(m.now, m.at)
}

// exactIn returns the exact time of m in a language.
func (m Moment) exactIn(l *locale.Locale) string {
	if m.at.IsZero() {
		return m.Exact
	}
	return l.Date(m.at, "Monday, 2 January 2006, 15:04:05.000 UTC")
}

// RelativeTime returns the distance from now to t in words.
func RelativeTime(now, t time.Time) string { return locale.English().Relative(now, t) }

// CleanText makes text from feeds and other servers safe to show: valid UTF-8, no control
// characters, at most limit characters.
func CleanText(s string, limit int) string {
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

// ShortURL returns a URL without its scheme and "www.".
func ShortURL(address string) string {
	s := CleanText(address, 160)
	for _, prefix := range []string{"https://", "http://"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			s = rest
			break
		}
	}
	return strings.TrimPrefix(s, "www.")
}

// HostOf returns the host of a callback, and its port if there is one. Pages show no other part of
// a callback.
func HostOf(callback string) string {
	u, err := url.Parse(callback)
	if err != nil || u.Host == "" {
		return "unknown host"
	}
	return CleanText(u.Host, 100)
}

// IsWebURL reports whether s may be the target of a link.
func IsWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// ParseFeedURL checks the feed URL that a user typed.
func ParseFeedURL(s string) (string, error) {
	s = strings.TrimSpace(s)
	return s, rsscloud.CheckFeedURL(s)
}

// JoinWords joins words with commas and "and".
func JoinWords(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// PlainLanguage returns a tag of two letters, with or without a region of two letters; "" for all
// others.
func PlainLanguage(tag string) string {
	letters := func(s string) bool {
		return len(s) == 2 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	}
	language, region, has := strings.Cut(tag, "-")
	if !letters(language) || has && !letters(region) {
		return ""
	}
	return tag
}

// ProtocolName returns the protocol of a subscriber, in words that fit after "by".
func ProtocolName(protocol string) string {
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
	return CleanText(protocol, 20)
}

// Paragraphs splits plain text at empty lines. cut reports that the text was longer than limit
// bytes and was cut.
func Paragraphs(s string, limit int) (all []string, cut bool) {
	if len(s) > limit {
		s, cut = s[:limit], true
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(CleanText(part, limit)); part != "" {
			all = append(all, part)
		}
	}
	return all, cut
}

// FormatBytes writes a size in a unit that fits it.
func FormatBytes(n int64) string { return locale.English().Bytes(n) }

// IsSafeURL reports whether a URL from a feed or another server may be the target of a link.
func IsSafeURL(s string) bool {
	return len(s) <= MaxURL && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0 && IsWebURL(s)
}

const MaxURL = 4096

func LowerFirst(s string) string { return string(s[0]|0x20) + s[1:] }
