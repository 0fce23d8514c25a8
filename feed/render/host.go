package render

import (
	"strings"

	"cloudburst/internal/href"
)

// asciiAuthority is the part of an address between // and the path with a host of
// ASCII: names in other scripts are written as browsers write them, with xn--. ok is
// false for what is no host.
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
