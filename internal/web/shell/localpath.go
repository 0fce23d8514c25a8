package shell

import (
	"net/url"
	"strings"
)

// LocalPath returns next if it is a path of this server, else other. It rejects backslashes and
// control characters: browsers read a backslash as a slash and ignore control characters.
func LocalPath(next, other string) string {
	if len(next) > 2048 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) {
		return other
	}
	for _, c := range next {
		if c <= ' ' || c == 0x7f || c == '\uFFFD' {
			return other
		}
	}
	if u, err := url.Parse(next); err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return other
	}
	return next
}
