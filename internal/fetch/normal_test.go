package fetch

import "testing"

func TestEquivalentURLsAreNormalizedToOneForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://example.org":                              "http://example.org/",
		"HTTPS://Example.ORG:443/Feed?A=b#top":            "https://example.org/Feed?A=b",
		"http://example.org:80?x":                         "http://example.org/?x",
		"http://example.org:/a":                           "http://example.org/a",
		"https://example.org:80/":                         "https://example.org:80/",
		"http://me:secret@example.org/a":                  "http://example.org/a",
		"http://bücher.example/ä b?\"é\"":                 "http://xn--bcher-kva.example/%C3%A4%20b?%22%C3%A9%22",
		"http://BÜCHER.example:8080/":                     "http://xn--bcher-kva.example:8080/",
		"http://[2001:DB8:0::1]:8080/x":                   "http://[2001:db8::1]:8080/x",
		"http://[::FFFF:c000:0201]:8080/x":                "http://192.0.2.1:8080/x",
		"http://192.0.2.1/%7euser/%2F":                    "http://192.0.2.1/%7euser/%2F",
		"http://example.org/a//b/../c":                    "http://example.org/a//b/../c",
		"http://example.org./":                            "http://example.org./",
		"ftp://example.org/":                              "",
		"http://":                                         "",
		"http://0x7f.1/":                                  "",
		"http://exam ple.org/":                            "",
		"http://example.org/\x00":                         "",
		"example.org/feed":                                "",
		"http://a@b@example.org/":                         "",
		"http://example.org:0/":                           "",
		"http://[fe80::1%25eth0]/":                        "",
		"http://example.org/a\\b":                         "",
		"http://example.org/caf\xe9":                      "http://example.org/caf%E9",
		"http://xn--bcher-kva.example/already?ok=%C3%A4#": "http://xn--bcher-kva.example/already?ok=%C3%A4",
	} {
		got, err := Normal(raw)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q (%v), not %q", raw, got, err, want)
		}
		if err == nil {
			if again, err := Normal(got); again != got || err != nil {
				t.Errorf("%q became %q, and that %q (%v)", raw, got, again, err)
			}
		} else if KindOf(err) != BadURL {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
