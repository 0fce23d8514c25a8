package publishhttp

import (
	"slices"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/protocol/metaweblog"
)

func TestEditorsSeeGroupsAsCategories(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	if _, err := (author.Groups{Posts: w.posts}).AddGroup(ctx, "alice", author.Group{Name: "Family"}); err != nil {
		t.Fatal(err)
	}
	is := func(what, id string, state author.State, groups ...string) {
		t.Helper()
		if p := w.saved(t, id); p.State != state || !slices.Equal(p.Groups, groups) {
			t.Errorf("%s: the post is %s for %q", what, p.State, p.Groups)
		}
	}
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Categories: []string{"Tea", "private:family"}, Publish: new(true)}))
	is("a category names the group", id, author.ForGroups, "family")
	if p := must[metaweblog.Post](t)(c.Post(ctx, id)); !slices.Equal(p.Categories, []string{"Tea", "private:family"}) || p.Status != metaweblog.StatusPrivate {
		t.Errorf("read back: %q, %q", p.Categories, p.Status)
	}
	if all := must[[]metaweblog.Category](t)(c.Categories(ctx)); !slices.ContainsFunc(all, func(c metaweblog.Category) bool { return c.Name == "private:family" }) {
		t.Errorf("the list of categories is %+v", all)
	}
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Description: new("y"), Publish: new(true)}))
	is("an edit of the text", id, author.ForGroups, "family")
	ok(t, c.SetPostCategories(ctx, id, "tea"))
	is("categories without a group", id, author.ForGroups, "family")
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Categories: []string{"Tea"}, Publish: new(true)}))
	is("an edit that names no group", id, author.Published)
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Status: metaweblog.StatusPrivate}))
	is("the status private", id, author.ForGroups, author.DefaultGroup)
}
