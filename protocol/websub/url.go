package websub

import (
	"net/url"
	"strings"

	"cloudburst/internal/wirehttp"
)

// CheckURL checks the URL of a topic or a callback. The URL must be absolute, with scheme
// http or https and a host, at most [MaxURL] bytes long, and its port, if any, from 1 to
// 65535. It must not have a user name, a fragment, spaces, backslashes or control
// characters. name is the URL's name in the message. The error is an [*Error] with status
// 400.
//
// spec:websub-2018#url-schemes
func CheckURL(name, raw string) error {
	if len(raw) > MaxURL {
		return bad("%s is %d bytes long; at most %d are taken.", name, len(raw), MaxURL)
	}
	for i := range len(raw) {
		switch c := raw[i]; {
		case c <= ' ', c == 0x7f, c == '\\':
			return bad("%s is %s, which has a space, a backslash or a control character in it; write it percent-encoded.", name, wirehttp.Quote(raw))
		case c == '#':
			return bad("%s is %s, which has a fragment; leave out the # and what follows.", name, wirehttp.Quote(raw))
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return bad("%s is %s; it must be a whole URL that begins with http:// or https://.", name, wirehttp.Quote(raw))
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	if strings.Contains(authority, "@") {
		return bad("%s has a user name or password in it; leave them out, for others would read them.", name)
	}
	u, err := url.Parse(scheme + "://" + authority)
	if err != nil || u.Hostname() == "" || u.Path != "" {
		return bad("%s is %s, which has no host that can be understood.", name, wirehttp.Quote(raw))
	}
	if p := u.Port(); p != "" && !wirehttp.IsPort(p) {
		return bad("%s is %s, whose port is not a number from 1 to 65535.", name, wirehttp.Quote(raw))
	}
	return nil
}
