package href

import "testing"

func TestUsualSpellingAllocatesNothingForUsualURLs(t *testing.T) {
	const usual = "https://example.org/a/long/path/of/a/feed/rss.xml?format=rss"
	for url, want := range map[string]string{
		usual: "", "https://example.org:443/a": "https://example.org/a", "HTTP://Example.org?q": "http://example.org?q", "http://example.org": "", "urn:a": "",
		"http://example.org/f\u00e9?q=\u00e9": "http://example.org/f%C3%A9?q=%C3%A9", "http://example.org/f%c3%A9%zz%": "http://example.org/f%C3%A9%25zz%25",
		"http://example.org/f%C3%A9": "", "HTTP://example.org/%7e": "http://example.org/~",
		"http://example.org/%61?%7E&a[]=1|2": "http://example.org/a?~&a%5B%5D=1%7C2", "http://example.org/a%2fb?c%26d#e": "http://example.org/a%2Fb?c%26d#e",
		"http://example.org/a/b?c&d": "", "http://example.org/%%34%31%4": "http://example.org/%2541%254",
	} {
		if got := UsualSpelling(url); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		} else if again := UsualSpelling(got); again != "" {
			t.Errorf("%s: %q became %q", url, got, again)
		}
	}
	if n := testing.AllocsPerRun(10, func() { UsualSpelling(usual) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
