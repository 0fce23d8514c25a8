package href

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// The same server can be named in many ways: in capitals, with a dot at the end, with the
// port that its scheme implies, in another script, percent-encoded, as an IPv4 address
// inside an IPv6 one. Limits for each host count all spellings together, so every limit gets
// its key from the functions below.
//
// spec:cloudburst#host-spellings

// Host is the normal spelling of the host of an absolute URL, without its port: a name in
// lowercase ASCII without a dot at the end, or an address in its shortest form, IPv6 in
// brackets. It is "" when raw names no host.
func Host(raw string) string {
	_, host, _ := splitHost(raw)
	return host
}

// HostPort is [Host] followed by a colon and the port, unless the scheme implies that port.
func HostPort(raw string) string {
	scheme, host, port := splitHost(raw)
	if host == "" || port == "" || port == impliedPort(scheme) {
		return host
	}
	return host + ":" + port
}

// Port is the port of an absolute URL, also where its scheme implies it; "" when there is
// none.
func Port(raw string) string {
	scheme, _, port := splitHost(raw)
	if port == "" {
		port = impliedPort(scheme)
	}
	return port
}

// Origin is the scheme in lowercase, "://" and [HostPort]. It allocates nothing for a URL
// that is spelled normally.
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

// splitHost takes the beginning of an absolute URL apart. Whatever else the URL may be, it
// need not be valid.
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

// hostName is the normal spelling of a host, which may have brackets around it.
func hostName(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner = strings.TrimSuffix(inner, "]")
		inner, _, _ = strings.Cut(inner, "%") // a zone has no bearing on which server it is
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

// ASCII writes a host in another script as browsers do: in lowercase ASCII, label by
// label with xn--. It is an error where DNS could have no such name.
func ASCII(host string) (string, error) { return idna.Lookup.ToASCII(host) }

func addressName(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// normalOrigin is the length of the origin of a URL that is spelled normally and whose host
// is a name or an IPv4 address, else 0.
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
