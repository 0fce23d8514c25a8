package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Guard decides what may be reached. The zero Guard allows the public internet
// and nothing else. It must not be changed once in use; it is safe for concurrent
// use.
//
// Refused are all addresses of the special-purpose registries (loopback, private,
// link-local, documentation, multicast, reserved …), IPv6 outside 2000::/3, the
// tunnels that carry an IPv4 address inside (6to4, Teredo, NAT64, IPv4-compatible)
// and the machine-facing address of one cloud, 168.63.129.16. An IPv4-mapped
// address counts as the IPv4 address, a zone does not count at all, and what
// cannot be understood is refused. A URL may not carry a zone at all.
type Guard struct {
	// Allow are prefixes that may be reached although they are special.
	Allow []netip.Prefix
	// Setting is where the operator lists them, for the operator's errors; "": nowhere.
	Setting string
	// Own lists the addresses this program listens on. They are refused even when
	// allowed; one with an unspecified address (0.0.0.0, [::]) stands for every
	// address of this machine. It is called at each dial and must be quick.
	Own func() []netip.AddrPort
	// Callback is for URLs that strangers want called: no user name or password.
	Callback bool

	once     sync.Once
	specials *ssrf.Guardian // the registries' table
	local    atomic.Pointer[localAddrs]
}

type localAddrs struct {
	addrs   []netip.Addr
	expires time.Time
}

// metadata is a public address that a cloud answers on for its machines alone.
// The registries do not know it.
func metadata() netip.Addr { return netip.AddrFrom4([4]byte{168, 63, 129, 16}) }

// ErrOwn is wrapped by the errors about addresses that this server listens on, see
// [Guard.Own].
var ErrOwn = errors.New("this server itself")

// Control has the form of net.Dialer.Control: it sees the very address that is
// about to be connected to, after every look-up. Only TCP passes.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fail(Refused, fmt.Errorf("network %q is not tcp", network))
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fail(Refused, err)
	}
	return g.CheckAddr(ap)
}

// CheckAddr says whether one address and port may be connected to: nil or an
// *Error of kind Refused.
func (g *Guard) CheckAddr(ap netip.AddrPort) error {
	ip := canonical(ap.Addr())
	if !ip.IsValid() || ip.IsUnspecified() {
		return fail(Refused, fmt.Errorf("%s is no address of a host", ap.Addr()))
	}
	if refusedPort(ap.Port()) {
		return fail(Refused, fmt.Errorf("port %d is not for the web", ap.Port()))
	}
	// What may not be reached at all comes first: whether this server listens there is then
	// nobody's business.
	if err := g.checkIP(ip); err != nil {
		return fail(Refused, err)
	}
	if g.isOwn(ip, ap.Port()) {
		return fail(Refused, fmt.Errorf("%s is %w", ap, ErrOwn))
	}
	return nil
}

func (g *Guard) checkIP(ip netip.Addr) error {
	if v4, ok := embeddedIPv4(ip); ok && g.allowed(ip) {
		// A translator that the operator allowed may carry us to public IPv4 only.
		return g.checkIP(v4)
	}
	if g.allowed(ip) {
		return nil
	}
	g.once.Do(func() { g.specials = ssrf.New() })
	if ip == metadata() || g.specials.SafeAddr(ip) != nil {
		return NotAllowedError{Addr: ip, Setting: g.Setting}
	}
	return nil
}

// NotAllowedError is the cause of the refusal of an address that is not public. It is for
// the operator only.
type NotAllowedError struct {
	Addr    netip.Addr
	Setting string // that would allow it; "": none
}

func (e NotAllowedError) Error() string {
	text := e.Addr.String() + " is not a public address"
	if e.Setting != "" {
		text += ", and " + e.Setting + " does not list it"
	}
	return text
}

func (g *Guard) allowed(ip netip.Addr) bool {
	for _, p := range g.Allow {
		if canonicalPrefix(p).Contains(ip) {
			return true
		}
	}
	return false
}

// plain strips what has no bearing on where an address leads: the zone, and the
// IPv6 form of an IPv4 address.
func canonical(ip netip.Addr) netip.Addr { return ip.WithZone("").Unmap() }

func canonicalPrefix(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p
}

// carried is the IPv4 address inside an address of the NAT64 prefix.
func embeddedIPv4(ip netip.Addr) (netip.Addr, bool) {
	if !ssrf.IPv6NAT64Prefix.Contains(ip) {
		return netip.Addr{}, false
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

// own reports whether something of ours listens there.
func (g *Guard) isOwn(ip netip.Addr, port uint16) bool {
	if g.Own == nil {
		return false
	}
	if v4, ok := embeddedIPv4(ip); ok {
		ip = v4
	}
	for _, o := range g.Own() {
		if o.Port() != port {
			continue
		}
		a := canonical(o.Addr())
		if a == ip || a.IsUnspecified() && g.isLocal(ip) {
			return true
		}
	}
	return false
}

// here reports whether ip is an address of this machine.
func (g *Guard) isLocal(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	l := g.local.Load()
	if now := time.Now(); l == nil || now.After(l.expires) {
		l = &localAddrs{expires: now.Add(10 * time.Second)}
		addrs, err := net.InterfaceAddrs()
		if err != nil {
			return true // unknown is refused
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				l.addrs = append(l.addrs, canonical(p.Addr()))
			}
		}
		g.local.Store(l)
	}
	return slices.Contains(l.addrs, ip)
}

// CheckURL says whether a URL may be asked for at all, as far as that can be seen
// without looking anything up: http or https, a host in an ordinary form, a port
// that is meant for the web, no user name for callbacks, and, when the host is an
// address, one that may be reached. The error is a *Error; BadURL's text names
// what is wrong.
func (g *Guard) CheckURL(raw string) error {
	t, err := splitURL(raw)
	if err != nil {
		return err
	}
	return g.checkTarget(&t)
}

func (g *Guard) checkTarget(t *target) error {
	if g.Callback && t.user {
		return badURL("has a user name in it, which a callback may not have")
	}
	if refusedPort(t.port) {
		return badURL("names port %d, which belongs to another service than the web", t.port)
	}
	if t.ip.IsValid() {
		return g.CheckAddr(netip.AddrPortFrom(t.ip, t.port))
	}
	if name := strings.TrimSuffix(t.host, "."); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return g.checkLocalhost(t.port)
	}
	return nil
}

// checkLocalhost checks the addresses that the name localhost stands for (RFC 6761, 6.3).
// One that may be reached is enough, unless something of ours listens at the other.
func (g *Guard) checkLocalhost(port uint16) error {
	err4 := g.CheckAddr(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
	err6 := g.CheckAddr(netip.AddrPortFrom(netip.IPv6Loopback(), port))
	switch {
	case errors.Is(err6, ErrOwn) || err4 == nil && err6 == nil:
		return err6
	case errors.Is(err4, ErrOwn) || err6 != nil:
		return err4
	}
	return nil
}

// Redact is raw without its user name and password, for logs. What does not look
// like a URL is returned cut at the last @ before the path.
func Redact(raw string) string {
	i := strings.Index(raw, "//")
	if i < 0 {
		i = 0
	} else {
		i += 2
	}
	end := len(raw)
	if j := strings.IndexAny(raw[i:], "/?#\\"); j >= 0 {
		end = i + j
	}
	at := strings.LastIndexByte(raw[i:end], '@')
	if at < 0 {
		return raw
	}
	return raw[:i] + raw[i+at+1:]
}
