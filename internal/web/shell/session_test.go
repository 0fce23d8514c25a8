package shell

import (
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestRedirectTargetIsAPathOfThisServer(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"/", "/account", "/account/feed?done=saved", "/alice/?page=2#p-1", "/a%2Fb", "/log?q=//x"} {
		if got := LocalPath(good, "no"); got != good {
			t.Errorf("%q became %q", good, got)
		}
	}
	for _, bad := range []string{"", "account", "//evil.example", "/\\evil.example", "\\/evil.example", "https://evil.example/", "javascript:alert(1)",
		"/\t/evil.example", "/\n/evil.example", " /x", "/ /x", "/x\x00", "/\x7f", "///evil.example", "/x\\y", "/%zz", "/" + strings.Repeat("a", 3000), "/\xff"} {
		if got := LocalPath(bad, "no"); got != "no" {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, s := range []string{"/account", "//evil.example", "/\\evil", "/\t/x", "/%2f%2fevil"} {
		f.Add(s)
	}
	here, err := url.Parse("https://hub.example/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := LocalPath(s, "/account")
		u, err := here.Parse(got)
		if err != nil || u.Host != "hub.example" || u.Scheme != "https" || strings.ContainsAny(got, "\\\r\n\t") {
			t.Errorf("%q leads to %v, %v", s, u, err)
		}
	})
}

func TestClientAddressIsTheTCPPeerByDefault(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[::ffff:203.0.113.7]:99"
	if got := New(Options{}).CallerAddr(r); got != netip.MustParseAddr("203.0.113.7") {
		t.Error(got)
	}
}
