package app

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
)

// randomEditor makes random changes to the posts of a user.
type randomEditor struct {
	t    *testing.T
	app  *App
	user string
	rand *rand.Rand
	ids  []int64
	n    int
}

// step makes one random change: it creates, changes, deletes, restores, withdraws or imports posts.
func (h *randomEditor) step() {
	h.t.Helper()
	ctx := h.t.Context()
	var err error
	switch pick := h.rand.IntN(20); {
	case pick < 11 || len(h.ids) == 0:
		h.n++
		e := author.Edit{User: h.user, To: author.Published, Via: "test", Change: func(c *author.Content) error {
			c.Source, c.Categories = fmt.Sprint("post ", h.n), []string{"all", fmt.Sprint("c", h.n%3)}
			return nil
		}}
		if h.rand.IntN(4) == 0 {
			e.At = time.Date(2020, 1, 1+h.rand.IntN(700), 0, 0, 0, 0, time.UTC)
		}
		var p author.Post
		if p, err = h.app.posts.Save(ctx, e); err == nil {
			h.ids = append(h.ids, p.ID)
		}
	case pick < 13:
		_, err = h.app.posts.Save(ctx, author.Edit{User: h.user, ID: h.any(), To: author.Published, Via: "test", Change: func(c *author.Content) error {
			c.Source += "."
			return nil
		}})
	case pick < 17:
		_, err = h.app.posts.Delete(ctx, h.user, h.any(), 0, "test")
	case pick < 18:
		_, _ = h.app.posts.Undo(ctx, h.user, h.any(), "test") // the error is ignored, because there may be nothing to undo
	case pick < 19:
		_, err = h.app.posts.Save(ctx, author.Edit{User: h.user, ID: h.any(), To: author.Draft, Via: "test"})
	default:
		var batch []author.Post
		for range 1 + h.rand.IntN(9) {
			h.n++
			at := time.Date(2019, 1, 1+h.rand.IntN(2000), 0, 0, 0, 0, time.UTC)
			batch = append(batch, author.Post{GUID: fmt.Sprintf("https://old.example/%s/%d", h.user, h.n), PublishedAt: at, Content: author.Content{Source: fmt.Sprint("import ", h.n), Categories: []string{"all"}}})
		}
		_, err = h.app.posts.Import(ctx, h.user, batch, nil)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *randomEditor) any() int64 { return h.ids[h.rand.IntN(len(h.ids))] }

// published returns the GUIDs of all visible posts, newest first.
func (h *randomEditor) published(user, category string) (all []string) {
	h.t.Helper()
	q := author.PostQuery{User: user, State: author.Published, Category: category, Limit: 1000}
	list, err := h.app.posts.List(h.t.Context(), q)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, p := range list {
		all = append(all, p.GUID)
	}
	return all
}

// document fetches and parses a feed of the program.
func document(t *testing.T, address string) *feed.Feed {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feed.ParseBytes(body, &feed.Options{URL: address, Header: res.Header})
	if res.StatusCode != http.StatusOK || err != nil {
		t.Fatalf("%s: %d %v %.300s", address, res.StatusCode, err, body)
	}
	return f
}

func linked(f *feed.Feed, rel string) string {
	for _, l := range f.Links {
		if l.Rel == rel {
			return l.Href
		}
	}
	return ""
}

// walk reads a feed and then the documents that are linked by the relation rel. It returns the IDs
// of all items and calls look for each document.
func walk(t *testing.T, address, rel string, look func(n int, at string, f *feed.Feed)) (ids []string) {
	t.Helper()
	for n := 0; address != ""; n++ {
		if n > 500 {
			t.Fatal("it goes on for ever")
		}
		f := document(t, address)
		look(n, address, f)
		for _, it := range f.Items {
			ids = append(ids, it.ID)
		}
		address = linked(f, rel)
	}
	return ids
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if twice := len(got) - len(slices.Compact(slices.Sorted(slices.Values(got)))); twice > 0 {
		t.Fatalf("%s: %d posts are there twice: %v", what, twice, got)
	}
	if got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Fatalf("%s: found\n%v\nwant\n%v", what, got, want)
	}
}

func TestArchiveLinksReachEveryPublishedPostOnce(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	const window = 4
	a := programWith(t, func(c *config.Config) { c.Feeds.Window = window })
	signUp(t, a, "alice", "bob", "carol")
	var all []*randomEditor
	for i, user := range []string{"alice", "bob", "carol"} {
		all = append(all, &randomEditor{t: t, app: a, user: user, rand: rand.New(rand.NewPCG(uint64(i)+1, 5005))})
	}
	for round := range 12 {
		for _, h := range all {
			for range 6 {
				h.step()
			}
			h.check(round, window)
		}
		everyone := all[0].published("", "")
		same(t, "everyone", walk(t, a.names.Public()+"/everyone/rss.xml", "next", func(int, string, *feed.Feed) {}), everyone)
	}
}

func (h *randomEditor) check(round, window int) {
	h.t.Helper()
	base := h.app.names.Public() + "/" + h.user + "/"
	form := []string{"rss.xml", "feed.atom"}[round%2]
	what := fmt.Sprintf("%s, round %d", h.user, round)
	later := ""
	got := walk(h.t, base+form, "prev-archive", func(n int, at string, f *feed.Feed) {
		if !strings.HasSuffix(at, "/"+form) {
			h.t.Errorf("%s: in %s the archive is in another format: %s", what, form, at)
		}
		if f.Hints.Archive != (n > 0) {
			h.t.Errorf("%s: %s declares itself an archive: %v", what, at, f.Hints.Archive)
		}
		if n == 0 && len(f.Items) >= 2*window {
			h.t.Errorf("%s: the feed has %d posts", what, len(f.Items))
		}
		if n > 0 && (linked(f, "current") != base+form || len(f.Hubs)+len(f.Clouds) > 0) {
			h.t.Errorf("%s: %s names %v, %v, %v", what, at, f.Links, f.Hubs, f.Clouds)
		}
		if n > 1 && linked(f, "next-archive") != later {
			h.t.Errorf("%s: after %s comes %s, and not %s", what, at, linked(f, "next-archive"), later)
		}
		later = at
	})
	same(h.t, what, got, h.published(h.user, ""))
	pages := walk(h.t, base+form+"?page=1", "next", func(n int, at string, f *feed.Feed) {
		if previous := linked(f, "previous"); (previous == "") != (n == 0) {
			h.t.Errorf("%s: before %s comes %s", what, at, previous)
		}
	})
	if want := h.published(h.user, ""); !slices.Equal(pages, want) {
		h.t.Errorf("%s: the pages have\n%v\nwant\n%v", what, pages, want)
	}
	if posts := h.published(h.user, "all"); len(posts) > 0 {
		same(h.t, what+", category", walk(h.t, base+"category/all/"+form, "next", func(int, string, *feed.Feed) {}), posts)
	}
}
