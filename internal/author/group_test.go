package author

import (
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// Programs identify a feed by its ID, which contains no secret.
func TestPrivateFeedsOfAnAuthorHaveDifferentIDs(t *testing.T) {
	t.Parallel()
	p := &Posts{Origin: func() string { return "http://a.example" }, Feeds: &Feeds{Store: &memory{}}}
	w := Writer{User: "alice", Profile: Profile{Groups: []Group{{Slug: "family", Name: "Family"}, {Slug: "work", Name: "Work"}}}}
	for slug, want := range map[string]string{
		DefaultGroup: "http://a.example/alice/#private", "family": "http://a.example/alice/#private-family", "work": "http://a.example/alice/#private-work",
	} {
		saved, err := groupDocument(p, "alice")(w, slug, nil)
		must(t, err)
		rss, err := feed.ParseBytes(saved.Bytes, nil)
		must(t, err)
		for _, format := range []string{"atom", "rdf"} {
			doc, _, err := render.Append(nil, rss, format, &render.Options{Self: "http://a.example/private/topic/x/feed"})
			must(t, err)
			f, err := feed.ParseBytes(doc, nil)
			must(t, err)
			if f.ID != want {
				t.Errorf("%s: the ID of %s is %q, want %q", format, slug, f.ID, want)
			}
		}
	}
}
