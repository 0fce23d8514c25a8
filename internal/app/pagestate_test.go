package app

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

// page returns the status, headers and body of a page. Add an unknown query such as ?new to the
// path to bypass the cache of pages.
func (v *visitor) page(path string) (status int, h http.Header, body string) {
	v.t.Helper()
	res, err := v.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

// TestCachedPagesAreNeverStaleAndContainNoPrivatePosts compares each cached page with a newly
// rendered one after each change. An anonymous client requests the page after the author and
// another user have requested it.
func TestCachedPagesAreNeverStaleAndContainNoPrivatePosts(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	ctx := t.Context()
	save := func(user, text, to string) author.Post {
		p, err := s.posts.Save(ctx, author.Edit{User: user, To: author.Published, Via: "test", Change: func(c *author.Content) error {
			if c.Source, c.Categories = text, []string{"Go"}; to != "" {
				c.Reply = &author.Reply{URL: to}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := save("alice", "First", "")
	at := s.posts.Path(first)
	day := first.PublishedAt.UTC().Format("/2006/01/02/")
	paths := []string{"/alice/", at, "/alice" + day, "/alice" + day[:6], "/alice/archive/", "/alice/category/", "/alice/category/go/", "/alice/formats", "/alice/about",
		"/alice/search", "/everyone/", "/alice" + day + "title-" + hiddenWord, "/alice/none", "/eve/"}
	visitors := []*visitor{s.visitor("alice"), s.visitor("eve"), s.visitor("")}
	anonymous := visitors[2]
	seen := map[string]string{}
	same := func(change string, changed ...string) {
		t.Helper()
		for _, path := range paths {
			for range 2 { // the second response comes from the cache
				for _, v := range visitors {
					status, h, body := v.page(path)
					want, wantHeader, fresh := v.page(path + "?new")
					if status != want || body != fresh {
						t.Errorf("after %s, %s is not a new page: %d and %d\n%s\n%s", change, path, status, want, body, fresh)
					}
					for _, name := range []string{"Cache-Control", "Content-Language", "Content-Security-Policy", "Content-Type", "Link"} {
						if h.Get(name) != wantHeader.Get(name) {
							t.Errorf("after %s, %s has %s: %q, want %q", change, path, name, h.Get(name), wantHeader.Get(name))
						}
					}
					tag := ""
					if user, _, _ := strings.Cut(path[1:], "/"); status == http.StatusOK && user != author.Everyone && h.Get("Cache-Control") == "no-cache" {
						tag = "author-" + user
					}
					if got := h.Get("Cache-Tag"); got != tag {
						t.Errorf("after %s, %s has the Cache-Tag %q, want %q", change, path, got, tag)
					}
					if v == anonymous && (strings.Contains(body, hiddenWord) || strings.Contains(body, "Your river")) {
						t.Errorf("after %s, %s shows private data:\n%s", change, path, body)
					}
				}
			}
			_, _, body := anonymous.page(path)
			if slices.Contains(changed, path) && seen[path] == body {
				t.Errorf("%s does not show %s", path, change)
			}
			seen[path] = body
		}
	}
	done := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	same("the start")
	second := save("alice", "Second", "")
	same("a post", "/alice/", at, "/alice/archive/", "/alice/category/", "/everyone/")
	save("eve", "A reply", s.names.Public()+at)
	same("a reply", at, "/eve/")
	_, err := s.posts.SetProfile(ctx, "eve", func(p *author.Profile) error { p.Name = "Eve of the Weir"; return nil }, "test")
	done(err)
	same("another name of the reply's author", at, "/eve/")
	done(s.accounts.Disable(ctx, "eve", true))
	visitors[1] = s.visitor("")
	same("a disabled user", at, "/eve/")
	done(s.accounts.Disable(ctx, "eve", false))
	same("an enabled user", at, "/eve/")
	_, err = s.posts.SetProfile(ctx, "alice", func(p *author.Profile) error { p.Title = "Another title"; return nil }, "test")
	done(err)
	same("another title", "/alice/", at, "/alice/archive/", "/alice/formats", "/alice/search")
	_, err = s.authorSite.SavePage(ctx, author.Page{User: "alice", Slug: "about", Title: "About", Source: "Me", InMenu: true}, "")
	done(err)
	same("a page of the site", "/alice/", at, "/alice/about")
	done(s.authorSite.Pin(ctx, "alice", first.ID, "test"))
	same("a pinned post", "/alice/")
	_, err = s.authorSite.SetLook(ctx, "alice", author.Look{}, "p { color: red }", false, "test")
	done(err)
	same("a style sheet", "/alice/", at)
	_, err = s.posts.Delete(ctx, "alice", second.ID, 0, "test")
	done(err)
	same("a deleted post", "/alice/", at)
	_, err = s.posts.Undo(ctx, "alice", second.ID, "test")
	done(err)
	same("an undone deletion", "/alice/", at)
	s.save(s.post.ID, "family", "work")
	same("another group of a private post")
	done(s.authorSite.DeletePage(ctx, "alice", "about"))
	same("a deleted page of the site", "/alice/", "/alice/about")
	_, err = s.posts.Delete(context.WithoutCancel(ctx), "alice", first.ID, 0, "test")
	done(err)
	same("the deletion of the pinned post", "/alice/", at)
	for name, n := range map[string]int64{"hits": s.pageCache.Hits.Load(), "misses": s.pageCache.Misses.Load(), "pages": s.pageCache.Values.Load(), "bytes": s.pageCache.Bytes.Load()} {
		if n <= 0 {
			t.Errorf("the metrics count %d %s of the page cache", n, name)
		}
	}
}
