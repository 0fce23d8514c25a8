package account

import (
	"fmt"
	"strings"
	"testing"
)

func TestPreferencesSurviveEncodingRoundTrip(t *testing.T) {
	t.Parallel()
	for _, p := range []Preferences{{}, {Theme: "sepia", OnScroll: true}, {Density: "titles", Text: "huge", Font: "serif", Width: "broad", Oldest: true, NoMarks: true, NoCounts: true}, {Searches: "q=rain\nq=%22two+words%22&category=Weblogs"}} {
		if back := DecodePreferences(p.Encode()); back != p {
			t.Errorf("%q became %+v, want %+v", p.Encode(), back, p)
		}
	}
}

func TestNumberOfSavedSearchesIsLimited(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range MaxSearches {
		lines = append(lines, fmt.Sprint("q=", i, strings.Repeat("\"", MaxSearch-10)))
	}
	full := strings.Join(lines, "\n")
	for name, c := range map[string]struct{ in, want string }{
		"as many and as long as allowed": {full, full},
		"one more":                       {full + "\nq=more", full},
		"twice the same, and none":       {"q=a\n\nq=a\nq=b\n", "q=a\nq=b"},
		"a long one":                     {"q=" + strings.Repeat("x", MaxSearch) + "\nq=b", "q=b"},
	} {
		if got := DecodePreferences(Preferences{Searches: c.in}.Encode()).Searches; got != c.want {
			t.Errorf("%s: %d bytes are kept, not %d", name, len(got), len(c.want))
		}
	}
}

func TestUnknownPreferencesAreReplacedByDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Preferences{
		"": {}, "{": {}, "[1]": {}, `{"theme":"green","text":"large"}`: {Text: "large"}, `{"theme":7}`: {}, `{"font":"serif","later":true}`: {Font: "serif"},
	} {
		if got := DecodePreferences(text); got != want {
			t.Errorf("%s became %+v, want %+v", text, got, want)
		}
	}
}
