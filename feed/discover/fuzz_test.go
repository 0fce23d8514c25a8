package discover

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkLinks checks the properties of every result whose document has a URL.
func checkLinks(t *testing.T, r Result) {
	t.Helper()
	seen := map[string]bool{}
	last := 0
	for i, l := range r.Links {
		u, err := url.Parse(l.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
			t.Errorf("%q cannot be fetched (%v)", l.URL, err)
			continue
		}
		if seen[l.URL] {
			t.Errorf("duplicate URL %q", l.URL)
		}
		seen[l.URL] = true
		if again, ok := parseURL(nil, l.URL); !ok || again.String() != l.URL {
			t.Errorf("%q is not normalized", l.URL)
		}
		if !utf8.ValidString(l.Title) || utf8.RuneCountInString(l.Title) > maxTitle || strings.ContainsAny(l.Title, "\n\t\x00\x1b") {
			t.Errorf("invalid title %q", l.Title)
		}
		if l.Kind == "" || l.From == "" {
			t.Errorf("link %d has no Kind or no From: %+v", i, l)
		}
		if l.rank() < last {
			t.Errorf("link %d follows links of lower rank", i)
		}
		last = l.rank()
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<base href="/x"><link rel="alternate" type="application/rss+xml" href="a b"><a href=feed://x.example/rss>RSS</a>`))
	f.Add([]byte(`<rss version="2.0"><channel><title>T</title><item/></channel></rss>`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","title":"T"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r := HTML(doc, "https://a.example/x", nil)
		if len(r.Links) > maxLinks+maxGuess+1 {
			t.Errorf("%d links", len(r.Links))
		}
		checkLinks(t, r)
		if r.Format != Sniff(doc, "") {
			t.Errorf("HTML detects %q, Sniff detects %q", r.Format, Sniff(doc, ""))
		}
		HTML(doc, "", nil)
	})
}
