package rsscloud_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func TestCallbackURLIsBuiltFromHostPortAndPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol, host string
		port           int
		path, want     string
	}{
		{"http-post", "example.com", 80, "/a", "http://example.com/a"},
		{"http-post", "example.com", 5337, "/a", "http://example.com:5337/a"},
		{"http-post", "example.com", 443, "/a", "https://example.com/a"},
		{"https-post", "example.com", 443, "/a", "https://example.com/a"},
		{"https-post", "example.com", 8443, "/a", "https://example.com:8443/a"},
		{"https-post", "example.com", 80, "/a", "https://example.com:80/a"},
		{"xml-rpc", "example.com", 80, "/RPC2", "http://example.com/RPC2"},
		{"soap", "example.com", 443, "/", "https://example.com/"},
		{"http-post", "example.com", 80, "", "http://example.com/"},
		{"http-post", "example.com", 80, "a/b", "http://example.com/a/b"},
		{"http-post", "example.com", 80, "?rsscloud=notify", "http://example.com/?rsscloud=notify"},
		{"http-post", "example.com", 80, "/?a=%2f&b=%2F&&c;d=+e%20", "http://example.com/?a=%2f&b=%2F&&c;d=+e%20"},
		{"http-post", "example.com", 80, "//b//", "http://example.com//b//"},
		{"http-post", "example.com", 80, "/grün", "http://example.com/gr%C3%BCn"},
		{"http-post", "EXAMPLE.com.", 80, "/", "http://example.com/"},
		{"http-post", "my_host-1", 80, "/", "http://my_host-1/"},
		{"http-post", "grün.example", 80, "/", "http://xn--grn-ioa.example/"},
		{"http-post", "192.0.2.7", 80, "/", "http://192.0.2.7/"},
		{"http-post", "2001:DB8::7", 80, "/", "http://[2001:db8::7]/"},
		{"http-post", "[2001:db8::7]", 81, "/", "http://[2001:db8::7]:81/"},
		{"http-post", "::ffff:192.0.2.7", 80, "/", "http://192.0.2.7/"},
		{"http-post", "[::ffff:c000:207]", 80, "/", "http://192.0.2.7/"},
	} {
		got, err := rsscloud.CallbackURL(c.protocol, c.host, c.port, c.path)
		if err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
			continue
		}
		p, host, port, path, err := rsscloud.SplitCallback(c.protocol, got)
		if err != nil {
			t.Errorf("split %s: %v", got, err)
			continue
		}
		if again, err := rsscloud.CallbackURL(p, host, port, path); err != nil || again != got {
			t.Errorf("split and joined %s: %s, %v", got, again, err)
		}
	}
}

func TestInvalidCallbackIsRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol, host string
		port           int
		path, field    string
	}{
		{"", "a.example", 80, "/", "protocol"},
		{"HTTP-POST", "a.example", 80, "/", "protocol"},
		{"http-post", "", 80, "/", "domain"},
		{"http-post", "a b", 80, "/", "domain"},
		{"http-post", "a@b", 80, "/", "domain"},
		{"http-post", "a/b", 80, "/", "domain"},
		{"http-post", "a..b", 80, "/", "domain"},
		{"http-post", ".", 80, "/", "domain"},
		{"http-post", "a\r\nb", 80, "/", "domain"},
		{"http-post", "a.example:81", 80, "/", "domain"},
		{"http-post", "fe80::1%eth0", 80, "/", "domain"},
		{"http-post", "[fe80::1%25eth0]", 80, "/", "domain"},
		{"http-post", "[192.0.2.7]", 80, "/", "domain"},
		{"http-post", "[::1", 80, "/", "domain"},
		{"http-post", "127.1", 80, "/", "domain"},
		{"http-post", "2130706433", 80, "/", "domain"},
		{"http-post", "0x7f.1", 80, "/", "domain"},
		{"http-post", "0x7f000001", 80, "/", "domain"},
		{"http-post", "017700000001", 80, "/", "domain"},
		{"http-post", strings.Repeat("a", 64) + ".example", 80, "/", "domain"},
		{"http-post", strings.Repeat("a.", 130) + "b", 80, "/", "domain"},
		{"http-post", "a.example", 0, "/", "port"},
		{"http-post", "a.example", -1, "/", "port"},
		{"http-post", "a.example", 65536, "/", "port"},
		{"http-post", "a.example", 80, "/a b", "path"},
		{"http-post", "a.example", 80, "/a\nb", "path"},
		{"http-post", "a.example", 80, "/a#b", "path"},
		{"http-post", "a.example", 80, "/a\x7f", "path"},
		{"http-post", "a.example", 80, "/100%", "path"},
		{"http-post", "a.example", 80, "/\xff", "path"},
		{"http-post", "a.example", 80, "HTTPS://b/", "path"},
		{"http-post", "a.example", 80, "/" + strings.Repeat("a", 2000), "path"},
	} {
		got, err := rsscloud.CallbackURL(c.protocol, c.host, c.port, c.path)
		fe, ok := errors.AsType[*rsscloud.FieldError](err)
		if !ok || fe.Field != c.field || got != "" {
			t.Errorf("%.80q %d %.40q: %q, %v", c.host, c.port, c.path, got, err)
		}
	}
}

func TestFullWidthDigitsInHostAreNormalizedToIPAddress(t *testing.T) {
	t.Parallel()
	got, err := rsscloud.CallbackURL("http-post", "１２７.０.０.１", 80, "/")
	if err == nil && got != "http://127.0.0.1/" {
		t.Errorf("got %s: a check of the name would miss the address", got)
	}
}

func TestSplitCallbackRejectsInvalidURL(t *testing.T) {
	t.Parallel()
	for protocol, callback := range map[string]string{
		"http-post":  "ftp://a.example/",
		"https-post": "http://a.example/",
		"xml-rpc":    "https://a.example:8443/RPC2",
		"soap":       "http://a.example:443/",
	} {
		if p, host, port, path, err := rsscloud.SplitCallback(protocol, callback); err == nil {
			t.Errorf("%s %s: %s %s %d %s", protocol, callback, p, host, port, path)
		}
	}
	for _, callback := range []string{"", "a.example", "http://", "http://a:b/", "http://u@a/", "http://a/#b", "http://a:99999/"} {
		if _, host, port, _, err := rsscloud.SplitCallback("http-post", callback); err == nil {
			t.Errorf("%s: %s %d", callback, host, port)
		}
	}
	p, _, _, _, err := rsscloud.SplitCallback("http-post", "https://a.example:8443/x")
	if err != nil || p != rsscloud.HTTPSPost {
		t.Errorf("http-post on another port over https became %s, %v", p, err)
	}
}

func TestChallengeIsAppendedToUnchangedQuery(t *testing.T) {
	t.Parallel()
	const tail = "url=http%3A%2F%2Ff.example%2F%3Fa%3D1%26b%3D2&challenge=c0ffee"
	for callback, want := range map[string]string{
		"http://a/":                   "http://a/?" + tail,
		"http://a/?":                  "http://a/?" + tail,
		"http://a/??":                 "http://a/??&" + tail,
		"http://a/?x=%2f&y":           "http://a/?x=%2f&y&" + tail,
		"http://a/?x&":                "http://a/?x&" + tail,
		"http://a/?rsscloud=notify&;": "http://a/?rsscloud=notify&;&" + tail,
	} {
		if got := rsscloud.ChallengeURL(callback, "http://f.example/?a=1&b=2", "c0ffee"); got != want {
			t.Errorf("%s: %s", callback, got)
		}
	}
}

func TestCallbackHostIsTheClientAddressUnlessDomainIsSet(t *testing.T) {
	t.Parallel()
	g := rsscloud.Registration{Port: 5337, Path: "/a", Protocol: "http-post"}
	for addr, want := range map[string]string{
		"192.0.2.7":        "http://192.0.2.7:5337/a",
		"::ffff:192.0.2.7": "http://192.0.2.7:5337/a",
		"2001:db8::7":      "http://[2001:db8::7]:5337/a",
	} {
		if got, err := g.Callback(netip.MustParseAddr(addr)); err != nil || got != want {
			t.Errorf("%s: %s, %v", addr, got, err)
		}
	}
	if got, err := g.Callback(netip.Addr{}); err == nil {
		t.Errorf("nobody: %s", got)
	}
	if got, err := g.Callback(netip.MustParseAddr("fe80::1%eth0")); err == nil {
		t.Errorf("zone: %s", got)
	}
	g.Domain = "example.com"
	if got, err := g.Callback(netip.Addr{}); err != nil || got != "http://example.com:5337/a" {
		t.Errorf("%s, %v", got, err)
	}
	back, err := rsscloud.RegistrationFor("http-post", "http://example.com:5337/a", "", "http://f/")
	g.URLs = []string{"http://f/"}
	if d := cmp.Diff(g, back); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestInvalidProcedureNameIsRejectedBeforeRegistration(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"a", "river.updated", "rssCloud.notify", "a_b:c/d", "mt", "system2.x", strings.Repeat("a", 128)} {
		if err := rsscloud.CheckProcedure("xml-rpc", ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "a b", "a\n", "ä", "a<", strings.Repeat("a", 129), "rssCloud.ping", "RSSCLOUD.PLEASENOTIFY",
		"rssCloud.hello", "xmlStorageSystem.rssPleaseNotify", "system.multicall", "weblogUpdates.ping", "metaWeblog.newPost"} {
		if err := rsscloud.CheckProcedure("xml-rpc", bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for _, bad := range []string{"a:b", "a/b", "1a", ".a"} {
		if err := rsscloud.CheckProcedure("soap", bad); err == nil {
			t.Errorf("soap: %q was accepted", bad)
		}
	}
	if err := rsscloud.CheckProcedure("http-post", "what ever"); err != nil {
		t.Errorf("http-post needs no procedure: %v", err)
	}
}

func TestURLInDomainParameterIsRejectedWithExplanation(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"http://reader.example":          "is a URL or part of one",
		"https://reader.example:81/path": "is a URL or part of one",
		"reader.example/up":              "is a URL or part of one",
		"reader.example:81":              "has a port in it",
		"[2001:db8::1]:81":               "has a port in it",
		"[2001:db8::1":                   "is not a host name",
		"reader..example":                "is not a host name",
	} {
		if _, err := rsscloud.CallbackURL(rsscloud.HTTPPost, host, 80, "/"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
	}
}
