package discover

import (
	"net/url"
	"strings"
	"unicode"
)

// parseURL parses a URL in the way of browsers, resolves it against base (which may be nil) and
// normalizes it, so that equal URLs become equal strings. It rejects schemes other than http and
// https.
func parseURL(base *url.URL, ref string) (*url.URL, bool) {
	ref = clean(ref)
	if len(ref) > maxURL {
		return nil, false
	}
	ref = withoutPseudoScheme(base, ref)
	u, err := url.Parse(ref)
	if err != nil {
		return nil, false
	}
	if base != nil {
		rooted := strings.HasPrefix(u.Path, "/") || u.Host != "" || u.Scheme != ""
		u = base.ResolveReference(u)
		if base.Host == "" && !rooted && !strings.HasPrefix(base.Path, "/") { // package url would make the path absolute
			u.Path, u.RawPath = strings.TrimPrefix(u.Path, "/"), strings.TrimPrefix(u.RawPath, "/")
		}
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Scheme == "" && u.Host == "" && (base == nil || base.Host == "") {
		return u, u.Path != "" || u.RawQuery != ""
	}
	if u.Scheme == "" { // a URL of the form //host/path in a page whose URL is unknown
		u.Scheme = "http"
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, false
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" || strings.HasSuffix(u.Host, ":") {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, true
}

// clean removes the characters that browsers remove from a URL and repairs parts that
// package url would reject: spaces, backslashes, a lone percent sign.
func clean(ref string) string {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	plain := true
	for i := 0; i < len(ref) && plain; i++ {
		c := ref[i]
		plain = c > ' ' && c != '\\' && c != '%' && c != 0x7f
	}
	if plain {
		return ref
	}
	var b strings.Builder
	query := false
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c == ' ':
			b.WriteString("%20")
		case c < ' ' || c == 0x7f:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		case c == '\\' && !query:
			b.WriteByte('/')
		case c == '%' && !(i+2 < len(ref) && isHex(ref[i+1]) && isHex(ref[i+2])):
			b.WriteString("%25")
		default:
			query = query || c == '?' || c == '#'
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// isPseudoScheme reports whether a scheme only means "open this with a feed reader".
func isPseudoScheme(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "feed", "feeds", "rss", "pcast", "itpc", "podcast":
		return true
	}
	return false
}

// withoutPseudoScheme converts feed://host/path and feed:https://host/path to a URL that can be
// fetched. A URL at the host of the page gets the scheme of the page; other URLs get http.
func withoutPseudoScheme(base *url.URL, ref string) string {
	scheme, rest, ok := strings.Cut(ref, ":")
	if !ok || !isPseudoScheme(scheme) {
		return ref
	}
	if !strings.HasPrefix(rest, "//") {
		return rest
	}
	if base != nil {
		if u, err := url.Parse(base.Scheme + ":" + rest); err == nil && strings.EqualFold(u.Host, base.Host) {
			return u.String()
		}
	}
	return "http:" + rest
}

// tidy converts a title to one line of limited length, without control characters and
// repeated spaces.
func tidy(s string) string {
	if len(s) > 8*maxTitle {
		s = s[:8*maxTitle]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
	if n := 0; len(s) > maxTitle {
		for i := range s {
			if n++; n > maxTitle {
				return s[:i]
			}
		}
	}
	return s
}
