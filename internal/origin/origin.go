// Package origin holds the names of this server: the origins at which its public listener can be
// reached. These names define which URLs belong to this server. See [Names].
package origin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"cloudburst/internal/href"
)

// loopbackHosts returns the loopback names by which a listener at l can be reached. It returns IPv6
// addresses only if the listener accepts IPv6.
func loopbackHosts(l netip.Addr) []string {
	l = l.Unmap()
	v4, v6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	switch {
	case l == v4 || l == netip.IPv4Unspecified():
		return []string{"localhost", v4.String()}
	case l == v6:
		return []string{"localhost", v6.String()}
	case l == netip.IPv6Unspecified():
		return []string{"localhost", v4.String(), v6.String()}
	}
	return nil
}

// originsAt returns the names of a listener at l, as scheme://host:port.
func originsAt(scheme string, l netip.AddrPort) []string {
	hosts := loopbackHosts(l.Addr())
	if a := l.Addr().Unmap(); !a.IsUnspecified() && !slices.Contains(hosts, a.String()) {
		hosts = append(hosts, a.String())
	}
	out := make([]string, len(hosts))
	for i, host := range hosts {
		out[i] = scheme + "://" + net.JoinHostPort(host, strconv.Itoa(int(l.Port())))
		if scheme == "http" && l.Port() == 80 || scheme == "https" && l.Port() == 443 {
			out[i] = out[i][:strings.LastIndexByte(out[i], ':')]
		}
	}
	return out
}

// Of returns the names at which clients can reach the public listener, without duplicates. The
// public URL comes first: pages, feeds and links use this name.
func Of(public string, l netip.AddrPort) []string {
	return eachOnce(append([]string{public}, originsAt("http", l)...))
}

// WithTLS returns the names of the server if its public listener uses TLS. The names with http
// remain names of the server, so that earlier subscriptions with these names continue.
func WithTLS(public string, pub, plain net.Listener) []string {
	all := []string{public}
	if u, err := url.Parse(public); err == nil && u.Port() == "" {
		all = append(all, "http://"+u.Hostname())
	}
	all = append(all, originsAt("https", addrOf(pub))...)
	if plain != nil {
		all = append(all, originsAt("http", addrOf(plain))...)
	}
	return eachOnce(all)
}

func addrOf(l net.Listener) netip.AddrPort {
	if t, ok := l.Addr().(*net.TCPAddr); ok {
		return t.AddrPort()
	}
	return netip.AddrPort{}
}

func eachOnce(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Names are the names of the public listener, and the addresses that this program listens on. They
// are known only while the program serves.
type Names struct {
	Default func() string // returns the canonical origin while no listener is open
	Hosts   Hosts         // domains of authors; nil: none

	origins   atomic.Pointer[[]string]
	listeners atomic.Pointer[[]netip.AddrPort]
}

// Hosts maps URLs to the domains at which authors have their pages, and back.
type Hosts interface {
	// Inner returns the URL of this server with the same page as a URL at the domain of an author.
	// It returns other URLs unchanged.
	Inner(raw string) string
	// URL returns the URL of a path of this server, at the domain of the author if there is one.
	URL(path string) string
	// Former returns the URLs of a path of this server at former domains of the author.
	// Subscriptions to these URLs may remain.
	Former(path string) []string
	// Any reports whether at least one author has, or had, a domain.
	Any() bool
}

// inner returns the URL of this server for a URL at the domain of an author. It returns other URLs
// unchanged.
func (n *Names) inner(raw string) string {
	if n.Hosts == nil || !n.Hosts.Any() {
		return raw
	}
	return n.Hosts.Inner(raw)
}

// Located returns the URL that pages and feeds contain for a path of this server.
func (n *Names) Located(path string) string {
	if n.Hosts == nil {
		return n.Public() + path
	}
	return n.Hosts.URL(path)
}

// Former returns the URLs of a path of this server at former domains of the author.
func (n *Names) Former(path string) []string {
	if n.Hosts == nil || !n.Hosts.Any() {
		return nil
	}
	return n.Hosts.Former(path)
}

// Bases returns the URLs of a path of this server at all names of the server, and at the current
// and former domains of the author.
func (n *Names) Bases(path string) (all []string) {
	for _, o := range n.All() {
		all = append(all, o+path)
	}
	if at := n.Located(path); !slices.Contains(all, at) {
		all = append(all, at)
	}
	return append(all, n.Former(path)...)
}

// Set sets the origins. The canonical origin comes first.
func (n *Names) Set(origins []string) { n.origins.Store(&origins) }

// Served reports whether the origins are known. Other programs can then reach this server.
func (n *Names) Served() bool { return n.origins.Load() != nil }

// Listen sets the addresses that this program listens on.
func (n *Names) Listen(addrs []netip.AddrPort) { n.listeners.Store(&addrs) }

// Listeners returns the addresses that this program listens on, nil while it does not listen. The
// guards of outgoing requests need these addresses.
func (n *Names) Listeners() []netip.AddrPort {
	if p := n.listeners.Load(); p != nil {
		return *p
	}
	return nil
}

// Public returns the public URL of this server.
func (n *Names) Public() string {
	if all := n.All(); len(all) > 0 {
		return all[0]
	}
	return n.Default()
}

// All returns the names of the public listener, the canonical name first; nil while no listener is
// open.
func (n *Names) All() []string {
	if p := n.origins.Load(); p != nil {
		return *p
	}
	return nil
}

// cutOrigin returns the part of a URL after its origin. ok is false if raw does not begin with origin
// in any spelling, or if it contains a user name.
func cutOrigin(raw, origin string) (rest string, ok bool) {
	_, host, _ := strings.Cut(raw, "://")
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host, rest = host[:i], host[i:]
	}
	return rest, href.Origin(raw) == href.Origin(origin) && !strings.ContainsAny(host, `@\`)
}

// Path returns the path and query of a URL of this program, as the public listener would receive
// them. It returns false for a URL of another server.
func (n *Names) Path(raw string) (*url.URL, bool) {
	raw = n.inner(raw)
	if !slices.ContainsFunc(n.All(), func(o string) bool { rest, ok := cutOrigin(raw, o); return ok && strings.HasPrefix(rest, "/") }) {
		return nil, false
	}
	u, err := url.Parse(raw)
	return u, err == nil
}

// Canonical returns a URL of this program with its canonical origin. It returns any other URL
// unchanged.
func (n *Names) Canonical(raw string) string {
	if names := n.Of(raw); len(names) > 0 {
		return names[0]
	}
	return raw
}

// Of returns all names of a URL of this program: the same path and query at each origin of the
// program, the canonical name first; nil: the URL belongs to another server.
func (n *Names) Of(raw string) []string {
	origins := n.All()
	raw = n.inner(raw)
	for _, o := range origins {
		rest, ok := cutOrigin(raw, o)
		if !ok {
			continue
		}
		names := make([]string, len(origins))
		for i, other := range origins {
			names[i] = other + rest
		}
		if at := n.Located(rest); n.Hosts != nil && !slices.Contains(names, at) {
			names = append(names, at)
		}
		return append(names, n.Former(rest)...)
	}
	return nil
}

// AtCanonical redirects a browser that opens a page of next at another loopback name to the same
// page at the canonical origin, because a cookie belongs to one host name. It redirects only
// requests for pages in a browser, never requests of programs.
func (n *Names) AtCanonical(public string, next http.Handler) http.Handler {
	canonical, err := url.Parse(public)
	if err != nil || !isLoopback(canonical.Hostname()) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !opensPage(r) || strings.EqualFold(r.Host, canonical.Host) || !n.isLoopbackName(r.Host) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Accept, Sec-Fetch-Mode")
		http.Redirect(w, r, public+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	})
}

// isLoopbackName reports whether a Host header is a loopback name of the public listener.
func (n *Names) isLoopbackName(host string) bool {
	return slices.ContainsFunc(n.All(), func(o string) bool {
		u, err := url.Parse(o)
		return err == nil && strings.EqualFold(u.Host, host) && isLoopback(u.Hostname())
	})
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// ThroughProxy reports whether a header of r shows that a proxy forwarded it.
func ThroughProxy(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// opensPage reports whether a person opens a page, not a file such as a feed, in a browser that is
// connected to this server directly. Behind a proxy, the Host header does not contain the name that
// the browser uses.
func opensPage(r *http.Request) bool {
	file := path.Base(r.URL.Path)
	if r.Method != http.MethodGet && r.Method != http.MethodHead || file == "opml" || len(file) > 1 && strings.Contains(file, ".") {
		return false
	}
	if ThroughProxy(r) {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/html")
}
