package content

import (
	"strings"
	"testing"

	"cloudburst/internal/river/search"
	"cloudburst/internal/sanitize"
)

func TestSearchWordsAreHighlightedInTextOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ match, in, want string }{
		{"rain", "<p>Rain, rainy rain.</p>", "<p><mark>Rain</mark>, <mark>rainy</mark> <mark>rain</mark>.</p>"},
		{`"rain"`, "Rain, rainy", "<mark>Rain</mark>, rainy"},
		{"cafe", "Das Café und das CAFE\u0301.", "Das <mark>Café</mark> und das <mark>CAFE\u0301</mark>."},
		{`"two words"`, "two, words; two other words", "<mark>two, words</mark>; two other words"},
		{"two wor", "words of two", "<mark>words</mark> of <mark>two</mark>"},
		{"rain -snow", "rain and snow", "<mark>rain</mark> and snow"},
		{"p", "<p title=\"p\">p</p>", "<p title=\"p\"><mark>p</mark></p>"},
		{"amp", "a &amp; amp &lt;amp&gt;", "a &amp; <mark>amp</mark> &lt;<mark>amp</mark>&gt;"},
		{"href", `<a href="https://a.example/href?x=%3E">href &gt;</a>`, `<a href="https://a.example/href?x=%3E"><mark>href</mark> &gt;</a>`},
		{"東京", "東京タワーと東 京", "<mark>東京</mark>タワーと<mark>東 京</mark>"},
		{"title", "<svg><title>title</title></svg>title", "<svg><title>title</title></svg><mark>title</mark>"},
		{"x", `<img alt="x > y" src="x">x`, `<img alt="x > y" src="x"><mark>x</mark>`},
		{"state-of-the-art", "a state of the art, of state", "a <mark>state of the art</mark>, of state"},
		{"rain", "", ""},
		{"rain", "x < rain", "x < rain"},
	} {
		terms, err := search.Terms(c.match)
		if err != nil {
			t.Fatal(err)
		}
		if got := Highlight(c.in, terms); got != c.want {
			t.Errorf("%s in %s:\n%s, not\n%s", c.match, c.in, got, c.want)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("rain", "<p>Rain &amp; <b>snow</b></p>")
	f.Add("amp lt", `<a href="&amp;">&lt;</a><svg><title>x</title></svg>`)
	f.Fuzz(func(t *testing.T, match, markup string) {
		terms, err := search.Terms(match)
		if err != nil {
			return
		}
		safe := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(sanitize.HTML(markup))
		got := Highlight(safe, terms)
		if back := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(got); back != safe {
			t.Errorf("%q becomes %q", safe, got)
		}
		if again := sanitize.HTML(got); again != sanitize.HTML(again) || sanitize.Text(got) != sanitize.Text(safe) {
			t.Errorf("%q has another text: %q", safe, got)
		}
	})
}
