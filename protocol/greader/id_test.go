package greader_test

import (
	"strings"
	"testing"

	"cloudburst/protocol/greader"
)

func TestItemIDIsParsedInEveryForm(t *testing.T) {
	t.Parallel()
	const id = 1705042807944417 // a number of Unix microseconds, as some servers use
	for _, s := range []string{
		"1705042807944417", " 1705042807944417\n", "tag:google.com,2005:reader/item/00060eba36e4f4e1", "00060eba36e4f4e1", "60eba36e4f4e1",
		"60EBA36E4F4E1", "tag:google.com,2005:reader/item/60eba36e4f4e1", "reader/item/00060eba36e4f4e1",
	} {
		if got, err := greader.ParseItemID(s); err != nil || got != id {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
	if got := greader.ItemID(id).Long(); got != "tag:google.com,2005:reader/item/00060eba36e4f4e1" {
		t.Error(got)
	}
	for _, s := range []string{"", "0", "-1", "+1", "x", "1_0", "0x1", "ffffffffffffffff", "99999999999999999999", "tag:google.com,2005:reader/item/", "tag:google.com,2005:reader/item/0", "1 2"} {
		if got, err := greader.ParseItemID(s); err == nil {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestStreamIDIsParsedForAnyUser(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]greader.Stream{
		"": {}, "reading-list": {}, "user/-/state/com.google/reading-list": {}, "user/1234/state/com.google/reading-list": {},
		"user/alice/state/com.google/starred": greader.State("starred"), "starred": greader.State("starred"),
		"user/-/label/Tech/Go & so": greader.Label("Tech/Go & so"), "user/alice/label/ü": greader.Label("ü"),
		"feed/12": greader.Feed("12"), "feed/http://x.example/a?b": greader.Feed("http://x.example/a?b"),
		"feed/http:/x.example/a": greader.Feed("http://x.example/a"), "feed/https:/x.example/": greader.Feed("https://x.example/"),
	} {
		if got, err := greader.ParseStream(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"feed/", "user/-/label/", "user/-", "user", "user/-/state/com.google/", "user/-/state/com.google/A B", "label/x", "FEED", "feed/" + strings.Repeat("x", 5000)} {
		if s == "user" {
			continue // the text is not the name of a special state
		}
		if got, err := greader.ParseStream(s); err == nil {
			t.Errorf("%q: %+v", s, got)
		}
	}
}

func FuzzItemID(f *testing.F) {
	for _, s := range []string{"1705042807944417", "tag:google.com,2005:reader/item/00060eba36e4f4e1", "60eba36e4f4e1", "0", "-1", "ffffffffffffffff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := greader.ParseItemID(s)
		if err != nil {
			return
		}
		for _, form := range []string{id.String(), id.Long()} {
			if again, err := greader.ParseItemID(form); err != nil || again != id || id <= 0 {
				t.Errorf("%q is %d, and %q is %d, %v", s, id, form, again, err)
			}
		}
	})
}

func FuzzStreamID(f *testing.F) {
	for _, s := range []string{"", "feed/12", "feed/http:/x", "user/-/label/a/b", "user/x/state/com.google/read", "starred"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		stream, err := greader.ParseStream(s)
		if err != nil {
			return
		}
		if again, err := greader.ParseStream(stream.String()); err != nil || again != stream {
			t.Errorf("%q is %+v, and then %+v, %v", s, stream, again, err)
		}
	})
}
