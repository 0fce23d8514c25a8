package authortest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// FillPosts adds n published posts for a user, in batches of a thousand: one per hour, in a hundred
// categories, each with a few sentences.
func FillPosts(t testing.TB, s hub.Store, user string, n int) {
	t.Helper()
	posts := s.(author.PostStore)
	now := time.UnixMilli(1_790_000_000_123).UTC()
	batch := make([]author.Post, 0, 1000)
	for i := range n {
		when := now.Add(time.Duration(i-n) * time.Hour)
		text := fmt.Sprintf("Post %d of %s. It says something, as posts do, and links to <https://example.com/%d>.", i, user, i)
		batch = append(batch, author.Post{State: author.Published, GUID: fmt.Sprint("https://example.com/", user, "/", i), Slug: fmt.Sprint("post-", i),
			CreatedAt: when, UpdatedAt: when, PublishedAt: when, Content: author.Content{Title: fmt.Sprint("Post ", i), Source: text, Format: author.Markdown,
				HTML: "<p>" + text + "</p>", Categories: []string{fmt.Sprint("c", i%100), "all"}}})
		if len(batch) < cap(batch) && i < n-1 {
			continue
		}
		added, err := posts.AddPosts(t.Context(), user, now, batch)
		if err != nil || added != len(batch) {
			t.Fatalf("added %d of %d: %v", added, len(batch), err)
		}
		batch = batch[:0]
	}
}

// WriterDay calls every method for posts and files, except those that may read all posts of a user
// (a search, a renumbering). The user must have posts from FillPosts.
func WriterDay(t *testing.T, s hub.Store, user string) {
	t.Helper()
	e := newEnv(t, s)
	e.callPosts(t, user)
	e.callLists(t, user)
	e.callFiles(t, user)
	e.callSite(t, user)
}

func (e *env) callPosts(t *testing.T, user string) {
	t.Helper()
	kept := e.made(e.writing(user, 0, func(p *author.Post) {
		p.State, p.Title, p.Key, p.Categories = author.Published, "Post-7", "key of the day", []string{"c7", "new"}
	}))
	kept.Key, kept.GUID = "key of the day", "none"
	first := e.wrote(t, kept).Post
	storetest.Same(t, "found", e.wrote(t, kept).Found, true)
	for _, change := range []func(*author.Post){
		in("c8", "all"), at(e.In(time.Hour)), func(p *author.Post) { p.State = author.Draft }, func(p *author.Post) { p.State = author.Published },
		func(p *author.Post) { p.State, p.DueAt = author.Scheduled, e.Now }, func(p *author.Post) { p.State = author.Deleted },
	} {
		w := e.made(e.writing(user, first.ID, change))
		inner := w.Change
		w.Change = func(now author.Post, found bool, was *author.Post, wr author.Writer, free func(string) (string, error)) (*author.Post, *author.Post, error) {
			next, _, err := inner(now, found, was, wr, free)
			next.UndoUntil = e.In(time.Minute)
			return next, &now, err
		}
		e.wrote(t, w)
	}
	e.wrote(t, e.made(author.Writing{User: user, At: e.Now, Window: 20}))
	added := []author.Post{e.elsewhere("Post-8", 0), e.elsewhere("Post-9", 0)}
	added[0].GUID, added[1].Slug = "https://example.com/"+user+"/1", "post-9"
	_, err := e.posts(t).AddPosts(e.Ctx, user, e.Now, added)
	storetest.Must(t, err)
	_, err = e.posts(t).SetProfile(e.Ctx, user, func(*author.Profile) error { return nil })
	storetest.Must(t, err)
	e.writer(t, user)
	e.postAt(t, user, first.ID)
	_, err = e.posts(t).PostBySlug(e.Ctx, user, "post-5")
	storetest.Must(t, err)
	_, err = e.posts(t).PostByKey(e.Ctx, user, "key of the day", "https://example.com/"+user+"/1")
	storetest.Must(t, err)
	_, err = e.posts(t).PostByKey(e.Ctx, user, "key of the day", "")
	storetest.Must(t, err)
	_, err = e.posts(t).DuePosts(e.Ctx, e.In(time.Hour), 10)
	storetest.Must(t, err)
	_, err = e.posts(t).NextDuePost(e.Ctx)
	storetest.Must(t, err)
	storetest.Must(t, e.posts(t).SweepPosts(e.Ctx, e.In(time.Hour), e.In(time.Hour)))
}

func (e *env) callLists(t *testing.T, user string) {
	t.Helper()
	after := author.Post{User: user, ID: 50, Seq: 50, PublishedAt: e.In(-50 * time.Hour), UpdatedAt: e.In(-50 * time.Hour)}
	for _, q := range []author.PostQuery{
		{User: user, State: author.Published}, {State: author.Published}, {User: user}, {User: user, State: author.Draft}, {User: user, State: author.Scheduled},
		{User: user, State: author.Deleted}, {User: user, Category: "c7"}, {User: user, Category: "all"}, {Category: "all"}, {Category: "c7"},
		{User: user, FromSeq: 21, ToSeq: 40}, {User: user, FromSeq: 21}, {User: user, State: author.Published, Skip: 10},
	} {
		q.Limit = 20
		for _, a := range []*author.Post{nil, &after} {
			q.After = a
			_, err := e.posts(t).Posts(e.Ctx, q)
			storetest.Must(t, err)
		}
		if q.FromSeq > 0 || q.State == "" && q.Category == "" || q.State != "" && q.State != author.Published {
			continue
		}
		q.Since, q.Before = e.In(-1000*time.Hour), e.In(-100*time.Hour)
		_, err := e.posts(t).Posts(e.Ctx, q)
		storetest.Must(t, err)
	}
	for _, who := range []string{user, ""} {
		e.stamp(t, who, "")
		e.stamp(t, who, "c7")
		e.counts(t, who, author.ByMonth, "")
		e.counts(t, who, author.ByCategory, "")
		e.counts(t, who, author.ByCategory, "c7")
	}
}

func (e *env) callFiles(t *testing.T, user string) {
	t.Helper()
	f := e.keep(t, user, "one")
	e.keep(t, user, "two")
	e.keep(t, user, "one")
	e.contentOf(t, f)
	for _, after := range []*author.File{nil, &f} {
		_, err := e.files(t).Files(e.Ctx, user, after, 10)
		storetest.Must(t, err)
	}
	_, err := e.files(t).File(e.Ctx, user, f.Hash[:16])
	storetest.Must(t, err)
	storetest.Must(t, e.files(t).RemoveFile(e.Ctx, user, f.Hash))
	storetest.Must(t, e.files(t).SweepFiles(e.Ctx, e.Now, nil))
	storetest.Must(t, e.files(t).DropFilePieces(e.Ctx, "none"))
}

// SaveTimes returns the median durations for publishing a post, editing it, and rendering the feed.
// The users take turns, so that other load on the machine affects all of them.
func SaveTimes(t testing.TB, s hub.Store, rounds int, users ...string) []time.Duration {
	t.Helper()
	e := &env{&storetest.Case{Store: s, Ctx: t.Context(), Now: time.UnixMilli(1_790_000_000_123).UTC()}}
	posts := s.(author.PostStore)
	times := make([][]time.Duration, len(users))
	for round := range rounds {
		for i, user := range users {
			started := time.Now()
			id := int64(0)
			for range 2 {
				w := e.writing(user, id, func(p *author.Post) {
					p.State, p.Title, p.Categories = author.Published, fmt.Sprint("Round ", round), []string{"c7", "all"}
				})
				w.Window = 20
				w = e.made(w)
				done, err := posts.WritePost(e.Ctx, w)
				if err != nil {
					t.Fatal(err)
				}
				id = done.Post.ID
			}
			times[i] = append(times[i], time.Since(started))
		}
	}
	usual := make([]time.Duration, len(users))
	for i := range times {
		slices.Sort(times[i])
		usual[i] = times[i][len(times[i])/2]
	}
	return usual
}

// SavesOf measures how much longer saving takes for a user with many posts than for one with ten.
func SavesOf(b *testing.B, s hub.Store, many int) {
	FillPosts(b, s, "many", many)
	FillPosts(b, s, "few", 10)
	b.ResetTimer()
	usual := SaveTimes(b, s, b.N, "many", "few")
	b.ReportMetric(float64(usual[0].Microseconds()), fmt.Sprint("µs/", many))
	b.ReportMetric(float64(usual[1].Microseconds()), "µs/10")
	b.ReportMetric(float64(usual[0])/float64(usual[1]), "ratio")
}

// RenumberingOf measures the end of an import of one old post, which changes the numbers of many
// newer posts.
func RenumberingOf(b *testing.B, s hub.Store, many int) {
	posts := s.(author.PostStore)
	FillPosts(b, s, "many", many)
	now := time.UnixMilli(1_790_000_000_123).UTC()
	b.ResetTimer()
	for b.Loop() {
		if _, err := posts.AddPosts(b.Context(), "many", now, []author.Post{{State: author.Published}}); err != nil {
			b.Fatal(err)
		}
		if _, err := posts.WritePost(b.Context(), author.Writing{User: "many", At: now, Renumber: true}); err != nil {
			b.Fatal(err)
		}
	}
}
