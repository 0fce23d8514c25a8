package web

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
)

// After each change, a page from the caches must equal the page of a server with empty caches.
func TestCachedRiverIsNeverStale(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	warm := x.pages
	look := func(path, zone, language string) string {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Accept-Language", language)
		if zone != "" {
			r.Header.Set("Cookie", "tz="+zone)
		}
		rec := x.do(r)
		if rec.Code != 200 {
			t.Fatalf("%s: %d", path, rec.Code)
		}
		return rec.Body.String()
	}
	paths := []string{"/river", "/river?category=Weblogs", "/river?unread=1", "/river?starred=1", "/river?q=snow"}
	seen := map[string]string{}
	same := func(change string, changes ...string) {
		t.Helper()
		for zone, language := range map[string]string{"": "en", "330": "en", "0": "de"} {
			for _, path := range paths {
				x.pages = warm
				got := look(path, zone, language)
				x.rebuild()
				if want := look(path, zone, language); got != want {
					t.Errorf("after %s, %s is not that of an empty cache:\n%s\n%s", change, path, got, want)
				}
				if zone == "" {
					for _, changed := range changes {
						if path == changed && seen[path] == got {
							t.Errorf("%s does not show %s", path, change)
						}
					}
					seen[path] = got
				}
			}
		}
		x.pages = warm
	}
	same("the start")
	b := x.fakeRiver
	id := func(n int) string { return strconv.FormatInt(b.items[n].ID, 10) }
	_ = x.send("/river/mark", "read", id(0))
	same("a read mark", "/river", "/river?unread=1")
	_ = x.send("/river/mark", "star", id(0))
	same("a star", "/river", "/river?starred=1")
	_ = x.send("/river/mark", "unread", id(0), "unstar", id(0))
	same("marks taken back", "/river", "/river?starred=1", "/river?unread=1")

	src := b.items[0].SourceID
	change := func(do func(f *river.Followed)) {
		b.mu.Lock()
		defer b.mu.Unlock()
		f := b.subs["alice"][src]
		do(&f)
		b.subs["alice"][src] = f
	}
	change(func(f *river.Followed) { f.Title = "Script <renamed> by the user" })
	same("another name of a feed", "/river")
	change(func(f *river.Followed) { f.Source.About.Icon = "https://icon.example/new.png" })
	same("another icon", "/river")

	edited := b.items[0]
	edited.Title, edited.HTML, edited.EditedAt = "Edited", "<p>Another text, with snow.</p>", b.now()
	b.arrive(edited)
	same("an edit", "/river", "/river?q=snow")
	gone := b.items[0]
	gone.WithdrawnAt = b.now()
	b.arrive(gone)
	same("an item that its feed removed", "/river")
	b.arrive(river.Item{SourceID: src, GUID: "new", Content: river.Content{Title: "A new item", HTML: "<p>snow</p>"}})
	same("a new item", "/river", "/river?unread=1", "/river?q=snow")

	for _, d := range []time.Duration{time.Second, time.Minute, time.Hour, 36 * time.Hour, 9 * 24 * time.Hour} {
		x.fake.now = x.fake.now.Add(d)
		same("a wait of "+d.String(), "/river")
	}
	for _, fields := range [][]string{{"marks", "1"}, {"counts", "1"}, {"density", "titles", "marks", "1", "counts", "1"}, {"theme", "sepia", "order", "oldest"}, {"marks", "1", "counts", "1"}} {
		_ = x.send("/river/display", fields...)
		same("display settings "+strings.Join(fields, " "), "/river")
	}
	x.as("bob")
	paths = []string{"/river"}
	same("another user")
}
