// Package location parses the URLs of feeds and pages as people type and paste them. It also
// handles the logins for feeds.
package location

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/text"
)

// Longest is the maximum length of a URL in bytes. A longer text is rejected, because the user
// probably pasted it by mistake.
const Longest = 2000

// Location contains what a user typed or pasted to identify a feed or a page.
type Location struct {
	// URLs contains the URLs that the text may mean, likeliest first. A text without a scheme
	// gives an https and an http URL. Each URL is normalized by fetch.Normal.
	URLs  []string
	Login Login // login from a user name and password in the URL
}

// Read parses a URL as people type and paste it. An account such as @name@example.org becomes a
// WebFinger query to the account's server. fault.Invalid: the text is not a URL.
func Read(typed string) (Location, error) {
	s := strings.TrimSpace(typed)
	if strings.ContainsAny(s, "\t\r\n") { // a URL that was copied from a mail may contain line breaks
		s = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
	}
	for _, marks := range []string{"<>", `""`, "''"} {
		if len(s) > 1 && s[0] == marks[0] && s[len(s)-1] == marks[1] {
			s = strings.TrimSpace(s[1 : len(s)-1])
		}
	}
	switch {
	case s == "":
		return Location{}, fault.New(fault.Invalid, "The URL is missing: enter the URL of a feed, or of a page that has one.")
	case len(s) > Longest:
		return Location{}, fault.New(fault.Invalid, "The address is longer than %d bytes.", Longest)
	case !utf8.ValidString(s):
		return Location{}, fault.New(fault.Invalid, "The address is not UTF-8.")
	}
	if l, ok := account(s); ok {
		return l, nil
	}
	schemes, rest, err := schemesOf(s)
	if err != nil {
		return Location{}, err
	}
	rest, login, named := cutLogin(rest)
	if named && login.Secret == "" && len(schemes) > 1 {
		return Location{}, mailAddress(s)
	}
	out := Location{Login: login}
	for _, scheme := range schemes {
		u, err := fetch.Normal(scheme + rest)
		if err != nil {
			return Location{}, fault.New(fault.Invalid, "The address %s %s.", Brief(s), strings.TrimSuffix(fetch.Text(err), "."))
		}
		out.URLs = append(out.URLs, u)
	}
	return out, nil
}

func mailAddress(s string) error {
	if !strings.Contains(s, ":") { // s has no password, and Brief would cut the name
		s = text.ClipRunes(text.PlainLine(s), 200)
	} else {
		s = Brief(s)
	}
	return fault.New(fault.Invalid, "“%s” looks like a mail address: enter the URL of a feed, or of a page that has one.", s)
}

// schemesOf returns the schemes that s can have, each with "://", and the rest of s. The schemes
// that browsers pass to feed readers, such as feed:, mean http or https.
func schemesOf(s string) (schemes []string, rest string, err error) {
	for range 3 { // a URL can have several prefixes: feed:feed:https://…
		cut := false
		for _, scheme := range []string{"feed:", "rss:", "pcast:", "podcast:", "itpc:", "web+feed:"} {
			if after, ok := cutFold(s, scheme); ok {
				s, cut = strings.TrimSpace(after), true
			}
		}
		for _, pair := range [][2]string{{"feed+https:", "https:"}, {"feed+http:", "http:"}} {
			if after, ok := cutFold(s, pair[0]); ok {
				s, cut = pair[1]+after, true
			}
		}
		if !cut {
			break
		}
	}
	for range 2 { // a URL can have two schemes: http://https://…
		for _, scheme := range []string{"http://", "https://"} {
			if after, ok := cutFold(s, scheme); ok {
				s, schemes = after, []string{scheme}
			}
		}
	}
	if schemes != nil {
		return schemes, s, nil
	}
	s = strings.TrimPrefix(s, "//")
	name, after, ok := strings.Cut(s, ":")
	switch {
	case ok && strings.EqualFold(name, "mailto"):
		return nil, "", mailAddress(after)
	case ok && isScheme(name) && !isPort(after) && !strings.Contains(authority(s), "@"):
		return nil, "", fault.New(fault.Invalid, "The address %s begins with %s: — it should begin with http:// or https://.", Brief(s), name)
	}
	if host := authority(s); !strings.ContainsAny(host, ".:[") && !strings.EqualFold(host, "localhost") {
		return nil, "", fault.New(fault.Invalid, "“%s” is not an address: it should be like https://example.org/feed or example.org.", Brief(s))
	}
	return []string{"https://", "http://"}, s, nil
}

func cutFold(s, prefix string) (after string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// authority returns the part of s before the path, query or fragment.
func authority(s string) string {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i]
	}
	return s
}

func isScheme(s string) bool {
	if s == "" || strings.Contains(s, ".") {
		return false
	}
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '+' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// isPort reports whether the text after the colon of "localhost:8080/feed" is a port.
func isPort(after string) bool {
	digits := authority(after)
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// cutLogin removes the user name and password from the text after the scheme.
func cutLogin(rest string) (without string, l Login, ok bool) {
	host := authority(rest)
	i := strings.LastIndexByte(host, '@')
	if i < 0 {
		return rest, Login{}, false
	}
	name, secret, _ := strings.Cut(host[:i], ":")
	if name+secret == "" {
		return rest[i+1:], Login{}, false
	}
	return rest[i+1:], Login{Kind: Basic, Name: unescaped(name), Secret: unescaped(secret)}, true
}

func unescaped(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// Brief returns a URL for use in a sentence, without a login and shortened.
func Brief(raw string) string {
	if !strings.Contains(raw, "://") { // Redact removes the login of a URL with a scheme
		if i := strings.LastIndexByte(authority(raw), '@'); i >= 0 && strings.Contains(raw[:i], ":") {
			raw = raw[i+1:]
		}
	}
	return text.ClipRunes(text.PlainLine(fetch.Redact(raw)), 200)
}

// Origin returns the scheme, host and port of a normalized URL.
func Origin(url string) string {
	for i, slashes := 0, 0; i < len(url); i++ {
		if url[i] == '/' {
			if slashes++; slashes == 3 {
				return url[:i]
			}
		}
	}
	return url
}
