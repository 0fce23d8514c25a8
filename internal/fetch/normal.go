package fetch

import (
	"strconv"
	"strings"

	"cloudburst/internal/href"
)

// Normal returns the canonical spelling under which the river stores an http or https URL. It has a
// lowercase scheme, a lowercase ASCII host, no user name, no default port, no fragment, and a path
// of at least "/". Invalid bytes in path and query (spaces, quotes, non-ASCII) are percent-encoded;
// all other bytes are preserved. The error is an *Error of kind BadURL, whose Text states what is
// wrong.
func Normal(raw string) (string, error) {
	if i := strings.Index(raw, "://"); i >= 0 {
		if j := strings.IndexAny(raw[i+3:], "/?#"); j >= 0 {
			raw = raw[:i+3+j] + href.PercentEncode(raw[i+3+j:])
		}
	}
	t, err := splitURL(raw)
	if err != nil {
		return "", withURL(err, raw)
	}
	scheme, host, usual := "http://", t.host, uint16(80)
	if t.https {
		scheme, usual = "https://", 443
	}
	if t.ip.IsValid() {
		host = t.ip.String() // an IPv4-mapped IPv6 address becomes the IPv4 address
	}
	if t.ip.Is6() {
		host = "[" + host + "]"
	}
	if t.port != usual {
		host += ":" + strconv.Itoa(int(t.port))
	}
	path := t.path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + host + path, nil
}
