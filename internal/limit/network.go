package limit

import "net/netip"

// Network returns the network that counts as one client: /24 for IPv4, /56 for IPv6.
func Network(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 56
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return "unknown"
	}
	return p.String()
}
