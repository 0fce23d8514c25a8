package author_test

import (
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
)

// In the feed of everyone a guid that somebody chose must not be that of another's post:
// readers would show the one in place of the other.
func TestNobodysPostTakesThePlaceOfAnothersInTheFeedOfEveryone(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		hers := d.post("Hers.")
		his := author.Post{State: author.Published, GUID: hers.GUID, PermaLink: true, PublishedAt: hers.PublishedAt}
		his.Source = "His."
		his.Outline = []author.Node{{Text: "within", GUID: hers.GUID}}
		if n, err := d.Import(d.ctx, "bob", []author.Post{his}, nil); n != 1 || err != nil {
			t.Fatalf("added %d, %v", n, err)
		}
		doc, _, err := d.ViewDocument(d.ctx, author.View{}, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := feed.ParseBytes(doc, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		var look func([]feed.Item)
		look = func(items []feed.Item) {
			for _, it := range items {
				if seen[it.ID] {
					t.Errorf("two items are %s", it.ID)
				}
				seen[it.ID] = true
				look(it.Items)
			}
		}
		look(f.Items)
		if !seen[hers.GUID] || len(seen) != 3 {
			t.Errorf("there are %v", seen)
		}
	})
}

// What nobody has a field for is kept with a post, but not a hundred times as much as a post
// may have.
func TestWhatIsKeptBesideAPostHasABound(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		of := func(guid string, bytes int) author.Post {
			p := author.Post{State: author.Published, GUID: guid}
			p.Source, p.Rest = guid, &feed.Item{More: &feed.More{Comments: strings.Repeat("x", bytes)}}
			return p
		}
		if _, err := d.Import(d.ctx, "alice", []author.Post{of("little", 100), of("much", 2<<20)}, nil); err != nil {
			t.Fatal(err)
		}
		for guid, want := range map[string]bool{"little": true, "much": false} {
			p, err := d.ByKey(d.ctx, "alice", "", guid)
			if err != nil || (p.Rest != nil) != want || p.Source != guid {
				t.Errorf("%s: %v, kept: %v", guid, err, p.Rest != nil)
			}
		}
	})
}
