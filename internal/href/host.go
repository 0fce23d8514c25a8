package href

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// One server has many spellings: uppercase, a trailing dot, an explicit default port, another
// script, percent-encoding, an IPv4-mapped IPv6 address. Limits per host count all spellings
// together, so every limit derives its key from the functions below.
//
// spec:cloudburst#host-spellings

// Host returns the normalized host of an absolute URL without its port: a name in lowercase ASCII
// without a trailing dot, or an address in its shortest form, IPv6 in brackets. It returns "" if
// raw has no host.
func Host(raw string) string {
	_, host, _ := splitHost(raw)
	return host
}

// Site returns [Host] without a leading "www.", which most sites have with the same pages.
func Site(raw string) string { return strings.TrimPrefix(Host(raw), "www.") }

// HostPort returns [Host] followed by a colon and the port, unless it is the default port of the
// scheme.
func HostPort(raw string) string {
	scheme, host, port := splitHost(raw)
	if host == "" || port == "" || port == impliedPort(scheme) {
		return host
	}
	return host + ":" + port
}

// Port returns the port of an absolute URL, or the default port of its scheme; "" if there is none.
func Port(raw string) string {
	scheme, _, port := splitHost(raw)
	if port == "" {
		port = impliedPort(scheme)
	}
	return port
}

// UsualSpelling returns a URL with its scheme and host in lowercase, without a default port, and with
// [UsualEscapes] in the rest. It returns "" if the URL has that spelling, or no host. It does not
// allocate for such URLs, because each ping calls it.
func UsualSpelling(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	origin, path := Origin(url), ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		path = UsualEscapes(rest[i:])
	}
	if after, ok := strings.CutPrefix(url, origin); origin == "" || ok && after == path {
		return ""
	}
	return origin + path
}

// UsualEscapes decodes the escapes of unreserved characters in a path or query, writes all other escapes
// in uppercase, and escapes the bytes that no URL may contain, such as % without two digits. It keeps the
// escapes of reserved characters, because "a%2Fb" and "a/b" may be different pages.
func UsualEscapes(s string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	usual := make([]byte, 0, 512) // does not escape to the heap
	for i := 0; i < len(s); i++ {
		c, literal := s[i], unreserved+"!$&'()*+,;=:@/?#"
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, literal = byte(n), unreserved
				i += 2
			}
		}
		if strings.IndexByte(literal, c) >= 0 {
			usual = append(usual, c)
		} else {
			usual = appendEscape(usual, c)
		}
	}
	if string(usual) == s {
		return s
	}
	return string(usual)
}

func appendEscape(b []byte, c byte) []byte {
	return append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
}

// PercentEncode encodes bytes that are invalid in a path or query as %XX. It leaves control
// characters unchanged, because no URL may contain them.
func PercentEncode(s string) string {
	const bad = " \"<>`"
	if !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 || strings.ContainsRune(bad, c) }) {
		return s
	}
	var b []byte
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || strings.IndexByte(bad, c) >= 0 {
			b = appendEscape(b, c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// Origin returns the lowercase scheme, "://" and [HostPort]; "" if raw has no host. It does not
// allocate for normalized URLs.
func Origin(raw string) string {
	if end := normalOrigin(raw); end > 0 {
		return raw[:end]
	}
	scheme, host, _ := splitHost(raw)
	if host == "" {
		return ""
	}
	return scheme + "://" + HostPort(raw)
}

func impliedPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// splitHost splits the beginning of an absolute URL. The rest of the URL may be invalid.
func splitHost(raw string) (scheme, host, port string) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return "", "", ""
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host = rest
	if i := strings.LastIndexByte(rest, ':'); i > strings.IndexByte(rest, ']') {
		host, port = rest[:i], rest[i+1:]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		port = strconv.FormatUint(n, 10)
	}
	return strings.ToLower(scheme), hostName(host), port
}

// hostName normalizes a host, which may be in brackets.
func hostName(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner = strings.TrimSuffix(inner, "]")
		inner, _, _ = strings.Cut(inner, "%") // a zone does not select another server
		if ip, err := netip.ParseAddr(inner); err == nil {
			return addressName(ip)
		}
		return strings.ToLower(host)
	}
	if strings.IndexByte(host, '%') >= 0 {
		if plain, err := url.PathUnescape(host); err == nil {
			host = plain
		}
	}
	host = strings.ToLower(host)
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		if ascii, err := ASCII(host); err == nil {
			host = ascii
		}
	}
	host = strings.TrimRight(host, ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return addressName(ip)
	}
	return host
}

// ASCII converts a host to lowercase ASCII as browsers do. Each label with other characters becomes
// a label with the prefix xn--. It returns an error for names that are invalid in DNS.
func ASCII(host string) (string, error) { return idna.Lookup.ToASCII(host) }

func addressName(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// normalOrigin returns the length of the origin of a normalized URL whose host is a name or an IPv4
// address, otherwise 0.
func normalOrigin(raw string) int {
	from, implied := len("http://"), ":80"
	switch {
	case strings.HasPrefix(raw, "http://"):
	case strings.HasPrefix(raw, "https://"):
		from, implied = len("https://"), ":443"
	default:
		return 0
	}
	end, colon := from, 0
	for ; end < len(raw); end++ {
		c := raw[end]
		switch {
		case c == '/' || c == '?' || c == '#':
		case colon > 0 && '0' <= c && c <= '9':
			continue
		case colon == 0 && c == ':':
			colon = end
			continue
		case colon == 0 && ('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'):
			continue
		default:
			return 0
		}
		break
	}
	name := raw[from:end]
	if colon > 0 {
		name = raw[from:colon]
		if port := raw[colon:end]; port == implied || len(port) < 2 || port[1] == '0' {
			return 0
		}
	}
	if name == "" || name[len(name)-1] == '.' {
		return 0
	}
	return end
}
