package fetch

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/href"
)

const maxURL = 8 << 10 // in bytes; longer URLs do not occur in practice

// target is a parsed URL. All strings are substrings of the URL, except that the host may have been
// converted.
type target struct {
	raw   string // the URL
	https bool
	user  bool
	host  string     // host for the dial: lowercase ASCII; an IPv6 address has no brackets
	shown string     // host and port for the Host header
	path  string     // unchanged path and query; "" if the URL has none
	port  uint16     // port in the URL, or the default port of the scheme
	ip    netip.Addr // set if the host is an address
}

// plain returns the URL without user name, password and fragment. It allocates only if that is not the
// beginning of the URL as it was written.
func (t *target) plain() string {
	scheme := "http://"
	if t.https {
		scheme = "https://"
	}
	if rest, ok := strings.CutPrefix(t.raw, scheme); ok {
		if rest, ok = strings.CutPrefix(rest, t.shown); ok && strings.HasPrefix(rest, t.path) {
			return t.raw[:len(scheme)+len(t.shown)+len(t.path)]
		}
	}
	return scheme + t.shown + t.path
}

// splitURL parses an absolute http or https URL strictly. It rejects URLs that different programs
// could interpret differently.
func splitURL(raw string) (target, error) {
	t := target{raw: raw}
	if len(raw) > maxURL {
		return t, badURL("is longer than %d bytes", maxURL)
	}
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c <= ' ' || c == 0x7f || c == '\\' {
			return t, badURL("has a space, a backslash or a control character in it")
		}
	}
	rest, ok := t.scheme(raw)
	if !ok {
		return t, badURL("does not begin with http:// or https://")
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	authority := rest[:end]
	t.path = rest[end:]
	if i := strings.IndexByte(t.path, '#'); i >= 0 {
		t.path = t.path[:i]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if strings.IndexByte(authority, '@') != i {
			return t, badURL("has more than one @ before its path")
		}
		t.user, authority = true, authority[i+1:]
	}
	return t, t.authority(authority)
}

func (t *target) scheme(raw string) (rest string, ok bool) {
	i := strings.Index(raw, "://")
	if i != 4 && i != 5 {
		return "", false
	}
	switch s := raw[:i]; {
	case strings.EqualFold(s, "http"):
		t.port = 80
	case strings.EqualFold(s, "https"):
		t.https, t.port = true, 443
	default:
		return "", false
	}
	return raw[i+3:], true
}

func (t *target) authority(a string) error {
	t.shown = a
	host, port := a, ""
	if strings.HasPrefix(a, "[") {
		i := strings.IndexByte(a, ']')
		if i < 0 {
			return badURL("has an address in brackets that is not closed")
		}
		host, port = a[1:i], a[i+1:]
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return badURL("has %q in brackets, which is not an IPv6 address", host)
		}
		t.ip, t.host = canonical(ip), host
	} else if i := strings.IndexByte(a, ':'); i >= 0 {
		host, port = a[:i], a[i:]
	}
	if port != "" {
		if err := t.number(port); err != nil {
			return err
		}
	}
	if t.ip.IsValid() {
		return nil
	}
	return t.name(host, port)
}

// number parses ":port". A colon alone means the default port.
func (t *target) number(port string) error {
	if port[0] != ':' {
		return badURL("has something other than a port after its host")
	}
	digits := port[1:]
	if digits == "" {
		t.shown = t.shown[:len(t.shown)-1]
		return nil
	}
	n := 0
	for i := 0; i < len(digits); i++ {
		c := digits[i]
		if c < '0' || c > '9' || n > 0xffff {
			return badURL("names port %q, which is not a number from 1 to 65535", digits)
		}
		n = n*10 + int(c-'0')
	}
	if n == 0 || n > 0xffff {
		return badURL("names port %q, which is not a number from 1 to 65535", digits)
	}
	t.port = uint16(n)
	return nil
}

// name parses a host without brackets: four plain decimal numbers, or a name. It rejects other
// forms that some programs read as a number.
func (t *target) name(host, port string) error {
	ascii, lower := true, true
	for i := 0; i < len(host); i++ {
		c := host[i]
		ascii = ascii && c < 0x80
		lower = lower && (c < 'A' || c > 'Z')
	}
	switch {
	case !ascii:
		h, err := href.ASCII(host)
		if err != nil {
			return badURL("has the host %q, which is not a name that can be looked up", host)
		}
		if endsInNumber(h) {
			return badURL("has the host %q, which some programs read as a number", host)
		}
		host = h
		t.shown = h + strings.TrimSuffix(port, ":")
		if port == ":" {
			t.shown = h
		}
	case !lower:
		host = strings.ToLower(host)
	}
	t.host = host
	if endsInNumber(host) {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is4() {
			return badURL("has the host %q, which is neither a name nor an address in its ordinary form", host)
		}
		t.ip = ip
		return nil
	}
	if !isName(host) {
		return badURL("has the host %q, which is not a name that can be looked up", host)
	}
	return nil
}

// endsInNumber reports whether some programs read the last label of a host as a decimal, octal or
// hexadecimal number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if len(last) >= 2 && last[0] == '0' && (last[1]|0x20) == 'x' {
		return strings.Trim(last[2:], "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// isName reports whether host is a host name: labels of 1 to 63 letters, digits, hyphens and
// underscores, at most 253 bytes in total, with an optional trailing dot.
func isName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 {
		return false
	}
	label := 0
	for i := 0; i < len(host); i++ {
		c := host[i]
		switch {
		case c == '.':
			if label == 0 || host[i-1] == '-' {
				return false
			}
			label = 0
			continue
		case c == '-':
			if label == 0 {
				return false
			}
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
		default:
			return false
		}
		if label++; label > 63 {
			return false
		}
	}
	return label > 0 && host[len(host)-1] != '-'
}

// address returns "host:port" for a dialer.
func (t *target) address() string {
	host := t.host
	if t.ip.IsValid() {
		host = t.ip.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(t.port)))
}

// url returns t as a URL for net/http. Its form makes net/http send path and query unchanged, except
// that bytes that no request may contain are percent-encoded.
func (t *target) url() *url.URL {
	u := &url.URL{Scheme: "http", Host: t.shown}
	if t.https {
		u.Scheme = "https"
	}
	path := href.PercentEncode(t.path)
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if len(path) > 1 && path[1] == '/' {
		// The path begins with two slashes. In the field Opaque, net/http would take its first segment
		// for a host, so use the field Path, which preserves almost all bytes.
		if v, err := url.ParseRequestURI(path[1:]); err == nil {
			u.Path, u.RawPath, u.RawQuery, u.ForceQuery = "/"+v.Path, "/"+v.EscapedPath(), v.RawQuery, v.ForceQuery
			return u
		}
	}
	u.Opaque = path
	return u
}
