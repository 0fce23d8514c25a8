package transfer

import (
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestImportRestoresPagesStyleAndPinnedPost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	f := from.image("alice", 10)
	_, err := from.posts.SetProfile(ctx, "alice", func(p *author.Profile) error {
		p.Page.Design, p.Page.Header, p.Page.Links = "journal", from.files.Path(f), []author.Link{{Title: "Elsewhere", URL: "https://else.example/"}}
		return nil
	}, "test")
	var post author.Post
	if err == nil {
		post, err = from.posts.Save(ctx, author.Edit{User: "alice", To: author.Published, NoUndo: true, Change: func(c *author.Content) error {
			c.Source = "At the top"
			return nil
		}})
	}
	if err == nil {
		err = from.site.Pin(ctx, "alice", post.ID, "test")
	}
	if err == nil {
		_, err = from.site.SavePage(ctx, author.Page{User: "alice", Slug: "about", Title: "About", Source: "![me](" + from.files.Path(f) + ")", Place: 3, InMenu: true}, "")
	}
	if err == nil {
		_, err = from.site.SetLook(ctx, "alice", author.Look{Design: "journal"}, "h1 { background: url("+from.files.Path(f)+") }", false, "test")
	}
	if err == nil {
		_, err = to.posts.Save(ctx, author.Edit{User: "bob", To: author.Published, NoUndo: true, Change: func(c *author.Content) error {
			c.Source = "An own post, so that numbers differ"
			return nil
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := from.export("alice")
	for range 2 { // the second import changes nothing
		if res := to.mustImport("bob", file); len(res.Problems) > 0 {
			t.Error(res.Problems)
		}
	}
	p, err := to.site.Page(ctx, "bob", "about")
	if err != nil || p.Title != "About" || p.Place != 3 || !p.InMenu || !strings.Contains(p.Source, "(/bob/media/") {
		t.Errorf("%+v, %v", p, err)
	}
	w, err := to.posts.Writer(ctx, "bob")
	if err != nil || w.Page.Design != "journal" || !strings.HasPrefix(w.Page.Header, "/bob/media/") || len(w.Page.Links) != 1 {
		t.Errorf("%+v, %v", w.Page, err)
	}
	if css, err := to.site.StyleSource(ctx, "bob", w.Look()); err != nil || !strings.Contains(css, "/bob/media/") {
		t.Errorf("the style sheet is %q, %v", css, err)
	}
	if pinned, err := to.posts.Get(ctx, "bob", w.Page.Pinned); err != nil || pinned.Source != "At the top" {
		t.Errorf("the pinned post is %+v, %v", pinned, err)
	}
}
