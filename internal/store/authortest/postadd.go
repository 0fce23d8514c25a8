package authortest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func cutName(name string) (user, category string, ok bool) { return strings.Cut(name, "/") }

func contains(names []string, name string) bool { return slices.Contains(names, name) }

// elsewhere returns a post for AddPosts.
func (e *env) elsewhere(title string, hours int) author.Post {
	return author.Post{User: "somebody", ID: 99, Revision: 7, Seq: 9, State: author.Published, GUID: "guid " + title, Slug: strings.ToLower(title), CreatedAt: e.Now, UpdatedAt: e.Now,
		PublishedAt: e.In(time.Duration(hours) * time.Hour), Content: author.Content{Title: title, Categories: []string{"Old"}}}
}

func postAdded(t *testing.T, e *env) {
	e.publish(t, "alice", "One", func(p *author.Post) { p.GUID = "guid One" })
	e.publish(t, "alice", "Gone", func(p *author.Post) { p.GUID = "guid Gone" })
	e.wrote(t, e.writing("alice", 2, func(p *author.Post) { p.State = author.Deleted }))
	draft := e.elsewhere("Draft", 0)
	draft.State, draft.GUID, draft.Slug, draft.SlugWish = author.Draft, "", "", "wish"
	due := e.elsewhere("Due", 0)
	due.State, due.GUID, due.Slug, due.DueAt, due.PublishedAt = author.Scheduled, "", "", e.In(time.Hour), time.Time{}
	list := []author.Post{e.elsewhere("Two", -2), e.elsewhere("One", -1), e.elsewhere("Two", -3), e.elsewhere("Gone", -3), draft, e.elsewhere("Three", -1000), due}
	n, err := e.posts(t).AddPosts(e.Ctx, "alice", e.Now, list)
	storetest.Must(t, err)
	storetest.Same(t, "added", n, 4)
	storetest.Same(t, "the writer", e.writer(t, "alice"), author.Writer{User: "alice", Version: 4, Posts: 3, LastSeq: 4})
	want := []author.Post{list[0], list[4], list[5], list[6]}
	for i := range want {
		p := &want[i]
		p.User, p.ID, p.Revision, p.Seq = "alice", int64(i+3), 1, []int64{3, 0, 4, 0}[i]
		storetest.Same(t, "added", e.postAt(t, "alice", p.ID), *p)
	}
	storetest.Same(t, "months", e.counts(t, "alice", author.ByMonth, ""), []string{"2026-09 2", "2026-08 1"})
	storetest.Same(t, "categories", e.counts(t, "alice", author.ByCategory, ""), []string{"old Old 2"})
	_, err = e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.WantFault(t, err, fault.NotFound)
	n, err = e.posts(t).AddPosts(e.Ctx, "alice", e.Now, slices.Concat(list[:4], list[5:6]))
	storetest.Must(t, err)
	storetest.Same(t, "added again", n, 0)
	storetest.Same(t, "version after nothing new", e.writer(t, "alice").Version, int64(4))
	_, err = e.posts(t).AddPosts(e.Ctx, "alice", e.Now, make([]author.Post, 1001))
	storetest.WantFault(t, err, fault.Invalid)
	_, err = e.posts(t).AddPosts(e.Ctx, "alice", e.Now, []author.Post{draft})
	storetest.Must(t, err)
	storetest.Same(t, "version after a draft", e.writer(t, "alice").Version, int64(4))
}

func postAddedNames(t *testing.T, e *env) {
	e.publish(t, "alice", "One")
	e.publish(t, "alice", "One-2")
	e.publish(t, "alice", "One-70")
	var list []author.Post
	for i := range 140 {
		p := e.elsewhere("One", 0)
		p.GUID = fmt.Sprint(i)
		list = append(list, p)
	}
	list[20].Slug = "one-2"
	n, err := e.posts(t).AddPosts(e.Ctx, "alice", e.Now, list)
	storetest.Must(t, err)
	storetest.Same(t, "added", n, 140)
	slugs := map[string]bool{}
	for id := int64(1); id <= 143; id++ {
		p := e.postAt(t, "alice", id)
		storetest.Same(t, "place", p.Seq, id)
		if p.Slug == "" || slugs[p.Slug] {
			t.Errorf("the slug %q is assigned twice", p.Slug)
		}
		slugs[p.Slug] = true
	}
	if !slugs["one-71"] || !slugs["one-142"] || !slugs["one-2-2"] {
		t.Errorf("the slugs are %v", slugs)
	}
	storetest.Same(t, "the next", e.publish(t, "alice", "New").ID, int64(144))
}

func postSweep(t *testing.T, e *env) {
	e.publish(t, "alice", "One", func(p *author.Post) { p.Key = "k" })
	remove := func(id int64, until time.Time) {
		w := e.writing("alice", id, nil)
		w.Change = func(now author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
			next := now
			next.State, next.UpdatedAt, next.UndoUntil = author.Deleted, e.Now, until
			return &next, &now, nil
		}
		e.wrote(t, w)
	}
	was := func(at time.Time) (there bool) {
		w := e.writing("alice", 1, nil)
		w.At = at
		w.Change = func(_ author.Post, _ bool, was *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
			there = was != nil
			return nil, nil, nil
		}
		e.wrote(t, w)
		return there
	}
	remove(1, e.In(time.Minute))
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.In(time.Minute-time.Millisecond), e.Now))
	storetest.Same(t, "undo state before it expires", was(e.Now), true)
	storetest.Same(t, "until", e.postAt(t, "alice", 1).UndoUntil, e.In(time.Minute))
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.In(time.Minute), e.Now))
	storetest.Same(t, "undo state afterwards", was(e.Now), false)
	storetest.Same(t, "until", e.postAt(t, "alice", 1).UndoUntil, time.Time{})
	version := e.writer(t, "alice")
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.Now, e.In(time.Millisecond)))
	_, err := e.posts(t).Post(e.Ctx, "alice", 1)
	storetest.WantFault(t, err, fault.NotFound)
	storetest.Same(t, "the writer", e.writer(t, "alice"), version)
	storetest.Same(t, "the next id and slug", []any{e.publish(t, "alice", "One").ID, e.postAt(t, "alice", 2).Slug}, []any{int64(2), "one"})
}

func postSweepMany(t *testing.T, e *env) {
	list := make([]author.Post, 1000)
	for i := range list {
		list[i] = author.Post{State: author.Deleted, UpdatedAt: e.Now}
	}
	list[999].State = author.Draft
	_, err := e.posts(t).AddPosts(e.Ctx, "alice", e.Now, list)
	storetest.Must(t, err)
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.Now, e.In(time.Hour)))
	left, err := e.posts(t).Posts(e.Ctx, author.PostQuery{User: "alice", State: author.Deleted})
	storetest.Must(t, err)
	storetest.Same(t, "left", len(left), 0)
	storetest.Same(t, "kept", e.postAt(t, "alice", 1000).State, author.Draft)
}
