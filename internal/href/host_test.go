package href

import (
	"net/url"
	"testing"
)

func TestEquivalentHostNamesNormalizeToOneForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, hostPort, origin string
		spellings              []string
	}{
		{"feeds.example", "feeds.example", "http://feeds.example", []string{
			"http://feeds.example", "http://feeds.example/", "http://feeds.example/a?b#c", "http://feeds.example?x=http://other.example",
			"http://feeds.example:80/", "http://feeds.example:080/", "http://feeds.example:/", "http://feeds.example./a", "http://feeds.example..:80",
			"HTTP://FEEDS.Example/", "hTTp://FeEdS.eXaMpLe:80/", "http://user:pa@ss@feeds.example/", "http://feeds.example/@other.example",
			"http://%66eeds.example/", "http://%46EEDS%2Eexample/", "http://ｆｅｅｄｓ.example/", "http://feeds。example/", "http://feeds．example:80/",
			`http://feeds.example\@other.example/`,
		}},
		{"feeds.example", "feeds.example:8080", "http://feeds.example:8080", []string{
			"http://feeds.example:8080", "http://feeds.example:8080/", "http://FEEDS.example.:08080/?x",
		}},
		{"feeds.example", "feeds.example", "https://feeds.example", []string{"https://feeds.example", "https://feeds.example:443/x", "HTTPS://Feeds.Example.:443"}},
		{"feeds.example", "feeds.example:80", "https://feeds.example:80", []string{"https://feeds.example:80/", "https://feeds.example.:80/"}},
		{"xn--mnchen-3ya.example", "xn--mnchen-3ya.example", "http://xn--mnchen-3ya.example", []string{
			"http://münchen.example/", "http://MÜNCHEN.example:80/", "http://m%C3%BCnchen.example/", "http://XN--mnchen-3ya.example./", "http://mu\u0308nchen.example/",
		}},
		{"192.0.2.7", "192.0.2.7", "http://192.0.2.7", []string{
			"http://192.0.2.7/", "http://192.0.2.7:80/", "http://192.0.2.7./", "http://[::ffff:192.0.2.7]/", "http://[::FFFF:c000:207]:80/",
			"http://[0:0:0:0:0:ffff:c000:0207]/", "http://１９２.0.2.7/",
		}},
		{"[2001:db8::1]", "[2001:db8::1]:8443", "https://[2001:db8::1]:8443", []string{
			"https://[2001:db8::1]:8443/", "https://[2001:DB8:0:0:0:0:0:1]:8443", "https://[2001:0db8::0001]:08443/", "https://[2001:db8::1%25eth0]:8443/",
		}},
		{"[2001:db8::1]", "[2001:db8::1]", "http://[2001:db8::1]", []string{"http://[2001:db8::1]/", "http://[2001:db8::1]:80/", "http://[2001:db8:0::1]:/"}},
		{"a_b.example", "a_b.example", "http://a_b.example", []string{"http://a_b.example/", "http://A_B.example:80/"}},
		{"", "", "", []string{"", "feeds.example", "/path", "mailto:a@feeds.example", "http://", "http:///path", "http://:80/", "https://."}},
	} {
		for _, raw := range c.spellings {
			if got := Host(raw); got != c.host {
				t.Errorf("the host of %s is %q, want %q", raw, got, c.host)
			}
			if got := HostPort(raw); got != c.hostPort {
				t.Errorf("host and port of %s are %q, want %q", raw, got, c.hostPort)
			}
			if got := Origin(raw); got != c.origin {
				t.Errorf("the origin of %s is %q, want %q", raw, got, c.origin)
			}
		}
	}
}

func TestOriginOfANormalizedURLDoesNotAllocate(t *testing.T) {
	for _, raw := range []string{"http://feeds.example/a", "https://feeds.example:8443/a?b", "http://127.0.0.1:5337"} {
		if n := testing.AllocsPerRun(100, func() { _ = Origin(raw) }); n != 0 {
			t.Errorf("%s: %v allocations", raw, n)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	for _, raw := range []string{"http://feeds.example:8080/a", "HTTPS://[::ffff:1.2.3.4]:443/", "http://münchen.example./", "http://%66eeds.example:080?x"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return // only http and https have limits per host
		}
		origin := Origin(raw)
		if Host(raw) == "" {
			return
		}
		if again := Origin(origin); again != origin {
			t.Errorf("the origin of %q is %q, and the origin of that is %q", raw, origin, again)
		}
		if scheme, _, _ := splitHost(raw); origin != scheme+"://"+HostPort(raw) {
			t.Errorf("the origin of %q is %q", raw, origin)
		}
	})
}
