package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"cloudburst/internal/fulltest"
)

func TestTextReturnsReadableTextWithoutMarkup(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", " a  b\n": "a b", "a b": "a b", "é": "é", " ": "",
		"<p>a</p><p>b</p>":                           "a b",
		"<b>a</b>b<i>c</i>":                          "abc",
		"a<br>b<hr>c<wbr>d":                          "a b cd",
		"a &amp; b &lt;c&gt; &eacute;&nbsp;d":        "a & b <c> é d",
		"<ul><li>a<li>b</ul>":                        "a b",
		"<td>a</td><td>b</td>":                       "a b",
		"a<script>b</script>c<style>d</style>e":      "a c e",
		"a<script/>b":                                "a b",
		"a<!-- b -->c":                               "ac",
		"<title>a</title>b":                          "a b",
		"a<noscript><p>b</p></noscript>c":            "a b c",
		"1 < 2":                                      "1 < 2",
		"a<img alt=b>c":                              "a c",
		"a<iframe>b</iframe><template>c</template>d": "a b d",
		"a<b": "a",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// sameText checks that fastText and slowText return the same.
func sameText(t *testing.T, s string) (taken bool) {
	t.Helper()
	got, ok := fastText(s)
	if want := slowText(s); ok && got != want {
		t.Fatalf("%q\n fast %q\n slow %q", s, got, want)
	}
	if got, want := collapse(s), strings.Join(strings.Fields(s), " "); got != want {
		t.Fatalf("%q\n collapsed %q\n want      %q", s, got, want)
	}
	return ok
}

func TestFastPathOfTextMatchesSlowPath(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	posts := fulltest.Size(4000, 400)
	sameText(t, "<b>a\xe2</b>\x80\xa8b") // a tag splits the bytes of a line separator
	taken := 0
	for range posts {
		s := post(r)
		if sameText(t, s) {
			taken++
		}
		sameText(t, mutated(r, s))
	}
	if taken < posts/4 {
		t.Errorf("the fast path accepted only %d of %d posts", taken, posts)
	}
}

func TestEveryUnicodeWhiteSpaceSeparatesWords(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := "a" + string(r) + "b"
		if got, want := collapse(s) == "a b", unicode.IsSpace(r); got != want {
			t.Errorf("U+%04X: %v, want %v", r, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range attacks(f) {
		f.Add(s)
	}
	for in := range nested() {
		f.Add(in)
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		f.Add(post(r))
	}
	f.Fuzz(func(t *testing.T, s string) { sameText(t, s) })
}

func TestTextOfPageLeavesOutNavigation(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<html><head><title>T</title></head><body><nav>Menu</nav><main class=x><h1>Not found</h1><p>Why</p></main><footer>F</footer>`: "Not found Why",
		`<title>T</title><body><header><a href="/">Menu</a></header><h1>Not found</h1><p>Why</p>`:                                     "Not found Why",
		`<HTML><HEAD><TITLE>T</TITLE></HEAD><BODY><MAIN><P>Why</P></MAIN></BODY></HTML>`:                                              "Why",
		`<html><title>T</title><body><p>Why</p><maintenance>x</maintenance></body>`:                                                   "Why x",
		`<html><title>T</title><body><script>x()</script></body>`:                                                                     "T",
		`<title>T</title></main><main>Why</main><main>x</main>`:                                                                       "Why",
		`<title>T</title>`: "T",
		`<p>Why</p>`:       "Why",
		"":                 "",
	} {
		if got := PageText(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
