package render

import (
	"strings"

	"cloudburst/internal/href"
)

// asciiAuthority returns the authority of a URL with its host in ASCII: names in other scripts
// use Punycode (xn--), as in browsers. ok is false if s has no valid host.
//
// spec:idna2008-rfc5891#lookup
func asciiAuthority(s string) (out string, ok bool) {
	user, host, found := strings.Cut(s, "@")
	if !found {
		user, host = "", s
	} else {
		user += "@"
	}
	if isASCII(host) || !isASCII(user) {
		return s, isASCII(user)
	}
	name, port, _ := strings.Cut(host, ":")
	ascii, err := href.ASCII(name)
	if err != nil || !isASCII(port) {
		return s, false
	}
	return user + ascii + host[len(name):], true
}
