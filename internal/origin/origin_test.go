package origin

import (
	"net/netip"
	"strings"
	"testing"
)

func TestLoopbackNamesAreDerivedFromTheListenAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:5337":   "http://public.example http://localhost:5337 http://127.0.0.1:5337",
		"[::1]:5337":       "http://public.example http://localhost:5337 http://[::1]:5337",
		"0.0.0.0:5337":     "http://public.example http://localhost:5337 http://127.0.0.1:5337",
		"[::]:5337":        "http://public.example http://localhost:5337 http://127.0.0.1:5337 http://[::1]:5337",
		"[::]:80":          "http://public.example http://localhost http://127.0.0.1 http://[::1]",
		"127.0.0.2:5337":   "http://public.example http://127.0.0.2:5337",
		"192.0.2.7:5337":   "http://public.example http://192.0.2.7:5337",
		"[2001:db8::7]:99": "http://public.example http://[2001:db8::7]:99",
	} {
		if got := strings.Join(Of("http://public.example", netip.MustParseAddrPort(addr)), " "); got != want {
			t.Errorf("a listener at %s is called %s; want %s", addr, got, want)
		}
	}
}

func TestOwnURLsHaveOneCanonicalForm(t *testing.T) {
	t.Parallel()
	n := &Names{}
	if got := n.Canonical("http://localhost:5337/x"); got != "http://localhost:5337/x" {
		t.Errorf("without a listener the URL became %s", got)
	}
	n.Set(Of("http://127.0.0.1:5337", netip.MustParseAddrPort("127.0.0.1:5337")))
	for raw, want := range map[string]string{
		"http://localhost:5337/x?y=z":  "http://127.0.0.1:5337/x?y=z",
		"http://LOCALHOST:5337/x":      "http://127.0.0.1:5337/x",
		"http://localhost.:05337/x":    "http://127.0.0.1:5337/x",
		"http://a@localhost:5337/x":    "http://a@localhost:5337/x",
		"http://localhost:5337\\a/x":   "http://localhost:5337\\a/x",
		"http://localhost:5337":        "http://127.0.0.1:5337",
		"http://127.0.0.1:5337/x":      "http://127.0.0.1:5337/x",
		"http://[::1]:5337/x":          "http://[::1]:5337/x", // the listener does not accept IPv6
		"http://localhost:53370/x":     "http://localhost:53370/x",
		"http://localhost:5337.test/x": "http://localhost:5337.test/x",
		"https://localhost:5337/x":     "https://localhost:5337/x",
		"http://localhost:5338/x":      "http://localhost:5338/x", // the port of the operator's listener
		"http://feeds.example/x":       "http://feeds.example/x",
		"":                             "",
	} {
		if got := n.Canonical(raw); got != want {
			t.Errorf("%s became %s; want %s", raw, got, want)
		}
	}
	if got := n.Of("http://localhost:5337/x"); len(got) != 2 || got[0] != "http://127.0.0.1:5337/x" || got[1] != "http://localhost:5337/x" {
		t.Errorf("the names are %v", got)
	}
	n.Set([]string{"https://public.example", "http://public.example"})
	for raw, want := range map[string]string{
		"https://public.example:443/x":    "https://public.example/x",
		"HTTP://PUBLIC.example:80?x":      "https://public.example?x",
		"http://public.example:443/x":     "http://public.example:443/x",
		"https://public.example.test:443": "https://public.example.test:443",
	} {
		if got := n.Canonical(raw); got != want {
			t.Errorf("%s became %s; want %s", raw, got, want)
		}
	}
	if got := n.Of("http://feeds.example/x"); got != nil {
		t.Errorf("a feed elsewhere has the names %v", got)
	}
}
