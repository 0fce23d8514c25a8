package authortest

import (
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

// grouped makes the change render the private feeds from the titles.
func (e *env) grouped(w author.Writing) author.Writing {
	w.MakeGroup = func(wr author.Writer, slug string, newest []author.Post) (author.Saving, error) {
		var titles []string
		for _, p := range newest {
			titles = append(titles, p.Title)
		}
		return e.saving(wr.User, author.GroupFeed(slug), slug+": "+strings.Join(titles, " ")), nil
	}
	return w
}

func forGroups(slugs ...string) func(*author.Post) {
	return func(p *author.Post) { p.State, p.Groups, p.Slug = author.ForGroups, slugs, "" }
}

// groupFeed returns the private feed of a group, or "" if there is none.
func (e *env) groupFeed(t *testing.T, slug string) string {
	t.Helper()
	_, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.GroupFeed(slug))
	if fault.CodeOf(err) == fault.NotFound {
		return ""
	}
	storetest.Must(t, err)
	return string(doc)
}

// postPrivate changes a post from public to private and back.
func postPrivate(t *testing.T, e *env) {
	e.wrote(t, e.grouped(e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title, p.Categories = author.Published, "Public", []string{"x"} }))))
	before := e.writer(t, "alice")
	w := e.grouped(e.made(e.writing("alice", 0, func(p *author.Post) {
		p.Title, p.Categories, p.PublishedAt = "Secret", []string{"x", "hidden"}, e.Now
		forGroups("family", "work")(p)
	})))
	done := e.wrote(t, w)
	storetest.Same(t, "the rebuilt feeds", len(done.Groups), 2)
	storetest.Same(t, "the public feed did not change", done.Changed, false)
	after := e.writer(t, "alice")
	storetest.Same(t, "the counts of the writer", []int64{after.Posts, after.Version, after.LastSeq}, []int64{before.Posts, before.Version, before.LastSeq})
	private := func(family, work string) {
		t.Helper()
		storetest.Same(t, "family", e.groupFeed(t, "family"), family)
		storetest.Same(t, "work", e.groupFeed(t, "work"), work)
	}
	public := func(want string) {
		t.Helper()
		storetest.Same(t, "the public feed", e.documentOf(t, "alice"), want)
		for _, q := range []author.PostQuery{{User: "alice", State: author.Published}, {State: author.Published}, {User: "alice", FromSeq: 1}} {
			got := strings.Fields(e.titles(t, q))
			storetest.Same(t, "listed", len(got), len(strings.Fields(want)))
		}
	}
	public("Public")
	private("family: Secret", "work: Secret")
	storetest.Same(t, "the categories", e.counts(t, "alice", author.ByCategory, ""), []string{"x x 1"})
	storetest.Same(t, "private posts", e.titles(t, author.PostQuery{User: "alice", State: author.ForGroups}), "Secret")
	storetest.Same(t, "all posts of the author", len(strings.Fields(e.titles(t, author.PostQuery{User: "alice"}))), 2)

	e.wrote(t, e.grouped(e.made(e.writing("alice", 2, func(p *author.Post) { p.Groups = []string{"work"} }))))
	private("family: ", "work: Secret")
	e.wrote(t, e.grouped(e.made(e.writing("alice", 2, func(p *author.Post) { p.State, p.Groups, p.Seq, p.Slug = author.Published, nil, 2, "secret" }))))
	public("Secret Public")
	private("family: ", "work: ")
	storetest.Same(t, "the categories", e.counts(t, "alice", author.ByCategory, ""), []string{"hidden hidden 1", "x x 2"})
	e.wrote(t, e.grouped(e.made(e.writing("alice", 2, func(p *author.Post) { p.State, p.Groups = author.ForGroups, []string{"family"} }))))
	public("Public")
	private("family: Secret", "work: ")
	if _, err := e.posts(t).PostBySlug(e.Ctx, "alice", "secret"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a private post is found by its slug: %v", err)
	}
	e.wrote(t, e.grouped(e.made(e.writing("alice", 2, func(p *author.Post) { p.State = author.Deleted }))))
	private("family: ", "work: ")
}

// groupDocument checks that posts do not replace a private feed that the user uploaded.
func groupDocument(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Private, "uploaded"))
	w := e.grouped(e.made(e.writing("alice", 0, func(p *author.Post) { p.Title = "Secret"; forGroups(author.DefaultGroup)(p) })))
	if _, err := e.posts(t).WritePost(e.Ctx, w); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a post for an uploaded feed: %v", err)
	}
	storetest.Same(t, "the feed", e.groupFeed(t, author.DefaultGroup), "uploaded")
	storetest.Same(t, "nothing is stored", e.titles(t, author.PostQuery{User: "alice"}), "")
}

// filePrivate checks which posts make a file private.
func filePrivate(t *testing.T, e *env) {
	f := e.keep(t, "alice", "an image")
	use := func(p *author.Post) { p.Source = "![](/alice/media/" + f.Hash[:16] + "/x.png)" }
	is := func(what string, want bool) {
		t.Helper()
		got, err := e.files(t).File(e.Ctx, "alice", f.Hash)
		storetest.Must(t, err)
		storetest.Same(t, what, got.Private, want)
	}
	is("unused", false)
	secret := e.wrote(t, e.grouped(e.writing("alice", 0, func(p *author.Post) { p.Title = "Secret"; use(p); forGroups("family")(p) }))).Post
	is("used by a private post", true)
	for slug, want := range map[string]bool{"family": true, "work": false} {
		used, err := e.files(t).FileInGroup(e.Ctx, "alice", slug, f.Hash)
		storetest.Must(t, err)
		storetest.Same(t, slug, used, want)
	}
	public := e.publish(t, "alice", "Public", use)
	is("used by a public post too", false)
	e.wrote(t, e.writing("alice", public.ID, func(p *author.Post) { p.State = author.Deleted }))
	is("after the public post is deleted", true)
	e.wrote(t, e.grouped(e.writing("alice", secret.ID, func(p *author.Post) { p.State = author.Deleted })))
	is("after the private post is deleted", true)
	e.wrote(t, e.grouped(e.writing("alice", secret.ID, func(p *author.Post) { p.State, p.Groups = author.Published, nil })))
	is("after the post became public", false)
	e.wrote(t, e.grouped(e.writing("alice", secret.ID, forGroups("family"))))
	is("after the post became private", true)
	_, err := e.posts(t).SetProfile(e.Ctx, "alice", func(p *author.Profile) error { p.Avatar = "/alice/media/" + f.Hash[:16] + "/x.png"; return nil })
	storetest.Must(t, err)
	is("as the image of the profile", false)
	setProfile := func(image string) {
		t.Helper()
		_, err := e.posts(t).SetProfile(e.Ctx, "alice", func(p *author.Profile) error { p.Avatar = image; return nil })
		storetest.Must(t, err)
	}
	setProfile("")
	is("after the profile has no image", true)
	fileOfSite(t, e, "/alice/media/"+f.Hash[:16]+"/x.png", is)
}

// fileOfSite checks that a file of a private post is public while a page or style sheet links to
// it.
func fileOfSite(t *testing.T, e *env, path string, is func(what string, want bool)) {
	s, ok := e.Store.(author.SiteStore)
	if !ok {
		t.Fatal("the store is not an author.SiteStore")
	}
	page := author.Page{User: "alice", Slug: "about", Title: "About", UpdatedAt: e.Now}
	put := func(source, was string) {
		t.Helper()
		page.Source = source
		storetest.Must(t, s.PutAuthorPage(e.Ctx, page, was, 9))
	}
	put("without a file", "")
	is("a page without it", true)
	put("![]("+path+")", "about")
	is("a page with it", false)
	e.wrote(t, e.grouped(e.writing("alice", 0, func(p *author.Post) { p.Title = "Again"; p.Source = path; forGroups("work")(p) })))
	is("another private post", false)
	put("without a file", "about")
	is("removed from the page", true)
	put(path, "about")
	storetest.Must(t, s.DeleteAuthorPage(e.Ctx, "alice", "about"))
	is("after the page is deleted", true)
	storetest.Must(t, s.PutAuthorStyle(e.Ctx, author.Style{User: "alice", Hash: "h1", Source: "a { background: url(" + path + ") }", CSS: "a{}"}))
	is("in a style sheet", false)
	storetest.Must(t, s.KeepAuthorStyles(e.Ctx, "alice", []string{"other"}))
	is("after the style sheet is deleted", true)
}
