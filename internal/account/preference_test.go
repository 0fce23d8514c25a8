package account

import "testing"

func TestPreferencesSurviveEncoding(t *testing.T) {
	t.Parallel()
	for _, p := range []Preferences{{}, {Theme: "sepia", OnScroll: true}, {Density: "titles", Text: "huge", Font: "serif", Width: "broad", Oldest: true, NoMarks: true, NoCounts: true}} {
		if back := DecodePreferences(p.Encode()); back != p {
			t.Errorf("%q became %+v, want %+v", p.Encode(), back, p)
		}
	}
}

func TestUnknownPreferencesAreDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Preferences{
		"": {}, "{": {}, "[1]": {}, `{"theme":"green","text":"large"}`: {Text: "large"}, `{"theme":7}`: {}, `{"font":"serif","later":true}`: {Font: "serif"},
	} {
		if got := DecodePreferences(text); got != want {
			t.Errorf("%s became %+v, want %+v", text, got, want)
		}
	}
}
