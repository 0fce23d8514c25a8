package author_test

import (
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
)

// In the feed of all users, a guid that a user has chosen must not equal the guid of another user's
// post, because feed readers would replace that post.
func TestFeedOfAllUsersHasUniqueGUIDs(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		own := d.post("Hers.")
		other := author.Post{State: author.Published, GUID: own.GUID, PermaLink: true, PublishedAt: own.PublishedAt}
		other.Source = "His."
		other.Outline = []author.Node{{Text: "within", GUID: own.GUID}}
		if n, err := d.Import(d.ctx, "bob", []author.Post{other}, nil); n != 1 || err != nil {
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
		var visit func([]feed.Item)
		visit = func(items []feed.Item) {
			for _, it := range items {
				if seen[it.ID] {
					t.Errorf("two items have the guid %s", it.ID)
				}
				seen[it.ID] = true
				visit(it.Items)
			}
		}
		visit(f.Items)
		if !seen[own.GUID] || len(seen) != 3 {
			t.Errorf("the guids are %v", seen)
		}
	})
}

// Data of an item for which a post has no field is stored with the post. The size of this data is
// limited.
func TestUnknownElementsOfAPostAreBoundedInSize(t *testing.T) {
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
				t.Errorf("%s: %v, Rest stored: %v", guid, err, p.Rest != nil)
			}
		}
	})
}
