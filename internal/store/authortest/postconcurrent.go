package authortest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// WritersTogether checks concurrent writers, on one store or on two stores that share a database.
// No change of a user is lost, and no ID, place or slug is assigned twice.
func WritersTogether(t *testing.T, a, b hub.Store) {
	const workers, rounds = 6, 12
	e := newEnv(t, a)
	stores := []*env{e, newEnv(t, b)}
	for _, user := range []string{"alice", "bob"} {
		e.publish(t, user, "Counter", func(p *author.Post) { p.Source = "0" })
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			at := &env{&storetest.Case{Store: stores[worker%2].Store, Ctx: context.WithoutCancel(e.Ctx), Now: e.Now}}
			for round := range rounds {
				user := []string{"alice", "bob"}[(worker+round)%2]
				w := at.made(at.writing(user, 0, func(p *author.Post) { p.State, p.Title, p.Categories = author.Published, "Same", []string{"x"} }))
				if _, err := at.posts(t).WritePost(at.Ctx, w); err != nil {
					t.Error(err)
				}
				w = at.made(at.writing(user, 1, func(p *author.Post) { p.Source += "+1" }))
				if _, err := at.posts(t).WritePost(at.Ctx, w); err != nil {
					t.Error(err)
				}
				add := []author.Post{{State: author.Published, GUID: fmt.Sprint("round ", round/2), Slug: "same", PublishedAt: at.Now}}
				if _, err := at.posts(t).AddPosts(at.Ctx, user, at.Now, add); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, user := range []string{"alice", "bob"} {
		e.written(t, user, workers*rounds/2, rounds/2)
	}
	changes := e.writer(t, "alice").Version + e.writer(t, "bob").Version
	newest := max(e.stamp(t, "alice", ""), e.stamp(t, "bob", ""))
	storetest.Same(t, "the stamp of everyone's", e.stamp(t, "", "")-newest, changes)
	storetest.Same(t, "a stamp of one of them", e.stamp(t, "alice", ""), e.Now.UnixMicro()+e.writer(t, "alice").Version-1)
	storetest.Same(t, "everyone's posts", e.counts(t, "", author.ByCategory, ""), []string{fmt.Sprint("x x ", workers*rounds)})
}

// written checks the data of a user after the given numbers of posts, edits and added posts.
func (e *env) written(t *testing.T, user string, posts, added int) {
	t.Helper()
	storetest.Same(t, "edits", strings.Count(e.postAt(t, user, 1).Source, "+1"), posts)
	list, err := e.posts(t).Posts(e.Ctx, author.PostQuery{User: user, FromSeq: 1, Limit: 1000})
	storetest.Must(t, err)
	storetest.Same(t, "posts", len(list), 1+posts+added)
	ids, slugs := map[int64]bool{}, map[string]bool{}
	for i, p := range list {
		storetest.Same(t, "place", p.Seq, int64(i+1))
		ids[p.ID], slugs[p.Slug] = true, true
	}
	storetest.Same(t, "ids and slugs", []int{len(ids), len(slugs)}, []int{len(list), len(list)})
	w := e.writer(t, user)
	storetest.Same(t, "the writer", []int64{w.Version, w.Posts, w.LastSeq}, []int64{int64(1 + 2*posts + added), int64(len(list)), int64(len(list))})
	storetest.Same(t, "months", e.counts(t, user, author.ByMonth, ""), []string{fmt.Sprint("2026-09 ", len(list))})
}

// PostsAndDocuments checks that a post never overwrites a concurrently saved document without
// noticing it. Another process may have saved the document.
func PostsAndDocuments(t *testing.T, a, b hub.Store) {
	postsAndDocuments(t, newEnv(t, a), newEnv(t, b))
}

func postsAndDocuments(t *testing.T, a, b *env) {
	const rounds = 40
	var group sync.WaitGroup
	type look struct {
		version int64
		written bool // the value that Change received
	}
	var seen []look
	group.Go(func() {
		for i := range rounds {
			_, _, err := b.author(t).SaveDocument(context.WithoutCancel(b.Ctx), b.saving("alice", author.Public, fmt.Sprint("document ", i)))
			if err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		for i := range rounds {
			w := a.made(a.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, fmt.Sprint("P", i) }))
			change, make := w.Change, w.Make
			written, now := false, author.Feed{}
			w.Change = func(p author.Post, found bool, was *author.Post, wr author.Writer, free func(string) (string, error)) (*author.Post, *author.Post, error) {
				written = wr.Written
				return change(p, found, was, wr, free)
			}
			w.Make = func(wr author.Writer, newest []author.Post) (author.Saving, error) {
				s, err := make(wr, newest)
				s.Allow = func(f author.Feed) error { now = f; return nil }
				return s, err
			}
			done, err := a.posts(t).WritePost(context.WithoutCancel(a.Ctx), w)
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, look{now.Version, written})
			if done.Feed.Version != now.Version+1 {
				t.Errorf("the version after %d is %d", now.Version, done.Feed.Version)
			}
		}
	})
	group.Wait()
	f, err := a.author(t).SavedFeed(a.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "versions", f.Version, int64(2*rounds))
	// Change received a feed made of posts if the previous version was also made of posts, and
	// otherwise a document.
	before := int64(-1)
	for _, s := range seen {
		storetest.Same(t, fmt.Sprint("written before version ", s.version+1), s.written, s.version == before)
		before = s.version + 1
	}
}
