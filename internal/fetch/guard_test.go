package fetch

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(list ...string) (ps []netip.Prefix) {
	for _, s := range list {
		ps = append(ps, netip.MustParsePrefix(s))
	}
	return ps
}

// forbiddenHosts lists every form of a forbidden address as the host of a URL. The tests' name
// server resolves the names.
var forbiddenHosts = []string{
	// the first and last address of each special range
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255",
	"127.0.0.1", "127.0.0.53", "127.255.255.254", "169.254.0.1", "169.254.169.254", "169.254.170.2",
	"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1",
	"192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
	"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
	// IPv4 addresses in unusual spellings
	"127.1", "127.0.1", "127.00.00.01", "127.000.000.001", "0127.0.0.1", "0177.0.0.1", "0177.0.0.01", "00000177.0.0.1",
	"0x7f.1", "0x7f.0.0.1", "0x7F.0x0.0x0.0x1", "0x7f000001", "0X7F000001", "0x7f.0x000001", "2130706433", "017700000001",
	"4294967295", "425.510.425.510", "127.0.0.0x1", "10.1", "0xa9.0xfe.0xa9.0xfe", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
	"1", "0", "0x", "256.256.256.256", "127.0.0.1.", "127.0.0.1..", ".127.0.0.1", "127..0.1", "127.0.0.1.0",
	"+127.0.0.1", "-127.0.0.1", "127.0.0.+1", "127.0.0.1%00", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127.0.0.1%2f",
	// IPv4 addresses with the digits and dots of other scripts
	"①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "①②⑦。0。0。①", "0ｘ7f.1", "２１３０７０６４３３", "١٢٧.٠.٠.١",
	"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ", "local\u00adhost", "127.0.0.1\u200b",
	// IPv6 addresses, and IPv4 addresses inside IPv6 addresses
	"[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]",
	"[::ffff:10.0.0.1]", "[::ffff:0:127.0.0.1]", "[::ffff:169.254.169.254]", "[0:0:0:0:0:ffff:7f00:1]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::1]", "[100::1]", "[100:0:0:1::1]", "[5f00::1]",
	"[2001::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[2001:db8::1]",
	"[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:808:808::1]", "[2620:4f:8000::1]", "[3fff::1]", "[4000::1]",
	"[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "[::1%lo]",
	"[2606:4700::1%25lo]", "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[::1", "::1", "[127.0.0.1]", "[localhost]", "[::1]]", "[[::1]]", "[v1.x]", "[]",
	// names of forbidden addresses, and unusual URL syntax
	"localhost", "LOCALHOST", "localhost.", "ip6-localhost", "private.test", "mapped.test", "linklocal.test", "both.test", "nat64.test",
	"user@127.0.0.1", "user:pass@127.0.0.1", "public.test@127.0.0.1", "127.0.0.1@127.0.0.1", "public.test:80@127.0.0.1", "public.test@@127.0.0.1",
	"public.test#@127.0.0.1", "public.test?@127.0.0.1", "public.test\\@127.0.0.1", "127.0.0.1\\@public.test", "127.0.0.1 public.test",
	"public.test\t", "public.test\r\n", "", ".", "..", "*", "a..b", "-a.test", "a-.test", "127.0.0.1:80:80", "127.0.0.1:", "127.0.0.1:+80", "127.0.0.1: 80",
	"ex ample.test", "<script>", "a,b.test", "xn--a.test\u0000", strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 130) + "test",
}

func TestEveryNotationOfForbiddenAddressesIsRefused(t *testing.T) {
	t.Parallel()
	if len(forbiddenHosts) < 60 {
		t.Fatal("the table has shrunk")
	}
	// Names are resolved only at the dial. The tests of Client and Sender use the same table for
	// names.
	names := map[string]bool{
		"localhost": true, "LOCALHOST": true, "localhost.": true, "ip6-localhost": true, "private.test": true, "mapped.test": true,
		"linklocal.test": true, "both.test": true, "nat64.test": true, "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ": true, "ｌｏｃａｌｈｏｓｔ": true, "local\u00adhost": true,
		"public.test#@127.0.0.1": true, "public.test?@127.0.0.1": true,
	}
	g := &Guard{Callback: true}
	for _, h := range forbiddenHosts {
		for _, scheme := range []string{"http", "https", "HTTP"} {
			raw := scheme + "://" + h + "/x"
			err := g.CheckURL(raw)
			if names[h] {
				continue
			}
			if err == nil {
				t.Errorf("%q was allowed", raw)
			} else if k := KindOf(err); k != Refused && k != BadURL {
				t.Errorf("%q: kind %v", raw, k)
			}
		}
	}
}

func TestGuardRejectsEverySpecialAddress(t *testing.T) {
	t.Parallel()
	g := &Guard{}
	for _, h := range forbiddenHosts {
		ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
		if err != nil {
			continue
		}
		for _, network := range []string{"tcp4", "tcp6"} {
			if g.Control(network, net.JoinHostPort(ip.String(), "80"), nil) == nil && ip.Zone() == "" {
				t.Errorf("%s %s was allowed", network, ip)
			}
		}
	}
}

func TestGuardRejectsAddressesItCannotParse(t *testing.T) {
	t.Parallel()
	g := &Guard{Allow: prefixes("0.0.0.0/0", "::/0")}
	for _, c := range [][2]string{
		{"tcp", "8.8.8.8:80"}, {"udp4", "8.8.8.8:80"}, {"unix", "/run/x"}, {"", ""}, {"tcp4", ""}, {"tcp4", "8.8.8.8"}, {"tcp4", "host:80"},
		{"tcp4", "8.8.8.8:http"}, {"tcp4", "8.8.8.8:99999"}, {"tcp4", "0.0.0.0:80"}, {"tcp6", "[::]:80"}, {"tcp6", "[::%lo]:80"}, {"tcp6", "[::ffff:0.0.0.0]:80"},
		{"tcp4", "8.8.8.8:25"}, {"tcp4", "8.8.8.8:22"}, {"tcp4", "8.8.8.8:0"}, {"tcp4", "8.8.8.8:6379"},
	} {
		if err := g.Control(c[0], c[1], nil); KindOf(err) != Refused || err == nil {
			t.Errorf("Control(%q, %q) = %v, want a refusal", c[0], c[1], err)
		}
	}
}

func TestGuardAllowsPublicAddresses(t *testing.T) {
	t.Parallel()
	g := &Guard{Callback: true}
	for _, a := range []string{"8.8.8.8:80", "1.1.1.1:443", "9.255.255.255:80", "172.32.0.1:80", "[2606:4700::1111]:443", "[2a00:1450::1]:8080", "[::ffff:8.8.8.8]:80"} {
		if err := g.CheckAddr(netip.MustParseAddrPort(a)); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, u := range []string{"http://feed.example/", "https://Feed.Example:8443/a?b#c", "http://a_b.example", "http://xn--bcher-kva.example/", "http://bücher.example/é",
		"http://8.8.8.8:5337/x", "http://[2606:4700::1111]:80/", "http://feed.example.:80", "http://feed.example:/", "http://1a.example", "http://127.0.0.1.nip.example/", "http://0x7f.example/"} {
		if err := g.CheckURL(u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestOnlyHTTPURLsAndWebPortsAreAllowed(t *testing.T) {
	t.Parallel()
	g := &Guard{}
	for _, u := range []string{"ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "javascript:x", "//a.example/", "a.example", "http:/a.example", "http:a.example",
		"http:///a", "", "http://", "https://", "http://a.example:22/", "http://a.example:25/", "http://a.example:6379/", "http://a.example:65536/", "http://a.example:0/",
		"http://a.example:99999999999999999999/", "http://a.example:8o80/", " http://a.example/", "http://a.example/\n", "http://a.example/ b", "http://a.example/" + strings.Repeat("a", maxURL)} {
		if err := g.CheckURL(u); KindOf(err) != BadURL || err == nil {
			t.Errorf("%.60q: %v, want BadURL", u, err)
		}
	}
}

func TestCredentialsAreAllowedInFeedURLsOnly(t *testing.T) {
	t.Parallel()
	const u = "https://me:secret@feed.example/"
	if err := (&Guard{}).CheckURL(u); err != nil {
		t.Errorf("feed: %v", err)
	}
	if err := (&Guard{Callback: true}).CheckURL(u); err == nil {
		t.Error("a callback with a user name was allowed")
	}
}

func TestAllowListAllowsOnlyItsPrefixes(t *testing.T) {
	t.Parallel()
	g := &Guard{Allow: prefixes("127.0.0.0/8", "fe80::/10", "::ffff:10.1.0.0/112", "168.63.129.0/24")}
	for _, a := range []string{"127.9.9.9:80", "[::ffff:127.0.0.1]:80", "[fe80::1%eth0]:80", "10.1.2.3:80", "168.63.129.16:80", "8.8.8.8:80"} {
		if err := g.CheckAddr(netip.MustParseAddrPort(a)); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{"10.2.0.1:80", "[::1]:80", "[::127.0.0.1]:80", "192.168.0.1:80", "[fd00::1]:80", "[64:ff9b::127.0.0.1]:80"} {
		if err := g.CheckAddr(netip.MustParseAddrPort(a)); err == nil {
			t.Errorf("%s was allowed", a)
		}
	}
}

func TestAllowedNAT64PrefixReachesPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	g := &Guard{Allow: prefixes("64:ff9b::/96")}
	if err := g.CheckAddr(netip.MustParseAddrPort("[64:ff9b::8.8.8.8]:80")); err != nil {
		t.Error(err)
	}
	for _, a := range []string{"[64:ff9b::127.0.0.1]:80", "[64:ff9b::10.0.0.1]:80", "[64:ff9b::169.254.169.254]:80"} {
		if g.CheckAddr(netip.MustParseAddrPort(a)) == nil {
			t.Errorf("%s was allowed", a)
		}
	}
}

func TestOwnListenersAreRefusedEvenIfTheirAddressIsAllowed(t *testing.T) {
	t.Parallel()
	everything := prefixes("0.0.0.0/0", "::/0")
	mine := ownAddress(t)
	for _, c := range []struct {
		own, to string
		refused bool
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "[::ffff:127.0.0.1]:8080", true},
		{"127.0.0.1:8080", "127.0.0.1:8081", false},
		{"127.0.0.1:8080", "127.0.0.2:8080", false},
		{"[::1]:8080", "[::1%lo]:8080", true},
		{"0.0.0.0:8080", "127.0.0.1:8080", true},
		{"0.0.0.0:8080", "127.5.6.7:8080", true},
		{"[::]:8080", "127.0.0.1:8080", true},
		{"[::]:8080", "[::1]:8080", true},
		{"[::]:8080", mine + ":8080", true},
		{"0.0.0.0:8080", mine + ":8080", true},
		{"[::]:8080", mine + ":8081", false},
		{"[::]:8080", "8.8.8.8:8080", false},
		{"[::]:8080", "[64:ff9b::127.0.0.1]:8080", true},
	} {
		if mine == "" && strings.HasPrefix(c.to, ":") {
			continue // this machine has loopback addresses only
		}
		g := &Guard{Allow: everything, Own: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(c.own)} }}
		if err := g.CheckAddr(netip.MustParseAddrPort(c.to)); (err != nil) != c.refused {
			t.Errorf("listening on %s, calling %s: %v", c.own, c.to, err)
		}
	}
}

func TestErrorMentionsOwnListenerOnlyIfItsAddressIsAllowed(t *testing.T) {
	t.Parallel()
	own := func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")} }
	for _, c := range []struct {
		allow   []netip.Prefix
		url     string
		refused bool
		own     bool
	}{
		{nil, "http://127.0.0.1:8080/", true, false},
		{nil, "http://127.0.0.1:8081/", true, false},
		{nil, "http://localhost:8080/", true, false},
		{nil, "http://LocalHost.:8081/", true, false},
		{nil, "http://hub.localhost:8081/", true, false},
		{nil, "http://localhost.example:8080/", false, false},
		{prefixes("127.0.0.0/8"), "http://127.0.0.1:8080/", true, true},
		{prefixes("127.0.0.0/8"), "http://[::ffff:127.0.0.1]:8080/", true, true},
		{prefixes("127.0.0.0/8"), "http://localhost:8080/", true, true},
		{prefixes("127.0.0.0/8", "::1/128"), "http://LOCALHOST.:8080/", true, true},
		{prefixes("127.0.0.0/8"), "http://localhost:8081/", false, false},
		{prefixes("::1/128"), "http://localhost:8081/", false, false},
	} {
		err := (&Guard{Allow: c.allow, Own: own}).CheckURL(c.url)
		if (err != nil) != c.refused || errors.Is(err, ErrOwn) != c.own || err != nil && KindOf(err) != Refused {
			t.Errorf("%s with %v: %v", c.url, c.allow, err)
		}
	}
}

// ownAddress returns an IPv4 address of this machine that is not loopback, or "".
func ownAddress(t *testing.T) string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr().String()
		}
	}
	return ""
}

func TestRedactRemovesCredentialsFromURLs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://u:p@h/x@y": "http://h/x@y", "http://h/x@y": "http://h/x@y", "http://a@b@h": "http://h", "u:p@h": "h",
		"http://u:p@h?q=a@b": "http://h?q=a@b", "http://u:p@h#a@b": "http://h#a@b", "": "", "http://u:p\\x@h": "http://u:p\\x@h",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestErrorsForRefusedAddressesAreIndistinguishable(t *testing.T) {
	t.Parallel()
	g := &Guard{}
	for _, u := range []string{"http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/"} {
		if got := Text(g.CheckURL(u)); got != Neutral {
			t.Errorf("%s: %q", u, got)
		}
	}
	for _, err := range []error{errors.New("x"), fail(TimedOut, errors.New("y")), malformed("z"), fail(TLS, errors.New("w"))} {
		if got := Text(err); got != Neutral {
			t.Errorf("%v: %q", err, got)
		}
	}
}

func FuzzSplitURL(f *testing.F) {
	for _, h := range forbiddenHosts {
		f.Add("http://" + h + "/a?b#c")
	}
	f.Add("https://me:pw@Feed.Example:8443//x/../%2f?q=é#frag")
	g := &Guard{}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := splitURL(raw)
		if err != nil {
			return
		}
		if u.host == "" || u.shown == "" || u.port == 0 || strings.ContainsAny(u.host+u.shown+u.path, " \r\n\t\x00#\\@"[:6]) {
			t.Fatalf("%q: %+v", raw, u)
		}
		// The dialer must connect to the address that was checked.
		host, _, err := net.SplitHostPort(u.address())
		if err != nil {
			t.Fatalf("%q: address %q: %v", raw, u.address(), err)
		}
		ip, err := netip.ParseAddr(host)
		if (err == nil) != u.ip.IsValid() || err == nil && ip != u.ip {
			t.Fatalf("%q: dials %q, checks %v", raw, u.address(), u.ip)
		}
		// The Host header must name the same host and port.
		again, err := splitURL("http://" + u.shown + "/")
		if err != nil || again.host != u.host || again.ip != u.ip {
			t.Fatalf("%q: shown as %q, which is %+v (%v)", raw, u.shown, again, err)
		}
		if x := u.url(); x.Opaque == "" && x.Path == "" {
			t.Fatalf("%q: %+v", raw, x)
		}
		g.checkTarget(&u)
	})
}

// noBlocks blocks nothing.
type noBlocks struct{}

func (noBlocks) BlocksURL(string) bool      { return false }
func (noBlocks) BlocksAddr(netip.Addr) bool { return false }

func TestPlainURLLeavesOutUserAndFragment(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.example/x?y":          "http://a.example/x?y",
		"https://a.example:8443":        "https://a.example:8443",
		"http://a.example/x#y":          "http://a.example/x",
		"http://a@a":                    "http://a",
		"http://me:pw@a.example/x":      "http://a.example/x",
		"HTTP://a.example/x":            "http://a.example/x",
		"http://a.example:/x":           "http://a.example/x",
		"https://b\u00fccher.example/x": "https://xn--bcher-kva.example/x",
	} {
		u, err := splitURL(raw)
		if got := u.plain(); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", raw, got, err, want)
		}
	}
}

func TestCheckOfURLAllocatesNothing(t *testing.T) {
	g := loopback()
	g.Blocks = noBlocks{}
	if n := testing.AllocsPerRun(100, func() {
		if err := g.CheckURL("http://127.0.0.1:8080/notify?x=y"); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
