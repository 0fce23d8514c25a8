package endpoint

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestClientAddressIsTheNearestUntrustedProxyHop(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("127.0.0.1/32")}
	type h = map[string][]string
	for _, c := range []struct {
		name, peer string
		header     h
		want       string
	}{
		{"no header", "192.0.2.7:4711", nil, "192.0.2.7"},
		{"IPv6", "[2001:db8::7]:4711", nil, "2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.7]:4711", nil, "192.0.2.7"},
		{"zone", "[fe80::1%eth0]:4711", nil, "fe80::1"},
		{"the header of an untrusted peer is ignored", "192.0.2.7:1", h{"X-Forwarded-For": {"198.51.100.1"}}, "192.0.2.7"},
		{"the Forwarded header of an untrusted peer is ignored", "192.0.2.7:1", h{"Forwarded": {"for=198.51.100.1"}}, "192.0.2.7"},
		{"trusted proxy", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1"}}, "198.51.100.1"},
		{"trusted proxy as IPv4 in IPv6", "[::ffff:10.1.1.1]:1", h{"X-Forwarded-For": {"198.51.100.1"}}, "198.51.100.1"},
		{"trusted proxy without header", "10.1.1.1:1", nil, "10.1.1.1"},
		{"addresses sent by the client are on the left", "10.1.1.1:1", h{"X-Forwarded-For": {"203.0.113.9, 198.51.100.1"}}, "198.51.100.1"},
		{"two proxies", "10.1.1.1:1", h{"X-Forwarded-For": {"203.0.113.9, 198.51.100.1, 10.2.2.2"}}, "198.51.100.1"},
		{"two lines", "10.1.1.1:1", h{"X-Forwarded-For": {"203.0.113.9", "198.51.100.1"}}, "198.51.100.1"},
		{"all trusted", "10.1.1.1:1", h{"X-Forwarded-For": {"10.3.3.3,10.2.2.2"}}, "10.3.3.3"},
		{"port", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1:5555"}}, "198.51.100.1"},
		{"IPv6 hop", "10.1.1.1:1", h{"X-Forwarded-For": {"2001:db8::9"}}, "2001:db8::9"},
		{"IPv6 hop with port", "10.1.1.1:1", h{"X-Forwarded-For": {"[2001:db8::9]:80"}}, "2001:db8::9"},
		{"IPv6 hop with zone", "10.1.1.1:1", h{"X-Forwarded-For": {"fe80::9%25eth0"}}, "fe80::9"},
		{"garbage", "10.1.1.1:1", h{"X-Forwarded-For": {"unknown"}}, "10.1.1.1"},
		{"invalid last address", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1, x"}}, "10.1.1.1"},
		{"invalid address left of the client", "10.1.1.1:1", h{"X-Forwarded-For": {"x, 198.51.100.1"}}, "198.51.100.1"},
		{"empty", "10.1.1.1:1", h{"X-Forwarded-For": {""}}, "10.1.1.1"},
		{"unspecified", "10.1.1.1:1", h{"X-Forwarded-For": {"0.0.0.0"}}, "10.1.1.1"},
		{"a hundred hops", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1" + strings.Repeat(",10.2.2.2", 100)}}, "10.1.1.1"},
		{"Forwarded", "10.1.1.1:1", h{"Forwarded": {`for=203.0.113.9, For="198.51.100.1:99";proto=https;by=10.1.1.1`}}, "198.51.100.1"},
		{"Forwarded IPv6", "10.1.1.1:1", h{"Forwarded": {`for="[2001:db8::9]:80"`}}, "2001:db8::9"},
		{"Forwarded with quoted separators", "10.1.1.1:1", h{"Forwarded": {`host="a,b;for=203.0.113.9";for=198.51.100.1`}}, "198.51.100.1"},
		{"Forwarded hidden", "10.1.1.1:1", h{"Forwarded": {"for=_secret"}}, "10.1.1.1"},
		{"Forwarded without for", "10.1.1.1:1", h{"Forwarded": {"for=198.51.100.1, proto=http"}}, "10.1.1.1"},
		{"both agree", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1"}, "Forwarded": {"for=198.51.100.1"}}, "198.51.100.1"},
		{"both differ: one was sent by the client", "10.1.1.1:1", h{"X-Forwarded-For": {"198.51.100.1"}, "Forwarded": {"for=203.0.113.9"}}, "10.1.1.1"},
	} {
		r := httptest.NewRequest("POST", "/ping", nil)
		r.RemoteAddr = c.peer
		for name, values := range c.header {
			for _, v := range values {
				r.Header.Add(name, v)
			}
		}
		if got := CallerAddr(r, trusted); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	r := httptest.NewRequest("POST", "/ping", nil)
	r.RemoteAddr = "@" // a Unix socket
	if got := CallerAddr(r, trusted); got.IsValid() {
		t.Errorf("Unix socket: %s", got)
	}
}

func FuzzClientAddress(f *testing.F) {
	f.Add("10.1.1.1:1", "203.0.113.9, 198.51.100.1", `for="[2001:db8::9]:80"`)
	f.Add("[fe80::1%eth0]:1", "fe80::9%25eth0", `for=_x;host="`)
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, peer, xff, fwd string) {
		r := httptest.NewRequest("POST", "/ping", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", xff)
		r.Header.Set("Forwarded", fwd)
		got := CallerAddr(r, trusted)
		if got.Zone() != "" || got.Is4In6() {
			t.Fatalf("%s", got)
		}
		if p, ok := parseAddr(peer); ok && !trusted[0].Contains(p) && got != p {
			t.Fatalf("a header of the untrusted %s made it %s", p, got)
		}
	})
}
