package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// checkHosts checks a list of hosts, each with or without a port. "*" means all hosts. Spaces
// separate hosts too, because earlier versions accepted them.
func checkHosts(text string) error {
	for _, part := range words(strings.ReplaceAll(text, " ", ",")) {
		u, err := url.Parse("http://" + part)
		if part != "*" && (err != nil || u.Host != part || strings.HasSuffix(part, ":") || !isHost(u.Hostname())) {
			return fmt.Errorf("%q is not a host such as example.org, example.org:8080 or *", part)
		}
	}
	return nil
}

// checkDomains checks a list of hosts without ports. ".example.org" and "*.example.org" mean all
// subdomains, "*" all hosts.
func checkDomains(text string) error {
	for _, part := range words(text) {
		name := strings.TrimPrefix(strings.TrimPrefix(part, "*"), ".")
		if part != "*" && !isHost(name) {
			return fmt.Errorf("%q is not a host such as example.org, .example.org or *", part)
		}
	}
	return nil
}

// isHost reports whether text is the name or the IP address of a host, without brackets and port.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			return false
		}
	}
	return true
}
