// Package endpoint contains what several groups of endpoints share: the client address behind
// proxies, the HTTP status of an error, time limits for uploads, and texts for logs and public
// responses. Each subpackage is one group of endpoints.
package endpoint

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxForwarded is the maximum number of hops in a forwarding header that are read, counted from the
// right. A genuine list is shorter.
const maxForwarded = 32

// CallerAddr returns the client address of a request: the TCP peer or, if the peer is a trusted
// proxy, the rightmost forwarded hop that is not a trusted proxy itself. Zones are removed, and
// IPv4-mapped IPv6 addresses are unmapped. If the headers are invalid, or X-Forwarded-For and
// Forwarded disagree because the client sent one of them itself, CallerAddr returns the peer.
//
// spec:cloudburst#client-address
func CallerAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, ok := parseAddr(r.RemoteAddr)
	if !ok || !contains(trusted, peer) {
		return peer
	}
	var callers []netip.Addr
	for _, hops := range [][]string{forwardedFor(r.Header), forwarded(r.Header)} {
		if hops == nil {
			continue
		}
		caller, ok := rightMost(hops, trusted)
		if !ok {
			return peer
		}
		callers = append(callers, caller)
	}
	if len(callers) == 0 || slices.ContainsFunc(callers, func(a netip.Addr) bool { return a != callers[0] }) {
		return peer
	}
	return callers[0]
}

// rightMost returns the client in a list of hops whose last element is the nearest hop. If all hops
// are trusted, the client is the farthest hop.
func rightMost(hops []string, trusted []netip.Prefix) (netip.Addr, bool) {
	var a netip.Addr
	for i, hop := range slices.Backward(hops) {
		if len(hops)-i > maxForwarded {
			return netip.Addr{}, false
		}
		var ok bool
		if a, ok = parseAddr(hop); !ok {
			return netip.Addr{}, false
		}
		if !contains(trusted, a) {
			return a, true
		}
	}
	return a, a.IsValid()
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parseAddr parses an address with or without port, brackets and zone.
func parseAddr(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return plainAddr(ap.Addr())
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, false
	}
	return plainAddr(a)
}

func plainAddr(a netip.Addr) (netip.Addr, bool) {
	a = a.WithZone("").Unmap()
	return a, !a.IsUnspecified()
}

// forwardedFor lists the hops in X-Forwarded-For. It returns nil without that header.
func forwardedFor(h http.Header) []string {
	values := h.Values("X-Forwarded-For")
	if len(values) == 0 {
		return nil
	}
	return strings.Split(strings.Join(values, ","), ",")
}

// forwarded lists the for parameters of the header Forwarded (RFC 7239). It returns nil without
// that header. A hop without the parameter becomes an empty string, which is not a valid address.
func forwarded(h http.Header) []string {
	values := h.Values("Forwarded")
	if len(values) == 0 {
		return nil
	}
	hops := []string{}
	for _, hop := range splitQuoted(strings.Join(values, ","), ',') {
		node := ""
		for _, pair := range splitQuoted(hop, ';') {
			name, value, _ := strings.Cut(pair, "=")
			if strings.EqualFold(strings.TrimSpace(name), "for") {
				node = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
		hops = append(hops, node)
	}
	return hops
}

// splitQuoted splits s at each sep that is not inside double quotes.
func splitQuoted(s string, sep byte) []string {
	var parts []string
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}
