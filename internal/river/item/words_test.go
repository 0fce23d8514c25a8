package item

import "testing"

func TestFastURLParserMatchesSlowParser(t *testing.T) {
	t.Parallel()
	parts := []string{"", "http://", "https://", "HTTP://", "a.example", "a", "-", ".", "/", "//", "?", "#", ":", "@", "%", "%41", "%zz", "[", "]", "\\", "\"", "<", "'", "*", "é", "\n", "x=1&y=2", "user:pw@", ":80", "+"}
	for _, begin := range parts {
		for i := range len(parts) * len(parts) * len(parts) {
			raw := begin + parts[i%len(parts)] + parts[i/len(parts)%len(parts)] + parts[i/len(parts)/len(parts)]
			// The space before the URL makes WebURL parse it instead of using the fast path.
			if got, want := WebURL(raw), WebURL(" "+raw); got != want {
				t.Fatalf("%q becomes %q, and %q after a space", raw, got, want)
			}
		}
	}
}
