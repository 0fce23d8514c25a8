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

// Guard decides which addresses and URLs are allowed. The zero Guard allows only the public
// internet. It must not be changed after first use and is safe for concurrent use.
//
// Guard refuses all addresses of the special-purpose registries (loopback, private, link-local,
// documentation, multicast, reserved …), IPv6 outside 2000::/3, tunnels that embed an IPv4 address
// (6to4, Teredo, NAT64, IPv4-compatible) and the metadata address of one cloud, 168.63.129.16. An
// IPv4-mapped address counts as the IPv4 address; a zone is ignored. Unparsable addresses and URLs
// with a zone are refused.
type Guard struct {
	// Allow lists address prefixes that are allowed although they are not public.
	Allow []netip.Prefix
	// Setting is the name of the setting that determines Allow, for error messages to operators;
	// "": none.
	Setting string
	// Own returns the addresses that this program listens on. Connections to them are refused even
	// if Allow contains them. An unspecified address (0.0.0.0, [::]) means every address of this
	// machine. Own is called at each dial, so it must be fast.
	Own func() []netip.AddrPort
	// Callback refuses URLs with a user name or password. Set it for URLs from unknown clients.
	Callback bool
	// Blocks reports the hosts, networks and URLs that the operator has blocked; nil: nothing is
	// blocked.
	Blocks Blocks

	once     sync.Once
	specials *ssrf.Guardian // special-purpose addresses, from the IANA registries
	local    atomic.Pointer[localAddrs]
}

// Blocks reports what the operator has blocked. Both methods are called for each request, so they
// must be fast.
type Blocks interface {
	BlocksURL(raw string) bool
	BlocksAddr(ip netip.Addr) bool
}

// ErrBlocked is wrapped by errors about what the operator blocked, see [Guard.Blocks].
var ErrBlocked = errors.New("blocked by an administrator of this server")

type localAddrs struct {
	addrs   []netip.Addr
	expires time.Time
}

// metadata returns a public address on which a cloud provider serves its virtual machines. The
// registries do not list this address.
func metadata() netip.Addr { return netip.AddrFrom4([4]byte{168, 63, 129, 16}) }

// ErrOwn is wrapped by errors about addresses that this server listens on, see [Guard.Own].
var ErrOwn = errors.New("this server itself")

// Control is for net.Dialer.Control. It checks the final address, after name resolution. Only TCP
// is allowed.
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

// CheckAddr returns nil if the address and port are allowed, or an *Error of kind Refused.
func (g *Guard) CheckAddr(ap netip.AddrPort) error {
	ip := canonical(ap.Addr())
	if !ip.IsValid() || ip.IsUnspecified() {
		return fail(Refused, fmt.Errorf("%s is not the address of a host", ap.Addr()))
	}
	if refusedPort(ap.Port()) {
		return fail(Refused, fmt.Errorf("port %d is not for the web", ap.Port()))
	}
	// Check for forbidden addresses first. Otherwise the error would reveal whether this server
	// listens on a forbidden address.
	if err := g.checkIP(ip); err != nil {
		return fail(Refused, err)
	}
	if g.isOwn(ip, ap.Port()) {
		return fail(Refused, fmt.Errorf("%s is %w", ap, ErrOwn))
	}
	if g.Blocks != nil && g.Blocks.BlocksAddr(ip) {
		return fail(Refused, fmt.Errorf("%s is %w", ap, ErrBlocked))
	}
	return nil
}

func (g *Guard) checkIP(ip netip.Addr) error {
	if v4, ok := embeddedIPv4(ip); ok && g.allowed(ip) {
		// Even through an allowed NAT64 translator, only public IPv4 addresses may be reached.
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

// NotAllowedError is the cause of a refused connection to an address that is not public. Only the
// operator may see it.
type NotAllowedError struct {
	Addr    netip.Addr
	Setting string // name of the setting that could allow the address; "": none
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

// canonical returns ip without zone and without IPv4 mapping, because neither changes the target.
func canonical(ip netip.Addr) netip.Addr { return ip.WithZone("").Unmap() }

func canonicalPrefix(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p
}

// embeddedIPv4 returns the IPv4 address inside an address of the NAT64 prefix.
func embeddedIPv4(ip netip.Addr) (netip.Addr, bool) {
	if !ssrf.IPv6NAT64Prefix.Contains(ip) {
		return netip.Addr{}, false
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

// isOwn reports whether this server listens on ip and port.
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

// isLocal reports whether ip is an address of this machine.
func (g *Guard) isLocal(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	l := g.local.Load()
	if now := time.Now(); l == nil || now.After(l.expires) {
		l = &localAddrs{expires: now.Add(10 * time.Second)}
		addrs, err := net.InterfaceAddrs()
		if err != nil {
			return true // if the addresses are unknown, assume that ip is local
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

// CheckURL checks a URL without resolving names. The scheme must be http or https, the host must
// have a standard form, and the port must not be one of refusedPort. If Callback is set, a user
// name is refused. If the host is an IP address, the address must be allowed. The error is an
// *Error; for kind BadURL, its Text states what is wrong.
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
	if g.Blocks != nil && g.Blocks.BlocksURL(t.plain()) {
		return fail(Refused, fmt.Errorf("%s is %w", t.plain(), ErrBlocked))
	}
	if t.ip.IsValid() {
		return g.CheckAddr(netip.AddrPortFrom(t.ip, t.port))
	}
	if name := strings.TrimSuffix(t.host, "."); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return g.checkLocalhost(t.port)
	}
	return nil
}

// checkLocalhost checks the two addresses of the name localhost (RFC 6761, 6.3). One allowed
// address is sufficient, unless this server listens on the other one.
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

// Redact returns raw without user name and password, for logs. If raw does not look like a URL,
// Redact removes everything up to the last @ before the path.
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
