package sqlite

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// FuzzSearch checks with the real database that no search text is a syntax error.
func FuzzSearch(f *testing.F) {
	s, err := Open(f.Context(), Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	const url = "http://127.0.0.1/feed.xml"
	now := time.UnixMilli(1_790_000_000_000).UTC()
	id := river.SourceID(url)
	src := river.Source{ID: id, URL: url}
	if _, err := s.RiverSubscribe(f.Context(), []river.Addition{{Subscription: river.Subscription{SourceID: id}, Source: src}}, now, 1); err != nil {
		f.Fatal(err)
	}
	if src, err = s.ClaimSource(f.Context(), id, now, now.Add(time.Minute), 1); err != nil {
		f.Fatal(err)
	}
	it := river.Item{ID: 1, Seq: 1, At: now, Content: river.Content{Title: "one two", Text: "three"}}
	if ok, err := s.SaveCheck(f.Context(), river.Saved{Source: src, Put: []river.Item{it}, Now: now}); err != nil || !ok {
		f.Fatal(ok, err)
	}
	if _, err := s.IndexItems(f.Context(), 10); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Items(t.Context(), river.ItemQuery{Match: text}); err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	})
}
