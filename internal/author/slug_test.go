package author_test

import (
	"testing"
	"time"

	"cloudburst/internal/author"
)

func TestPostWithoutADateHasNoPath(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for want, p := range map[string]author.Post{
		"/alice/2026/11/22/hello":           {Slug: "hello", PublishedAt: at},
		"/alice/2026/11/22/gr%C3%BC%C3%9Fe": {Slug: "grüße", PublishedAt: at},
		"":                                  {Slug: "hello", State: author.Draft},
	} {
		p.User = "alice"
		if got := author.PathOf(p); got != want {
			t.Errorf("%+v is at %q, want %q", p, got, want)
		}
	}
	if got := author.PathOf(author.Post{User: "alice", Slug: "hello", PublishedAt: at, State: author.ForGroups}); got != "" {
		t.Errorf("a private post is at %q", got)
	}
}

func TestSlugOfAPathDoesNotDependOnItsDate(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"/alice/2026/11/22/hello":           {"alice", "hello"},
		"/alice/1999/01/01/gr%C3%BC%C3%9Fe": {"alice", "grüße"},
		"/alice/2026/13/22/hello":           {}, "/alice/2026/11/hello": {}, "/alice/2026/11/22/hello/": {}, "/alice/2026/11/22/": {}, "//2026/11/22/hello": {},
		"https://a.example/2026/11/22/hello": {}, "/alice/2026/11/22/%zz": {}, "": {},
	} {
		user, slug, ok := author.SlugAt(path)
		if ok != (want[0] != "") || ok && (user != want[0] || slug != want[1]) {
			t.Errorf("%q has the slug %q of %q, %v", path, slug, user, ok)
		}
	}
}

func TestWishedSlugOfADraftIsKeptUntilPublication(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.post("first")
		for name, edits := range map[string][]author.Edit{
			"draft":               {{To: author.Draft, Slug: "A Draft"}, {To: author.Published}},
			"draft, edited":       {{To: author.Draft, Slug: "other"}, {Slug: "A Draft"}, {Slug: "a-draft"}, {To: author.Published}},
			"draft, at last":      {{To: author.Draft, Slug: "other"}, {To: author.Published, Slug: "A Draft"}},
			"published, as draft": {{To: author.Published, Slug: "A Draft"}, {To: author.Draft, Slug: "other"}, {To: author.Published}},
		} {
			var p author.Post
			for i, e := range edits {
				e.User, e.ID = "alice", p.ID
				if i == 0 {
					e.Change = write(name).Change
				}
				p = d.must(d.Save(d.ctx, e))
				if p.State == author.Draft && i == 0 && (p.Slug != "" || p.SlugWish == "") {
					t.Errorf("%s: the draft has the slug %q, the wish is %q", name, p.Slug, p.SlugWish)
				}
			}
			if p.Slug != "a-draft" || p.SlugWish != "" {
				t.Errorf("%s: the slug is %q, the wish is %q", name, p.Slug, p.SlugWish)
			}
			d.must(d.Delete(d.ctx, "alice", p.ID, 0, "test"))
			d.sleep(31 * 24 * time.Hour)
			if err := d.Sweep(d.ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestWishedSlugOfAScheduledPostIsUsedAtItsTime(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		e := write("later")
		e.At, e.Slug = time.Now().Add(time.Hour), "wished"
		p := d.must(d.Save(d.ctx, e))
		d.sleep(time.Hour)
		if n, err := d.PublishDue(d.ctx); n != 1 || err != nil {
			t.Fatalf("%d published, %v", n, err)
		}
		if p = d.must(d.Get(d.ctx, "alice", p.ID)); p.Slug != "wished" {
			t.Errorf("the slug is %q", p.Slug)
		}
	})
}
