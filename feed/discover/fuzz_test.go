package discover

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkLinks holds what is true of every result whose document has an address.
func checkLinks(t *testing.T, r Result) {
	t.Helper()
	seen := map[string]bool{}
	last := 0
	for i, l := range r.Links {
		u, err := url.Parse(l.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
			t.Errorf("%q is no address that a reader can fetch (%v)", l.URL, err)
			continue
		}
		if seen[l.URL] {
			t.Errorf("%q comes twice", l.URL)
		}
		seen[l.URL] = true
		if again, ok := parseURL(nil, l.URL); !ok || again.String() != l.URL {
			t.Errorf("%q is not in its final spelling", l.URL)
		}
		if !utf8.ValidString(l.Title) || utf8.RuneCountInString(l.Title) > maxTitle || strings.ContainsAny(l.Title, "\n\t\x00\x1b") {
			t.Errorf("%q is no title", l.Title)
		}
		if l.Kind == "" || l.From == "" {
			t.Errorf("link %d is of no kind or from nowhere: %+v", i, l)
		}
		if l.rank() < last {
			t.Errorf("link %d stands behind weaker ones", i)
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
			t.Errorf("a %q by HTML and a %q by Sniff", r.Format, Sniff(doc, ""))
		}
		HTML(doc, "", nil)
	})
}
