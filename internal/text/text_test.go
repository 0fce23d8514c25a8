package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextsAreTruncatedAndControlCharactersRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, got, want string }{
		{"a text that fits", Clip("feed", 4), "feed"},
		{"a long text", Clip("feeds", 4), "feed…"},
		{"half a character", Clip("née", 2), "n…"},
		{"invalid bytes in what is cut", Clip("a\xffbcd", 3), "ab…"},
		{"characters that fit", ClipRunes("née", 3), "née"},
		{"too many characters", ClipRunes("année", 4), "ann…"},
		{"a head that fits", Head("née", 4), "née"},
		{"a head", Head("née", 2), "n"},
		{"a head of nothing", Head("é", 1), ""},
		{"one", Plural(1, "line"), "1 line"},
		{"none", Plural(0, "line"), "0 lines"},
		{"many", Plural(1204, "line"), "1204 lines"},
		{"three digits", Thousands(999), "999"},
		{"four digits", Thousands(1204), "1,204"},
		{"seven digits", Thousands(-1234567), "-1,234,567"},
		{"three digits below 0", Thousands(-123), "-123"},
		{"a host", Host("https://News.Example:8080/rss?x"), "News.Example:8080"},
		{"a host without its port", Hostname("https://News.Example:8080/rss?x"), "News.Example"},
		{"no URL", Host("http://a b/"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestIDOfAURLNeverChanges(t *testing.T) {
	t.Parallel()
	// Databases contain the IDs: another number would mean another feed.
	if got := ID("https://example.com/rss"); got != 773837732802784172 {
		t.Errorf("got %d", got)
	}
	if ID("a") == ID("b") || ID("") <= 0 {
		t.Error("two texts have one ID, or one is not positive")
	}
}

func FuzzClip(f *testing.F) {
	f.Add("née", 2)
	f.Add("a\xff…", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 1 || limit > 1<<10 {
			return
		}
		if got := Clip(s, limit); len(s) > limit && (!utf8.ValidString(got) || len(got) > limit+len("…") || !strings.HasSuffix(got, "…")) {
			t.Errorf("Clip(%q, %d) is %q", s, limit, got)
		}
		if got := ClipRunes(s, limit); utf8.RuneCountInString(got) > limit {
			t.Errorf("ClipRunes(%q, %d) is %q", s, limit, got)
		}
		if got := Head(s, limit); !strings.HasPrefix(s, got) || len(got) > limit || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Head(%q, %d) is %q", s, limit, got)
		}
	})
}

func TestFastPathOfPlainLineMatchesSlowPath(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "é", "日", " ", "  ", "\t", "\u00a0", "\u200b", "\ufeff", "\u202e", "\x7f", "\u0085", "\xff", "\ufffd", "\x00", "-"}
	for i := range len(parts) * len(parts) * len(parts) {
		s := parts[i%len(parts)] + parts[i/len(parts)%len(parts)] + parts[i/len(parts)/len(parts)]
		if got, want := PlainLine(s), PlainLine(" "+s); got != want {
			t.Errorf("%q becomes %q, and %q after a space", s, got, want)
		}
	}
}
