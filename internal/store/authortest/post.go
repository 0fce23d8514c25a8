package authortest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	parsed "cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func postTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"PostIsReadAsWritten":                       postWhole,
		"PostBelongsToOneUser":                      postSeparate,
		"FailedChangeWritesNothing":                 postFailed,
		"NewPostIsEmptyDraftWithNextID":             postNew,
		"DuplicateKeyOrGUIDCreatesOnePost":          postOnce,
		"UnchangedPostWritesNothing":                postNothing,
		"ChangeOfMissingPostIsRejected":             postMissing,
		"TakenSlugGetsNumber":                       postSlugs,
		"DuplicateSlugIsRejected":                   postSlugTaken,
		"SlugFindsPublishedAndDeletedPostsOnly":     postBySlug,
		"UndoStateIsKeptUntilItExpires":             postUndo,
		"DraftsChangeNeitherVersionNorFeed":         postDraft,
		"FeedContainsNewestPostsDownToPageBoundary": postWindow,
		"GapsInPlacesLoseNoPost":                    postHoles,
		"WrittenFlagIsSetUntilDocumentIsSaved":      postWritten,
		"RejectedDocumentRollsBackChange":           postNotAllowed,
		"UnchangedFeedKeepsVersion":                 postSameFeed,
		"FeedIsRenderedWithoutChange":               postRerender,
		"RenumberingFollowsDates":                   postRenumber,
		"EventsAreAtomicWithChange":                 postEvents,
		"PrivatePostIsInFeedsOfItsGroupsOnly":       postPrivate,
		"UploadedPrivateFeedGetsNoPosts":            groupDocument,
		"ProfileRaisesVersion":                      postProfile,
		"VisibleChangesHaveIncreasingStamps":        postStamps,
		"PostsAreAddedOnce":                         postAdded,
		"AddedPostsGetNextIDsPlacesAndFreeSlugs":    postAddedNames,
		"SweepDeletesExpiredUndoState":              postSweep,
		"SweepHandlesManyPosts":                     postSweepMany,
		"ConcurrentChangesOfUserAreKept":            func(t *testing.T, e *env) { WritersTogether(t, e.Store, e.Store) },
		"PostDoesNotOverwriteConcurrentDocument":    func(t *testing.T, e *env) { postsAndDocuments(t, e, e) },
	}
}

// posts returns the store as an author.PostStore.
func (e *env) posts(t *testing.T) author.PostStore {
	t.Helper()
	s, ok := e.Store.(author.PostStore)
	if !ok {
		t.Fatalf("%T is not an author.PostStore", e.Store)
	}
	return s
}

// writing returns a change of a post. It assigns a place and a slug when the post is published.
func (e *env) writing(user string, id int64, change func(*author.Post)) author.Writing {
	return author.Writing{User: user, ID: id, At: e.Now, Window: 3,
		Change: func(now author.Post, found bool, _ *author.Post, w author.Writer, free func(string) (string, error)) (*author.Post, *author.Post, error) {
			if found {
				return nil, nil, nil
			}
			next := now
			if next.UpdatedAt = e.Now; next.CreatedAt.IsZero() {
				next.CreatedAt = e.Now
			}
			change(&next)
			if next.State != author.Published {
				return &next, nil, nil
			}
			if next.Seq == 0 {
				next.Seq = w.LastSeq + 1
			}
			if next.PublishedAt.IsZero() {
				next.PublishedAt = e.Now
			}
			var err error
			if next.Slug == "" {
				next.Slug, err = free(strings.ToLower(next.Title))
			}
			if next.GUID == "" {
				next.GUID = "guid of " + next.Slug
			}
			return &next, nil, err
		}}
}

// made makes the change render the feed from the titles.
func (e *env) made(w author.Writing) author.Writing {
	w.Make = func(wr author.Writer, newest []author.Post) (author.Saving, error) {
		var titles []string
		for _, p := range newest {
			titles = append(titles, p.Title)
		}
		return e.saving(wr.User, author.Public, strings.Join(titles, " ")), nil
	}
	return w
}

func (e *env) wrote(t *testing.T, w author.Writing) author.Written {
	t.Helper()
	done, err := e.posts(t).WritePost(e.Ctx, w)
	storetest.Must(t, err)
	return done
}

// publish publishes a new post.
func (e *env) publish(t *testing.T, user, title string, more ...func(*author.Post)) author.Post {
	t.Helper()
	return e.wrote(t, e.writing(user, 0, func(p *author.Post) {
		p.State, p.Title = author.Published, title
		for _, m := range more {
			m(p)
		}
	})).Post
}

func at(when time.Time) func(*author.Post) {
	return func(p *author.Post) { p.PublishedAt = when }
}

func in(labels ...string) func(*author.Post) {
	return func(p *author.Post) { p.Categories = labels }
}

func (e *env) postAt(t *testing.T, user string, id int64) author.Post {
	t.Helper()
	p, err := e.posts(t).Post(e.Ctx, user, id)
	storetest.Must(t, err)
	return p
}

func (e *env) writer(t *testing.T, user string) author.Writer {
	t.Helper()
	w, err := e.posts(t).Writer(e.Ctx, user)
	storetest.Must(t, err)
	return w
}

// wholePost returns a post with every field set.
func (e *env) wholePost() author.Post {
	return author.Post{
		User: "alice", State: author.Published, GUID: "guid'%\"☂", PermaLink: true, Slug: "日本'-☂", SlugWish: "wish'-☂", Seq: 1, Key: "key☂'",
		CreatedAt: e.Now, UpdatedAt: e.In(time.Second), PublishedAt: e.In(2 * time.Second), DueAt: e.In(3 * time.Second), UndoUntil: e.In(4 * time.Second),
		Content: author.Content{
			Title: "a\x00b ☂ <b>", Source: "# one\r\n\ttwo \U0001F327", Format: author.Markdown, HTML: "<p>é</p>", Link: "https://example.com/?a=1&b=2",
			Categories: []string{"One", "Zwei Wörter"}, Language: "de-CH",
			Enclosures: []author.Enclosure{{URL: "/alice/media/1/a.png", Type: "image/png", Length: 1 << 40, Title: "t", Alt: "an image", Duration: 1.5}},
			Reply:      &author.Reply{URL: "https://example.com/1", GUID: "g", Feed: "https://example.com/feed", Title: "that"},
			Outline: []author.Node{{Text: "a", HTML: "<p>a</p>", Title: "A", Link: "https://example.com/", GUID: "g#1", CreatedAt: e.Now, Categories: []string{"x"},
				Folded: true, Attrs: []parsed.Attr{{Name: "icon", Value: "car"}}, Nodes: []author.Node{{Text: "b"}}}},
			Rest: &parsed.Item{ID: "x", Authors: []parsed.Person{{Name: "Ann"}}},
		},
	}
}

func postWhole(t *testing.T, e *env) {
	want := e.wholePost()
	w := author.Writing{User: "alice", At: e.Now, Change: func(author.Post, bool, *author.Post, author.Writer, func(string) (string, error)) (*author.Post, *author.Post, error) {
		p := want
		p.User, p.ID, p.Revision = "somebody", 77, 99 // values that Change cannot set
		return &p, nil, nil
	}}
	want.ID, want.Revision = 1, 1
	storetest.Same(t, "written", e.wrote(t, w).Post, want)
	storetest.Same(t, "by id", e.postAt(t, "alice", 1), want)
	for what, get := range map[string]func() (author.Post, error){
		"by slug": func() (author.Post, error) { return e.posts(t).PostBySlug(e.Ctx, "alice", want.Slug) },
		"by key":  func() (author.Post, error) { return e.posts(t).PostByKey(e.Ctx, "alice", want.Key, "") },
		"by guid": func() (author.Post, error) { return e.posts(t).PostByKey(e.Ctx, "alice", "", want.GUID) },
		"by both": func() (author.Post, error) { return e.posts(t).PostByKey(e.Ctx, "alice", "another", want.GUID) },
	} {
		got, err := get()
		storetest.Must(t, err)
		storetest.Same(t, what, got, want)
	}
	w.ID, want.Title, want.Key, want.GUID = 1, "a\xFFb", "k\x00", "g\xFF"
	got := e.wrote(t, w).Post
	storetest.Same(t, "invalid text", []string{got.Title, got.Key, got.GUID}, []string{"a\uFFFDb", "k\uFFFD", "g\uFFFD"})
	storetest.Same(t, "as stored", e.postAt(t, "alice", 1), got)
	storetest.Same(t, "revision", got.Revision, int64(2))
}

func postSeparate(t *testing.T, e *env) {
	a := e.publish(t, "alice", "One")
	b := e.publish(t, "Alice", "One")
	storetest.Same(t, "names", []any{a.ID, b.ID, a.Slug, b.Slug, a.Seq, b.Seq}, []any{int64(1), int64(1), "one", "one", int64(1), int64(1)})
	_, err := e.posts(t).Post(e.Ctx, "bob", 1)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = e.posts(t).PostBySlug(e.Ctx, "bob", "one")
	storetest.WantFault(t, err, fault.NotFound)
	for _, name := range []string{"", "guid of none"} {
		_, err = e.posts(t).PostByKey(e.Ctx, "alice", name, name)
		storetest.WantFault(t, err, fault.NotFound)
	}
	_, err = e.posts(t).WritePost(e.Ctx, e.writing("", 0, func(*author.Post) {}))
	storetest.WantFault(t, err, fault.Invalid)
}

func postFailed(t *testing.T, e *env) {
	no := errors.New("no")
	change := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, "One" }))
	refused := change
	refused.Change = func(now author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
		return &now, nil, no
	}
	unmade := change
	unmade.Make = func(author.Writer, []author.Post) (author.Saving, error) { return author.Saving{}, no }
	for _, w := range []author.Writing{refused, unmade} {
		if _, err := e.posts(t).WritePost(e.Ctx, w); !errors.Is(err, no) {
			t.Fatalf("got error %v", err)
		}
		storetest.Same(t, "the writer", e.writer(t, "alice"), author.Writer{User: "alice"})
		_, err := e.posts(t).Post(e.Ctx, "alice", 1)
		storetest.WantFault(t, err, fault.NotFound)
		_, err = e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
		storetest.WantFault(t, err, fault.NotFound)
	}
	storetest.Same(t, "its id afterwards", e.wrote(t, change).Post.ID, int64(1))
	before := e.postAt(t, "alice", 1)
	for _, w := range []author.Writing{refused, unmade} {
		w.ID = 1
		if _, err := e.posts(t).WritePost(e.Ctx, w); !errors.Is(err, no) {
			t.Fatalf("got error %v", err)
		}
	}
	storetest.Same(t, "the post", e.postAt(t, "alice", 1), before)
	storetest.Same(t, "the version", e.writer(t, "alice").Version, int64(1))
	_, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the document", string(doc), "One")
}

func postNew(t *testing.T, e *env) {
	for id := int64(1); id < 4; id++ {
		w := e.writing("alice", 0, func(p *author.Post) {})
		change := w.Change
		w.Change = func(now author.Post, found bool, was *author.Post, wr author.Writer, free func(string) (string, error)) (*author.Post, *author.Post, error) {
			storetest.Same(t, "a new post", now, author.Post{User: "alice", ID: id, State: author.Draft})
			storetest.Same(t, "found", []any{found, was == nil}, []any{false, true})
			return change(now, found, was, wr, free)
		}
		done := e.wrote(t, w)
		storetest.Same(t, "written", []any{done.Found, done.Changed, done.Post.Revision, done.Feed}, []any{false, false, int64(1), author.Feed{}})
	}
}

func postOnce(t *testing.T, e *env) {
	first := e.publish(t, "alice", "One", func(p *author.Post) { p.Key, p.GUID = "k", "g" })
	for _, by := range []author.Writing{{Key: "k"}, {GUID: "g"}, {Key: "k", GUID: "another"}, {Key: "another", GUID: "g"}} {
		w := e.made(e.writing("alice", 0, func(*author.Post) { t.Error("the post was created again") }))
		w.Key, w.GUID = by.Key, by.GUID
		done := e.wrote(t, w)
		storetest.Same(t, "found", done.Found, true)
		storetest.Same(t, "the post", done.Post, first)
		storetest.Same(t, "the writer", done.Writer, e.writer(t, "alice"))
	}
	again := e.writing("bob", 0, func(p *author.Post) { p.Key = "k" })
	again.Key = "k"
	storetest.Same(t, "found with another user", e.wrote(t, again).Found, false)
	e.wrote(t, e.writing("alice", first.ID, func(p *author.Post) { p.State = author.Deleted }))
	again = e.writing("alice", 0, func(p *author.Post) { p.Key = "k" })
	again.Key, again.GUID = "k", "g"
	done := e.wrote(t, again)
	storetest.Same(t, "found when it was deleted", []any{done.Found, done.Post.ID}, []any{false, int64(2)})
	got, err := e.posts(t).PostByKey(e.Ctx, "alice", "k", "")
	storetest.Must(t, err)
	storetest.Same(t, "post by key", got.ID, int64(2))
	got, err = e.posts(t).PostByKey(e.Ctx, "alice", "", "g")
	storetest.Must(t, err)
	storetest.Same(t, "by the guid of the deleted", got.ID, int64(1))
}

func postNothing(t *testing.T, e *env) {
	none := func(author.Post, bool, *author.Post, author.Writer, func(string) (string, error)) (*author.Post, *author.Post, error) {
		return nil, nil, nil
	}
	w := e.made(e.writing("alice", 0, nil))
	w.Change = none
	w.Events = func(author.Post, author.Writer, author.Feed, bool) []event.Event {
		t.Error("the log contains the change")
		return nil
	}
	e.wrote(t, w)
	_, err := e.posts(t).Post(e.Ctx, "alice", 1)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.WantFault(t, err, fault.NotFound)
	first := e.publish(t, "alice", "One")
	w.ID = first.ID
	done := e.wrote(t, w)
	storetest.Same(t, "current state", done.Post, first)
	storetest.Same(t, "version", e.writer(t, "alice").Version, int64(1))
	storetest.Same(t, "revision", e.postAt(t, "alice", 1).Revision, int64(1))
}

func postMissing(t *testing.T, e *env) {
	e.publish(t, "alice", "One")
	for _, one := range []struct {
		user string
		id   int64
	}{{"alice", 2}, {"bob", 1}} {
		_, err := e.posts(t).WritePost(e.Ctx, e.made(e.writing(one.user, one.id, func(*author.Post) { t.Error("Change was called") })))
		storetest.WantFault(t, err, fault.NotFound)
	}
}

func postSlugs(t *testing.T, e *env) {
	var slugs []string
	for range 5 {
		slugs = append(slugs, e.publish(t, "alice", "One").Slug)
	}
	storetest.Same(t, "slugs", slugs, []string{"one", "one-2", "one-3", "one-4", "one-5"})
	storetest.Same(t, "of another user", e.publish(t, "bob", "One").Slug, "one")
	e.wrote(t, e.writing("alice", 1, func(p *author.Post) {
		p.Slug = "" // free confirms that the post may keep its slug
		p.State = author.Published
	}))
	storetest.Same(t, "its own", e.postAt(t, "alice", 1).Slug, "one")
	e.wrote(t, e.writing("alice", 2, func(p *author.Post) { p.State = author.Deleted }))
	storetest.Same(t, "that of a deleted one", e.publish(t, "alice", "One-2").Slug, "one-2-2")
}

func postSlugTaken(t *testing.T, e *env) {
	e.publish(t, "alice", "One")
	_, err := e.posts(t).WritePost(e.Ctx, e.writing("alice", 0, func(p *author.Post) { p.State, p.Slug = author.Published, "one" }))
	storetest.WantFault(t, err, fault.Conflict)
	_, err = e.posts(t).Post(e.Ctx, "alice", 2)
	storetest.WantFault(t, err, fault.NotFound)
}

func postBySlug(t *testing.T, e *env) {
	e.publish(t, "alice", "One")
	for state, there := range map[author.State]bool{author.Deleted: true, author.Draft: false, author.Scheduled: false, author.Published: true} {
		e.wrote(t, e.writing("alice", 1, func(p *author.Post) { p.State = state }))
		p, err := e.posts(t).PostBySlug(e.Ctx, "alice", "one")
		if !there {
			storetest.WantFault(t, err, fault.NotFound)
			continue
		}
		storetest.Must(t, err)
		storetest.Same(t, "state", p.State, state)
	}
	e.wrote(t, e.writing("alice", 0, func(p *author.Post) {}))
	_, err := e.posts(t).PostBySlug(e.Ctx, "alice", "")
	storetest.WantFault(t, err, fault.NotFound)
}

func postUndo(t *testing.T, e *env) {
	first := e.publish(t, "alice", "One", in("x"))
	change := func(now time.Time, title string, until time.Time, kept bool) (was *author.Post) {
		w := e.writing("alice", 1, func(*author.Post) {})
		w.At = now
		w.Change = func(now author.Post, _ bool, before *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
			was = before
			next := now
			next.Title, next.UndoUntil = title, until
			if !kept {
				return &next, nil, nil
			}
			return &next, &now, nil
		}
		storetest.Same(t, "until", e.wrote(t, w).Post.UndoUntil, until)
		return was
	}
	if was := change(e.Now, "Two", e.In(time.Minute), true); was != nil {
		t.Fatalf("undo state before any change: %v", was)
	}
	storetest.Same(t, "UndoUntil as read", e.postAt(t, "alice", 1).UndoUntil, e.In(time.Minute))
	storetest.Same(t, "within the minute", change(e.In(time.Minute-time.Millisecond), "Three", e.In(2*time.Minute), true).Content, author.Content{Title: "One", Categories: []string{"x"}})
	if was := change(e.In(2*time.Minute), "Four", time.Time{}, true); was != nil {
		t.Fatalf("undo state after it expired: %v", was)
	}
	if was := change(e.In(2*time.Minute), "Five", e.In(5*time.Minute), false); was != nil {
		t.Fatalf("undo state after the time: %v", was)
	}
	if was := change(e.In(2*time.Minute), "Six", e.In(5*time.Minute), true); was != nil {
		t.Fatalf("undo state without one: %v", was)
	}
	back := change(e.In(2*time.Minute), "Seven", e.In(5*time.Minute), true)
	storetest.Same(t, "last undo state", []any{back.Title, back.ID, back.GUID, back.Slug, back.Seq, back.PublishedAt}, []any{"Five", first.ID, first.GUID, first.Slug, first.Seq, first.PublishedAt})
}

func postDraft(t *testing.T, e *env) {
	w := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Categories = author.Draft, []string{"x"} }))
	done := e.wrote(t, w)
	storetest.Same(t, "written", []any{done.Writer, done.Feed, done.Changed}, []any{author.Writer{User: "alice"}, author.Feed{}, false})
	storetest.Same(t, "the writer", e.writer(t, "alice"), author.Writer{User: "alice"})
	_, err := e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.WantFault(t, err, fault.NotFound)
	e.saved(t, e.saving("alice", author.Public, "mine"))
	w.ID = 1
	e.wrote(t, w)
	_, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the document", string(doc), "mine")
	storetest.Same(t, "current state", e.stamp(t, "alice", ""), int64(0))
}

func (e *env) stamp(t *testing.T, user, category string) int64 {
	t.Helper()
	n, err := e.posts(t).PostsChanged(e.Ctx, user, category)
	storetest.Must(t, err)
	return n
}

func postEvents(t *testing.T, e *env) {
	w := e.made(e.writing("alice", 0, func(p *author.Post) { p.State, p.Title = author.Published, "One" }))
	w.Events = func(p author.Post, wr author.Writer, f author.Feed, changed bool) []event.Event {
		return []event.Event{e.Event(event.KindSave, fmt.Sprintln(p.Title, p.Revision, wr.Version, wr.Posts, f.Version, changed))}
	}
	e.wrote(t, w)
	failing := w
	failing.Make = func(author.Writer, []author.Post) (author.Saving, error) { return author.Saving{}, errors.New("no") }
	if _, err := e.posts(t).WritePost(e.Ctx, failing); err == nil {
		t.Fatal("the change was written")
	}
	w.ID, w.Make = 1, nil
	e.wrote(t, w)
	draft := e.writing("alice", 0, func(p *author.Post) { p.Title = "draft" })
	draft.Events = w.Events
	e.wrote(t, draft)
	storetest.Same(t, "log", e.Log(t), []string{"One 1 1 1 1 true\n", "One 2 2 1 0 false\n", "draft 1 2 1 0 false\n"})
}
