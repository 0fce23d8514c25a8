package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFastEscapeScanMatchesTheByteLoopAtEveryOffset compares the code that checks many bytes at once with a
// check of one byte at a time.
func TestFastEscapeScanMatchesTheByteLoopAtEveryOffset(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 8, 9, 31, 40, 63, 64, 65, 100, 127, 128, 135, 200} {
		for at := range n {
			for c := range 256 {
				b := []byte(strings.Repeat("<b>~ \n", 40)[:n])
				b[at] = byte(c)
				if at+2 < n && at%3 == 0 { // add a byte whose result depends on the byte before
					b[at+1] = '\n'
				}
				s := string(b)
				if got, want := fitsCDATA(s), holdsAsItIs(s); got != want {
					t.Fatalf("a section holds %q: %v, want %v", s, got, want)
				}
				for _, in := range []byte{inText, inAttr} {
					plain := true
					for i := range n {
						plain = plain && s[i] < utf8.RuneSelf && specials[s[i]]&in == 0
					}
					if got := isPlain(s, in); got != plain {
						t.Fatalf("%q is plain (%d): %v, want %v", s, in, got, plain)
					}
				}
			}
		}
	}
}

func holdsAsItIs(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\n' && s[i] != '\t' {
			return false
		}
	}
	return strings.Contains(s, "<") && utf8.ValidString(s) && !strings.Contains(s, "]]>") && !strings.ContainsAny(s, "\uFFFE\uFFFF")
}

func TestURLIsEscapedOnlyIfItContainsAByteThatNeedsEscaping(t *testing.T) {
	t.Parallel()
	const plain = "https://a.example/a~b_c/?d=e&f"
	for at := len("https://a"); at < len(plain); at++ {
		for c := range 256 {
			s := plain[:at] + string([]byte{byte(c)}) + plain[at+1:]
			if got, want := plainWeb(s), addressBytes[c] != 0; got != want {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
		}
	}
}
