// Package origin knows the names of this program: the origins at which its public listener can be
// reached, and which URLs are therefore its own. See [Names].
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
)

// loopbackHosts returns the loopback names by which a listener at l can be reached. IPv6
// counts only where the listener accepts it.
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

// Of returns the names by which the public listener can be called, each once. The
// public URL is the first: it is the name that pages, feeds and links use.
func Of(public string, l netip.AddrPort) []string {
	return eachOnce(append([]string{public}, originsAt("http", l)...))
}

// WithTLS returns the names of the listeners where the public one speaks TLS. The plain
// ones stay this server's own: subscriptions made by them before go on.
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

// Names are the names of the public listener, and the addresses that this program listens on.
// They are known while it serves.
type Names struct {
	Default func() string // the canonical origin while no listener is open
	Hosts   Hosts         // domains of authors; nil: none

	origins   atomic.Pointer[[]string]
	listeners atomic.Pointer[[]netip.AddrPort]
}

// Hosts knows the domains of authors, at which they have their pages.
type Hosts interface {
	// Inner returns the URL of this server that shows the same as a URL at the domain of an author.
	// Other URLs stay as they are.
	Inner(raw string) string
	// URL returns the URL of a path of this server, at the domain of the author if there is one.
	URL(path string) string
	// Former returns the URLs of a path of this server at domains that its author had, and at which
	// subscriptions may remain.
	Former(path string) []string
	// Any reports whether at least one author has, or had, a domain.
	Any() bool
}

// inner returns a URL at the domain of an author as one of this server.
func (n *Names) inner(raw string) string {
	if n.Hosts == nil || !n.Hosts.Any() {
		return raw
	}
	return n.Hosts.Inner(raw)
}

// Located returns the URL that pages and feeds name for a path of this server.
func (n *Names) Located(path string) string {
	if n.Hosts == nil {
		return n.Public() + path
	}
	return n.Hosts.URL(path)
}

// Former returns the URLs of a path of this server at domains that its author had.
func (n *Names) Former(path string) []string {
	if n.Hosts == nil || !n.Hosts.Any() {
		return nil
	}
	return n.Hosts.Former(path)
}

// Bases returns the URLs of a path of this server at all of its names, and at the domains that the author
// has and had.
func (n *Names) Bases(path string) (all []string) {
	for _, o := range n.All() {
		all = append(all, o+path)
	}
	if at := n.Located(path); !slices.Contains(all, at) {
		all = append(all, at)
	}
	return append(all, n.Former(path)...)
}

// Set sets the origins, the canonical one first.
func (n *Names) Set(origins []string) { n.origins.Store(&origins) }

// Served reports that the origins are known, so that others can reach this program.
func (n *Names) Served() bool { return n.origins.Load() != nil }

// Listen sets the addresses that this program listens on.
func (n *Names) Listen(addrs []netip.AddrPort) { n.listeners.Store(&addrs) }

// Listeners returns the addresses that this program listens on, for the guards; nil while it does not.
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

// All returns the names of the public listener, the canonical one first; nil while no
// listener is open.
func (n *Names) All() []string {
	if p := n.origins.Load(); p != nil {
		return *p
	}
	return nil
}

// cutOrigin cuts a URL behind origin, whose host may be written in any case.
func cutOrigin(raw, origin string) (rest string, ok bool) {
	n := len(origin)
	if len(raw) < n || !strings.EqualFold(raw[:n], origin) || len(raw) > n && !strings.ContainsRune("/?#", rune(raw[n])) {
		return "", false
	}
	return raw[n:], true
}

// Path returns the path and query of a URL of this program, as its public listener would
// see them.
func (n *Names) Path(raw string) (*url.URL, bool) {
	raw = n.inner(raw)
	if !slices.ContainsFunc(n.All(), func(o string) bool { rest, ok := cutOrigin(raw, o); return ok && strings.HasPrefix(rest, "/") }) {
		return nil, false
	}
	u, err := url.Parse(raw)
	return u, err == nil
}

// Canonical returns a URL of this program with its canonical origin. Any other URL stays as
// it is.
func (n *Names) Canonical(raw string) string {
	if names := n.Of(raw); len(names) > 0 {
		return names[0]
	}
	return raw
}

// Of returns all names of a URL of this program: the same path and query at each of its
// origins, the canonical one first. nil: the URL belongs to another server.
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

// AtCanonical sends a browser that opens a page of next by another loopback name to the
// same page at the canonical origin: a cookie belongs to one host name. Programs are
// never sent elsewhere: only the request for a page to look at is.
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

// isLoopbackName reports a Host header that is a loopback name of the public listener.
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

// opensPage reports that a person opens a page, not a file such as a feed, in a browser
// which is connected to this server directly: behind a proxy the Host header does not
// say which name the browser uses.
func opensPage(r *http.Request) bool {
	file := path.Base(r.URL.Path)
	if r.Method != http.MethodGet && r.Method != http.MethodHead || file == "opml" || len(file) > 1 && strings.Contains(file, ".") {
		return false
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/html")
}
