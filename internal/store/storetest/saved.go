package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

func savedTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ADocumentComesBackByteForByte":             savedWhole,
		"TheSameBytesAgainAreNoNewVersion":          savedAgain,
		"ARefusedDocumentLeavesTheOneBefore":        savedRefused,
		"AVersionIsUntoldUntilItIsSaidToBeTold":     savedTold,
		"AFeedMovesEndsAndComesBack":                savedPlaced,
		"SavesOfOneFeedComeOneAfterTheOther":        savedTogether,
		"SavedFeedsAreListedPageByPage":             savedPages,
		"TheEventsOfASaveAreWrittenWithIt":          savedEvents,
		"ASaveIsNeverBeforeTheOneThatItReplaces":    savedClock,
		"ADocumentIsOnlyOneUsersAndUnderItsOwnName": savedApart,
		"SwitchingTheCloudOfAFeedIsANewVersion":     savedCloud,
	}
}

// author is the store's part for saved feeds.
func (e *env) author(t *testing.T) author.Store {
	t.Helper()
	s, ok := e.Store.(author.Store)
	if !ok {
		t.Fatalf("%T is no author.Store", e.Store)
	}
	return s
}

func (e *env) saving(user, name, doc string) author.Saving {
	hash := sha256.Sum256([]byte(doc))
	return author.Saving{User: user, Name: name, At: e.now, Type: "application/rss+xml; charset=utf-8", Title: "日本'\"☂", Items: 3,
		Bytes: []byte(doc), Hash: hash[:]}
}

func (e *env) saved(t *testing.T, s author.Saving) author.Feed {
	t.Helper()
	f, changed, err := e.author(t).SaveDocument(e.ctx, s)
	must(t, err)
	same(t, "changed", changed, true)
	return f
}

func savedWhole(t *testing.T, e *env) {
	doc := "\xFF\xFE<\x00r\x00\x00\r\n\xC3\x28 '\" end"
	f := e.saved(t, e.saving("alice", author.Public, doc))
	same(t, "saved", f, author.Feed{User: "alice", Name: author.Public, Version: 1, SavedAt: e.now, Type: "application/rss+xml; charset=utf-8",
		Size: int64(len(doc)), Title: "日本'\"☂", Items: 3})
	got, err := e.author(t).SavedFeed(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "the feed", got, f)
	got, bytes, err := e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "the feed with its document", got, f)
	same(t, "the document", string(bytes), doc)
	odd := e.saving("bob", author.Public, "x")
	odd.Title, odd.Type = "a\x00b\xFF", "text/xml; a=\x00"
	same(t, "a title that no database takes", e.saved(t, odd).Title, "a\uFFFDb\uFFFD")
	_, changed, err := e.author(t).SaveDocument(e.ctx, odd)
	must(t, err)
	same(t, "changed by the same", changed, false)
}

func savedAgain(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	first := e.saved(t, s)
	s.At = e.in(time.Hour)
	again, changed, err := e.author(t).SaveDocument(e.ctx, s)
	must(t, err)
	same(t, "changed", changed, false)
	same(t, "the feed", again, first)
	s.Type = "application/atom+xml"
	same(t, "the version with another type", e.saved(t, s).Version, int64(2))
	s = e.saving("alice", author.Public, "two")
	same(t, "the version of other bytes", e.saved(t, s).Version, int64(3))
}

func savedRefused(t *testing.T, e *env) {
	no := errors.New("no")
	s := e.saving("alice", author.Public, "one")
	s.Allow = func(now author.Feed) error {
		same(t, "what is there before the first", now, author.Feed{User: "alice", Name: author.Public})
		return no
	}
	_, _, err := e.author(t).SaveDocument(e.ctx, s)
	if !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	_, err = e.author(t).SavedFeed(e.ctx, "alice", author.Public)
	faulty(t, err, fault.NotFound)
	_, _, err = e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	faulty(t, err, fault.NotFound)
	_, err = e.author(t).PlaceSaved(e.ctx, "alice", author.Public, author.Place{Gone: true})
	faulty(t, err, fault.NotFound)
	s.Allow = nil
	first := e.saved(t, s)
	s = e.saving("alice", author.Public, "two")
	s.Allow = func(now author.Feed) error {
		same(t, "what is there", now, first)
		return no
	}
	if _, _, err = e.author(t).SaveDocument(e.ctx, s); !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	got, doc, err := e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "the feed", got, first)
	same(t, "the document", string(doc), "one")
}

func (e *env) untold(t *testing.T) []string {
	t.Helper()
	list, err := e.author(t).UntoldSaved(e.ctx, "", "", 0)
	must(t, err)
	var names []string
	for _, f := range list {
		names = append(names, fmt.Sprint(f.User, "/", f.Name, " ", f.Told, "<", f.Version))
	}
	return names
}

func savedTold(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "one"))
	e.saved(t, e.saving("bob", author.Public, "one"))
	quiet := e.saving("carol", author.Private, "one")
	quiet.Quiet = true
	same(t, "told of a quiet one", e.saved(t, quiet).Told, int64(1))
	same(t, "untold", e.untold(t), []string{"alice/rss 0<1", "bob/rss 0<1"})
	must(t, e.author(t).ToldSaved(e.ctx, "alice", author.Public, 1))
	e.saved(t, e.saving("bob", author.Public, "two"))
	must(t, e.author(t).ToldSaved(e.ctx, "bob", author.Public, 1))
	same(t, "untold", e.untold(t), []string{"bob/rss 1<2"})
	must(t, e.author(t).ToldSaved(e.ctx, "bob", author.Public, 2))
	must(t, e.author(t).ToldSaved(e.ctx, "bob", author.Public, 1))
	same(t, "untold after a late word", e.untold(t), []string(nil))
	must(t, e.author(t).ToldSaved(e.ctx, "nobody", author.Public, 1))
	e.saved(t, e.saving("bob", author.Public, "three"))
	_, err := e.author(t).PlaceSaved(e.ctx, "bob", author.Public, author.Place{MovedTo: "https://example.com/"})
	must(t, err)
	same(t, "untold of one that moved", e.untold(t), []string(nil))
}

func savedPlaced(t *testing.T, e *env) {
	f := e.saved(t, e.saving("alice", author.Public, "one"))
	moved, err := e.author(t).PlaceSaved(e.ctx, "alice", author.Public, author.Place{MovedTo: "https://example.com/☂"})
	must(t, err)
	f.MovedTo = "https://example.com/☂"
	same(t, "moved", moved, f)
	lent, err := e.author(t).PlaceSaved(e.ctx, "alice", author.Public, author.Place{MovedTo: "https://example.com/", Temporary: true})
	must(t, err)
	f.MovedTo, f.Temporary = "https://example.com/", true
	same(t, "moved for a time", lent, f)
	f.Temporary = false
	ended, err := e.author(t).PlaceSaved(e.ctx, "alice", author.Public, author.Place{Gone: true})
	must(t, err)
	f.MovedTo, f.Gone = "", true
	same(t, "ended", ended, f)
	got, doc, err := e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "what is kept of it", got, f)
	same(t, "its document", string(doc), "one")
	f.Gone = false
	again, changed, err := e.author(t).SaveDocument(e.ctx, e.saving("alice", author.Public, "one"))
	must(t, err)
	same(t, "changed by the same bytes", changed, false)
	same(t, "saved again", again, f)
	got, err = e.author(t).SavedFeed(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "as it is stored", got, f)
}

func savedCloud(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	s.Push = author.PushMissing
	f := e.saved(t, s)
	same(t, "what the document lacks", f.Push, author.PushMissing)
	for _, user := range []string{"bob", "carol"} {
		_, err := e.author(t).CloudSaved(e.ctx, user, author.Public, true, e.now)
		faulty(t, err, fault.NotFound)
	}
	at := e.now.Add(time.Minute)
	on, err := e.author(t).CloudSaved(e.ctx, "alice", author.Public, true, at)
	must(t, err)
	f.AddCloud, f.Version, f.SavedAt = true, 2, at
	same(t, "switched on", on, f)
	again, err := e.author(t).CloudSaved(e.ctx, "alice", author.Public, true, at.Add(time.Minute))
	must(t, err)
	same(t, "switched on once more", again, f)
	same(t, "untold", e.untold(t), []string{"alice/rss 0<2"})
	got, doc, err := e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "as it is stored", got, f)
	same(t, "its document", string(doc), "one")
	s.Push = author.PushNamed
	named, changed, err := e.author(t).SaveDocument(e.ctx, s)
	must(t, err)
	f.Push = author.PushNamed
	same(t, "changed by the same bytes", changed, false)
	same(t, "what the same bytes lack", named, f)
	off, err := e.author(t).CloudSaved(e.ctx, "alice", author.Public, false, e.now)
	must(t, err)
	f.AddCloud, f.Version = false, 3
	same(t, "switched off at an earlier time", off, f)
}

func savedTogether(t *testing.T, e *env) {
	const all = 20
	var group sync.WaitGroup
	errs := make(chan error, all)
	for i := range all {
		group.Go(func() {
			s := e.saving("alice", author.Public, fmt.Sprint("document ", i))
			_, _, err := e.author(t).SaveDocument(context.WithoutCancel(e.ctx), s)
			errs <- err
		})
	}
	group.Wait()
	for range all {
		must(t, <-errs)
	}
	f, doc, err := e.author(t).SavedDocument(e.ctx, "alice", author.Public)
	must(t, err)
	same(t, "version", f.Version, int64(all))
	same(t, "size", f.Size, int64(len(doc)))
}

func savedPages(t *testing.T, e *env) {
	for _, user := range []string{"b", "a-", "a_", "a"} {
		e.saved(t, e.saving(user, author.Public, "x"))
		e.saved(t, e.saving(user, author.Private, "x"))
	}
	for what, list := range map[string]func(context.Context, string, string, int) ([]author.Feed, error){
		"all": e.author(t).SavedFeeds, "untold": e.author(t).UntoldSaved,
	} {
		var got []string
		user, name := "", ""
		for {
			page, err := list(e.ctx, user, name, 3)
			must(t, err)
			if len(page) == 0 {
				break
			}
			for _, f := range page {
				user, name = f.User, f.Name
				got = append(got, user+"/"+name)
			}
		}
		same(t, what, got, []string{"a/private", "a/rss", "a-/private", "a-/rss", "a_/private", "a_/rss", "b/private", "b/rss"})
	}
}

func savedEvents(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	s.Events = func(f author.Feed) []event.Event {
		return []event.Event{e.event(event.KindSave, fmt.Sprint("version ", f.Version))}
	}
	e.saved(t, s)
	_, _, err := e.author(t).SaveDocument(e.ctx, s)
	must(t, err)
	s.Allow = func(author.Feed) error { return errors.New("no") }
	if _, _, err = e.author(t).SaveDocument(e.ctx, s); err == nil {
		t.Fatal("a save that was not allowed went through")
	}
	same(t, "log", e.log(t), []string{"version 1"})
}

func savedClock(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "one"))
	s := e.saving("alice", author.Public, "two")
	s.At = e.in(-time.Hour)
	same(t, "time", e.saved(t, s).SavedAt, e.now)
}

func savedApart(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "public"))
	e.saved(t, e.saving("alice", author.Private, "private"))
	e.saved(t, e.saving("Alice", author.Public, "another"))
	for _, one := range []struct{ user, name, doc string }{
		{"alice", author.Public, "public"}, {"alice", author.Private, "private"}, {"Alice", author.Public, "another"},
	} {
		_, doc, err := e.author(t).SavedDocument(e.ctx, one.user, one.name)
		must(t, err)
		same(t, "document of "+one.user, string(doc), one.doc)
	}
}
