package authortest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

// documentOf returns the public feed of a user.
func (e *env) documentOf(t *testing.T, user string) string {
	t.Helper()
	_, doc, err := e.author(t).SavedDocument(e.Ctx, user, author.Public)
	storetest.Must(t, err)
	return string(doc)
}

func postWindow(t *testing.T, e *env) {
	for n, want := range []string{"P1", "P2 P1", "P3 P2 P1", "P4 P3 P2 P1", "P5 P4 P3 P2 P1", "P6 P5 P4", "P7 P6 P5 P4", "P8 P7 P6 P5 P4", "P9 P8 P7"} {
		w := e.made(e.writing("alice", 0, func(p *author.Post) {
			p.State, p.Title, p.PublishedAt = author.Published, fmt.Sprint("P", n+1), e.In(time.Duration(n)*time.Second)
		}))
		done := e.wrote(t, w)
		storetest.Same(t, fmt.Sprint("the feed of ", n+1), e.documentOf(t, "alice"), want)
		storetest.Same(t, "the writer", done.Writer, author.Writer{User: "alice", Version: int64(n + 1), Written: true, Posts: int64(n + 1), LastSeq: int64(n + 1)})
		storetest.Same(t, "the writer as stored", e.writer(t, "alice"), done.Writer)
		storetest.Same(t, "the feed", []any{done.Changed, done.Feed.Version}, []any{true, int64(n + 1)})
		f, err := e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
		storetest.Must(t, err)
		storetest.Same(t, "the stored feed", done.Feed, f)
	}
	e.wrote(t, e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title, p.PublishedAt = author.Published, "Old", e.In(-time.Hour) })))
	storetest.Same(t, "one of an older date, published last", e.documentOf(t, "alice"), "P9 P8 P7 Old")
	e.wrote(t, e.made(e.writing("alice", 9, func(p *author.Post) { p.State = author.Deleted })))
	storetest.Same(t, "the feed without one", e.documentOf(t, "alice"), "P8 P7 Old")
	e.wrote(t, e.made(e.writing("alice", 8, func(p *author.Post) { p.State = author.Draft })))
	storetest.Same(t, "without another, down to a whole page", e.documentOf(t, "alice"), "P7 P6 P5 P4 Old")
}

func postHoles(t *testing.T, e *env) {
	for n := range 20 {
		e.publish(t, "alice", fmt.Sprint("P", n+1))
	}
	for _, id := range []int64{19, 18, 17, 16, 15, 13} {
		e.wrote(t, e.made(e.writing("alice", id, func(p *author.Post) { p.State = author.Deleted })))
		oldest := int64(100)
		w := e.writing("alice", 0, nil)
		w.Change = nil
		w.Make = func(_ author.Writer, newest []author.Post) (author.Saving, error) {
			for _, p := range newest {
				oldest = min(oldest, p.Seq)
			}
			if len(newest) < 3 || len(newest) > 5 {
				t.Errorf("%d posts in the feed", len(newest))
			}
			return e.saving("alice", author.Public, fmt.Sprint(id)), nil
		}
		e.wrote(t, w)
		page := (oldest - 1) / 3 // number of complete archive pages before the oldest post of the feed
		before, err := e.posts(t).Posts(e.Ctx, author.PostQuery{User: "alice", FromSeq: page*3 + 1, ToSeq: oldest - 1})
		storetest.Must(t, err)
		storetest.Same(t, "posts between the feed and the archive", len(before), 0)
	}
}

func postWritten(t *testing.T, e *env) {
	save := e.saving("alice", author.Public, "mine")
	e.saved(t, save)
	storetest.Same(t, "written", e.writer(t, "alice").Written, false)
	w := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, "One" }))
	change := w.Change
	w.Change = func(now author.Post, found bool, was *author.Post, wr author.Writer, free func(string) (string, error)) (*author.Post, *author.Post, error) {
		storetest.Same(t, "Written as passed to Change", wr.Written, false)
		return change(now, found, was, wr, free)
	}
	done := e.wrote(t, w)
	storetest.Same(t, "written", []any{done.Writer.Written, done.Feed.Version, e.writer(t, "alice").Written}, []any{true, int64(2), true})
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.Title = "Two" }))
	storetest.Same(t, "written by a change that makes no feed", []any{e.writer(t, "alice").Written, e.documentOf(t, "alice")}, []any{true, "One"})
	e.saved(t, e.saving("alice", author.Private, "of another name"))
	storetest.Same(t, "written, though the private feed was saved", e.writer(t, "alice").Written, true)
	_, changed, err := e.author(t).SaveDocument(e.Ctx, e.saving("alice", author.Public, "One"))
	storetest.Must(t, err)
	storetest.Same(t, "written after the same was saved by hand", []any{changed, e.writer(t, "alice").Written}, []any{false, false})
	w.ID, w.Change = 1, change
	done = e.wrote(t, w)
	storetest.Same(t, "written again, the same bytes", []any{done.Changed, done.Writer.Written, e.writer(t, "alice").Written}, []any{false, true, true})
	e.saved(t, save)
	storetest.Same(t, "written after a document was saved", e.writer(t, "alice").Written, false)
}

func postNotAllowed(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "mine"))
	_, err := e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{MovedTo: "https://example.com/"})
	storetest.Must(t, err)
	no := errors.New("it has moved")
	w := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, "One" }))
	make := w.Make
	w.Make = func(wr author.Writer, newest []author.Post) (author.Saving, error) {
		s, err := make(wr, newest)
		s.User, s.Name = "bob", author.Private // values that Make cannot set
		s.Allow = func(now author.Feed) error {
			storetest.Same(t, "the feed that is looked at", []any{now.User, now.Name, now.MovedTo}, []any{"alice", author.Public, "https://example.com/"})
			return no
		}
		return s, err
	}
	if _, err := e.posts(t).WritePost(e.Ctx, w); !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	storetest.Same(t, "the document", e.documentOf(t, "alice"), "mine")
	_, err = e.posts(t).Post(e.Ctx, "alice", 1)
	storetest.WantFault(t, err, fault.NotFound)
}

func postSameFeed(t *testing.T, e *env) {
	w := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, "One" }))
	e.wrote(t, w)
	_, err := e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{Gone: true})
	storetest.Must(t, err)
	w.ID = 1
	done := e.wrote(t, w)
	storetest.Same(t, "a change that does not show", []any{done.Changed, done.Feed.Version, done.Feed.Gone, done.Writer.Version, done.Post.Revision},
		[]any{false, int64(1), false, int64(2), int64(2)})
	f, err := e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the stored feed", f, done.Feed)
}

func postRerender(t *testing.T, e *env) {
	e.publish(t, "alice", "One")
	w := e.made(author.Writing{User: "alice", At: e.Now, Window: 3})
	done := e.wrote(t, w)
	storetest.Same(t, "written", []any{done.Post, done.Found, done.Changed, done.Writer.Version, e.documentOf(t, "alice")}, []any{author.Post{}, false, true, int64(2), "One"})
	done = e.wrote(t, e.made(author.Writing{User: "bob", At: e.Now}))
	storetest.Same(t, "a user without posts", []any{done.Changed, done.Writer}, []any{true, author.Writer{User: "bob", Version: 1, Written: true}})
}

func postRenumber(t *testing.T, e *env) {
	for n, hour := range []int{5, 3, 3, 1, 4} {
		e.publish(t, "alice", fmt.Sprint("P", n+1), at(e.In(time.Duration(hour)*time.Hour)))
	}
	e.publish(t, "bob", "Other")
	e.wrote(t, e.writing("alice", 5, func(p *author.Post) { p.State = author.Deleted }))
	w := e.made(author.Writing{User: "alice", At: e.Now, Window: 3, Renumber: true})
	storetest.Same(t, "places", e.wrote(t, w).Writer.LastSeq, int64(4))
	places := map[int64]int64{}
	for id := int64(1); id <= 4; id++ {
		places[id] = e.postAt(t, "alice", id).Seq
	}
	storetest.Same(t, "by date and id", places, map[int64]int64{4: 1, 2: 2, 3: 3, 1: 4})
	storetest.Same(t, "the feed", e.documentOf(t, "alice"), "P1 P3 P2 P4")
	storetest.Same(t, "of one that is gone", e.postAt(t, "alice", 5).Seq, int64(0))
	storetest.Same(t, "the next", e.publish(t, "alice", "P6").Seq, int64(5))
	w = e.writing("alice", 6, func(p *author.Post) { p.PublishedAt = e.In(time.Hour / 2) })
	w.Renumber = true
	done := e.wrote(t, w)
	storetest.Same(t, "with a change", []any{done.Post.Seq, e.postAt(t, "alice", 6), done.Writer.LastSeq}, []any{int64(1), done.Post, int64(5)})
}

func postProfile(t *testing.T, e *env) {
	storetest.Same(t, "a user without posts", e.writer(t, "alice"), author.Writer{User: "alice"})
	want := author.Profile{Title: "日本'\"☂", Blurb: "b", Link: "https://example.com/", Language: "de-CH", Accent: "#123456", Avatar: "/a.png", Theme: "dark", PingTargets: []string{"weblogs http://127.0.0.1/"}}
	w, err := e.posts(t).SetProfile(e.Ctx, "alice", func(p *author.Profile) error {
		storetest.Same(t, "before", *p, author.Profile{})
		*p = want
		return nil
	})
	storetest.Must(t, err)
	storetest.Same(t, "the writer", w, author.Writer{User: "alice", Version: 1, Profile: want})
	storetest.Same(t, "the writer as stored", e.writer(t, "alice"), w)
	no := errors.New("no")
	_, err = e.posts(t).SetProfile(e.Ctx, "alice", func(p *author.Profile) error {
		p.Title = "other"
		return no
	})
	if !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	storetest.Same(t, "after one that was refused", e.writer(t, "alice"), w)
	e.publish(t, "alice", "One")
	storetest.Same(t, "after a post", e.writer(t, "alice"), author.Writer{User: "alice", Version: 2, Posts: 1, LastSeq: 1, Profile: want})
	w, err = e.posts(t).SetProfile(e.Ctx, "bob", func(*author.Profile) error { return nil })
	storetest.Must(t, err)
	storetest.Same(t, "of another user", w, author.Writer{User: "bob", Version: 1})
}

func postStamps(t *testing.T, e *env) {
	last := map[string]int64{}
	grew := func(what string, names ...string) {
		t.Helper()
		for _, name := range []string{"", "alice", "bob", "/x", "alice/x", "bob/x", "alice/y"} {
			user, category, _ := cutName(name)
			now, should := e.stamp(t, user, category), contains(names, name)
			if grown := now > last[name]; grown != should || now < last[name] {
				t.Errorf("%s: %q went from %d to %d", what, name, last[name], now)
			}
			last[name] = now
		}
	}
	grew("nothing")
	e.publish(t, "alice", "One", in("X"))
	grew("a post", "", "alice", "/x", "alice/x")
	storetest.Same(t, "a stamp", last["alice"], e.Now.UnixMicro())
	e.publish(t, "bob", "One", in("x"))
	grew("another user's, at the same time", "", "bob", "/x", "bob/x")
	e.Now = e.In(-time.Hour)
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.Title = "Two" }))
	grew("an edit after the clock went back", "", "alice", "/x", "alice/x")
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.Categories = []string{"Y"} }))
	grew("another category", "", "alice", "/x", "alice/x", "alice/y")
	e.wrote(t, e.writing("alice", 0, func(p *author.Post) { p.Categories = []string{"x"} }))
	grew("a draft")
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.State = author.Deleted }))
	grew("a deletion", "", "alice", "alice/y")
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.Title = "deleted" }))
	grew("a change of a deleted post")
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.In(24*time.Hour), e.In(24*time.Hour)))
	grew("a sweep")
	_, err := e.posts(t).AddPosts(e.Ctx, "bob", e.Now, []author.Post{{State: author.Published, PublishedAt: e.Now, Content: author.Content{Categories: []string{"x"}}}})
	storetest.Must(t, err)
	grew("added posts", "", "bob", "/x", "bob/x")
	_, err = e.posts(t).SetProfile(e.Ctx, "bob", func(*author.Profile) error { return nil })
	storetest.Must(t, err)
	grew("a profile", "", "bob")
}
