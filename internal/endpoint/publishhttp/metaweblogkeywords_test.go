package publishhttp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/protocol/metaweblog"
)

// TestKeywordsAreKeptWhenEditorsSetCategories makes the same calls in the same order as MarsEdit
// and clients of Movable Type: the post, its categories, the post again.
func TestKeywordsAreKeptWhenEditorsSetCategories(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	id, err := c.NewPost(ctx, metaweblog.Edit{Title: new("T"), Description: new("text"), Categories: []string{"ideas"}, Keywords: []string{"a", "b"}})
	ok(t, err)
	check := func(when string, categories, keywords, all []string) {
		t.Helper()
		p := must[metaweblog.Post](t)(c.Post(ctx, id))
		if d := cmp.Diff([][]string{categories, keywords, all}, [][]string{p.Categories, p.Keywords, w.saved(t, id).Categories}); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	check("new post", []string{"ideas"}, []string{"a", "b"}, []string{"ideas", "a", "b"})
	ok(t, c.SetPostCategories(ctx, id, "plans"))
	check("other categories", []string{"plans"}, []string{"a", "b"}, []string{"plans", "a", "b"})
	if list := must[[]metaweblog.Category](t)(c.PostCategories(ctx, id)); len(list) != 1 || list[0].Name != "plans" {
		t.Errorf("mt.getPostCategories: %+v", list)
	}
	ok(t, c.EditPost(ctx, id, must[metaweblog.Post](t)(c.Post(ctx, id)).Edit()))
	check("post sent back", []string{"plans"}, []string{"a", "b"}, []string{"plans", "a", "b"})
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Title: new("U")}))
	check("title changed", []string{"plans"}, []string{"a", "b"}, []string{"plans", "a", "b"})
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Keywords: []string{"b"}}))
	check("fewer keywords", []string{"plans"}, []string{"b"}, []string{"plans", "b"})
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Keywords: []string{}}))
	check("no keywords", []string{"plans"}, []string{}, []string{"plans"})
}
