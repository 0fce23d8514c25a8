package publishhttp

import (
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

func TestEditorsReceiveTheWishedSlugOfADraft(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Slug: new("My words"), Publish: new(false)}))
	p := must[metaweblog.Post](t)(c.Post(ctx, id))
	if p.Slug != "my-words" {
		t.Errorf("the slug of the draft is %q", p.Slug)
	}
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Slug: new(""), Publish: new(true)}))
	if p = must[metaweblog.Post](t)(c.Post(ctx, id)); p.Slug != "my-words" {
		t.Errorf("published, the slug is %q", p.Slug)
	}
}

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
	if err := c.EditPost(ctx, id, metaweblog.Edit{Status: metaweblog.StatusPublish}); !isFault(err, xmlrpc.CodeParams) || !strings.Contains(err.Error(), groupPrefix+author.DefaultGroup) {
		t.Errorf("the status publish of a private post: %v", err)
	}
	is("the status publish", id, author.ForGroups, author.DefaultGroup)
	if err := c.Publish(ctx, id); !isFault(err, xmlrpc.CodeParams) || !strings.Contains(err.Error(), groupPrefix+author.DefaultGroup) {
		t.Errorf("publication of a private post: %v", err)
	}
	draft := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Categories: []string{"private:family"}, Publish: new(false)}))
	ok(t, c.EditPost(ctx, draft, metaweblog.Edit{Status: metaweblog.StatusPublish}))
	is("the status publish of a draft for a group", draft, author.ForGroups, "family")
	ok(t, c.EditPost(ctx, draft, metaweblog.Edit{Status: metaweblog.StatusPublish, Categories: []string{"private:family"}}))
	is("the status publish with the group", draft, author.ForGroups, "family")
	ok(t, c.EditPost(ctx, draft, metaweblog.Edit{Status: metaweblog.StatusPublish, Categories: []string{}}))
	is("the status publish without a group", draft, author.Published)
}
