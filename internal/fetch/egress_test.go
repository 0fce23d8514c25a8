package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// testNames answers the lookups of these tests.
func testNames(name string, _ int) []string {
	switch name {
	case "localhost", "public.test", "ip6-localhost":
		return []string{"127.0.0.1", "::1"}
	case "private.test":
		return []string{"10.0.0.1"}
	case "mapped.test":
		return []string{"::ffff:127.0.0.1"}
	case "linklocal.test":
		return []string{"169.254.169.254", "fe80::1"}
	case "both.test":
		return []string{"10.0.0.1", "::1", "127.0.0.1"}
	case "nat64.test":
		return []string{"64:ff9b::7f00:1"}
	}
	return nil
}

func TestForbiddenHostsAreNeverConnectedTo(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	resolver := nameServer(t, testNames)
	send := newTestSender(t, SenderOptions{Guard: &Guard{Callback: true}, Resolver: resolver})
	get := newTestClient(t, Options{Guard: &Guard{}, Resolver: resolver})
	for _, h := range forbiddenHosts {
		for _, scheme := range []string{"http", "https"} {
			u := scheme + "://" + h + ":" + w.port + "/"
			if i := strings.IndexAny(h, "#?"); i >= 0 {
				u = scheme + "://" + h[:i] + ":" + w.port + h[i:]
			}
			r := send.Send(t.Context(), &Message{URL: u})
			if k := KindOf(r.Err); r.Err == nil || k != Refused && k != BadURL || r.NotTried {
				t.Errorf("Send %q: %v %v", u, k, r.Err)
			}
			_, err := get.Get(t.Context(), Request{URL: u})
			if k := KindOf(err); err == nil || k != Refused && k != BadURL {
				t.Errorf("Get %q: %v %v", u, k, err)
			}
		}
	}
	w.check(t)
}

func TestRedirectToForbiddenHostIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	var to atomic.Value
	srv := rawServer(t, "127.0.1.1:0", func(c net.Conn, _ int) {
		if _, err := readRequest(bufio.NewReader(c)); err == nil {
			fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", to.Load())
		}
	})
	get := newTestClient(t, Options{Guard: &Guard{Allow: prefixes("127.0.1.1/32")}, Resolver: nameServer(t, testNames)})
	for _, h := range forbiddenHosts {
		if strings.ContainsAny(h, "\r\n\x00#?") {
			continue // these bytes would end the Location or change the host
		}
		to.Store("http://" + h + ":" + w.port + "/")
		res, err := get.Get(t.Context(), Request{URL: "http://" + srv + "/"})
		if k := KindOf(err); err == nil || k != Refused && k != Malformed || Text(err) != Neutral {
			t.Errorf("redirect to %q: %+v, %v %v", to.Load(), res, k, err)
		}
	}
	for _, loc := range []string{"//127.0.0.1:" + w.port + "/", "file:///etc/passwd", "gopher://127.0.0.1:" + w.port, "http:127.0.0.1:" + w.port, "http://127.0.1.1:22/", "https://localhost:" + w.port} {
		to.Store(loc)
		if _, err := get.Get(t.Context(), Request{URL: "http://" + srv + "/"}); err == nil {
			t.Errorf("redirect to %q was followed", loc)
		}
	}
	w.check(t)
}

// The name resolves first to the address of an allowed host, and later to a forbidden address.
func TestHostNameThatChangesToForbiddenAddressIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	rawServer(t, "127.0.1.1:"+w.port, once("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"))
	rebind := func(_ string, times int) []string {
		if times == 0 {
			return []string{"127.0.1.1"}
		}
		return []string{"127.0.0.1"}
	}
	guard := &Guard{Allow: prefixes("127.0.1.1/32")}
	get := newTestClient(t, Options{Guard: guard, Resolver: nameServer(t, rebind)})
	send := newTestSender(t, SenderOptions{Guard: guard, Resolver: nameServer(t, rebind)})
	u := "http://rebind.test:" + w.port + "/"
	if res, err := get.Get(t.Context(), Request{URL: u}); err != nil || string(res.Body) != "ok" {
		t.Fatalf("first Get: %v", err)
	}
	if r := send.Send(t.Context(), &Message{URL: u}); !r.OK() {
		t.Fatalf("first Send: %v", r.Err)
	}
	for range 3 {
		if _, err := get.Get(t.Context(), Request{URL: u}); KindOf(err) != Refused || err == nil {
			t.Errorf("Get after the change: %v", err)
		}
		if r := send.Send(t.Context(), &Message{URL: u}); KindOf(r.Err) != Refused || r.Err == nil {
			t.Errorf("Send after the change: %v", r.Err)
		}
	}
	w.check(t)
}

func TestHostNameThatChangesItsAddressBetweenRedirectsIsRefused(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	rawServer(t, "127.0.1.2:"+w.port, once("HTTP/1.1 301 Moved\r\nConnection: close\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"))
	get := newTestClient(t, Options{Guard: &Guard{Allow: prefixes("127.0.1.2/32")}, Resolver: nameServer(t, func(_ string, times int) []string {
		if times == 0 {
			return []string{"127.0.1.2"}
		}
		return []string{"127.0.0.1"}
	})})
	if _, err := get.Get(t.Context(), Request{URL: "http://rebind.test:" + w.port + "/"}); KindOf(err) != Refused || err == nil {
		t.Errorf("%v", err)
	}
	w.check(t)
}

// Forbidden addresses of a name are skipped without a connection attempt.
func TestForbiddenAddressesOfAHostNameAreSkipped(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	rawServer(t, "127.0.1.3:"+w.port, once(ok204))
	send := newTestSender(t, SenderOptions{Guard: &Guard{Allow: prefixes("127.0.1.0/24")}, Resolver: nameServer(t, func(name string, _ int) []string {
		if name == "good.test" {
			return []string{"127.0.0.1", "::1", "127.0.1.3"}
		}
		return []string{"127.0.1.4", "127.0.0.1", "::1"} // nothing listens on the allowed address
	})})
	if r := send.Send(t.Context(), &Message{URL: "http://good.test:" + w.port}); !r.OK() {
		t.Errorf("%v", r.Err)
	}
	if r := send.Send(t.Context(), &Message{URL: "http://bad.test:" + w.port}); r.Err == nil {
		t.Errorf("%+v", r)
	}
	w.check(t)
}

func TestHostNameThatResolvesToOwnListenerIsRefused(t *testing.T) {
	t.Parallel()
	srv := rawServer(t, "127.0.1.1:0", once(ok204))
	guard := &Guard{Allow: prefixes("127.0.1.0/24"), Own: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(srv)} }}
	names := nameServer(t, func(string, int) []string { return []string{"127.0.1.1"} })
	_, port, _ := net.SplitHostPort(srv)
	for _, scheme := range []string{"http", "https"} {
		u := scheme + "://alias.example:" + port + "/"
		if r := newTestSender(t, SenderOptions{Guard: guard, Resolver: names}).Send(t.Context(), &Message{URL: u}); !errors.Is(r.Err, ErrOwn) || KindOf(r.Err) != Refused || r.NotTried {
			t.Errorf("%s: %+v", u, r)
		}
		if _, err := newTestClient(t, Options{Guard: guard, Resolver: names}).Get(t.Context(), Request{URL: u}); !errors.Is(err, ErrOwn) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestIPAddressesAreNotLookedUpInDNS(t *testing.T) {
	t.Parallel()
	srv := rawServer(t, "127.0.0.1:0", answering(ok204))
	resolver := nameServer(t, func(name string, _ int) []string { t.Errorf("the resolver was queried for %s", name); return nil })
	send := newTestSender(t, SenderOptions{Resolver: resolver})
	if r := send.Send(t.Context(), &Message{URL: "http://" + srv}); !r.OK() {
		t.Error(r.Err)
	}
	get := newTestClient(t, Options{Resolver: resolver})
	if _, err := get.Get(t.Context(), Request{URL: "http://" + srv}); err != nil {
		t.Error(err)
	}
}

func TestOwnListenersAreNotConnectedTo(t *testing.T) {
	t.Parallel()
	w := newTripwire(t)
	g := loopback()
	g.Own = func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:" + w.port)} }
	send := newTestSender(t, SenderOptions{Guard: g, Resolver: nameServer(t, testNames)})
	for _, h := range []string{"127.0.0.1", "[::1]", "localhost", "mapped.test", "[::ffff:127.0.0.1]"} {
		if r := send.Send(t.Context(), &Message{URL: "http://" + h + ":" + w.port}); KindOf(r.Err) != Refused || r.Err == nil {
			t.Errorf("%s: %v", h, r.Err)
		}
	}
	w.check(t)
}

func TestGuardChecksEveryConnection(t *testing.T) {
	t.Parallel()
	// The shortcut for IP addresses must not bypass Guard.Control.
	w := newTripwire(t)
	d := newDialer(&Guard{}, nil, nil)
	port, _ := netip.ParseAddrPort("127.0.0.1:" + w.port)
	c, err := d.dialTarget(t.Context(), &target{ip: port.Addr(), port: port.Port()}, distant())
	if err == nil || c != nil || KindOf(err) != Refused {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := d.dial(t.Context(), "tcp", port.String()); err == nil || c != nil {
		t.Errorf("%v, %v", c, err)
	}
	w.check(t)
}
