// Package endpoint has what several families of endpoints share: the address of a client
// behind proxies, the status of an answer for a fault, limits of time for uploads, and texts
// that are fit for a log or a public answer. The families are the packages below it.
package endpoint

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxForwarded is how many hops of a forwarding header are looked at, from the
// right; a longer list is nobody's honest one.
const maxForwarded = 32

// CallerAddr is the address that a request comes from: the TCP peer, or, when the
// peer is a trusted proxy, the right-most hop that it forwards for and that is not
// a trusted proxy itself. Zones are left out, IPv4 is never wrapped in IPv6. When
// the headers cannot be read, or X-Forwarded-For and Forwarded name different
// callers (one of them came from the caller himself), it is the peer.
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

// rightMost is the caller in a list of hops, the nearest one last. When all are
// trusted, the caller is the farthest.
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

// parseAddr reads an address with or without port, brackets and zone.
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

// forwardedFor lists X-Forwarded-For; nil when there is none.
func forwardedFor(h http.Header) []string {
	values := h.Values("X-Forwarded-For")
	if len(values) == 0 {
		return nil
	}
	return strings.Split(strings.Join(values, ","), ",")
}

// forwarded lists the for parameters of Forwarded (RFC 7239); nil when there is
// no such header. A hop without one is an empty string, which is no address.
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

// splitQuoted splits at sep outside double quotes.
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
