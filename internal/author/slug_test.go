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
