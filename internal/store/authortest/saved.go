package authortest

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
	"cloudburst/internal/store/storetest"
)

func savedTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"DocumentIsReadAsWritten":        savedWhole,
		"SameBytesKeepVersion":           savedAgain,
		"RejectedDocumentKeepsPrevious":  savedRefused,
		"VersionIsUnnotifiedUntilMarked": savedNotified,
		"FeedMovesEndsAndReturns":        savedPlaced,
		"SavesOfOneFeedAreSerialized":    savedTogether,
		"SavedFeedsAreListedByPages":     savedPages,
		"EventsAreAtomicWithSave":        savedEvents,
		"SaveTimesNeverDecrease":         savedClock,
		"DocumentBelongsToUserAndName":   savedSeparate,
		"SwitchingCloudCreatesVersion":   savedCloud,
	}
}

// author returns the store as an author.Store.
func (e *env) author(t *testing.T) author.Store {
	t.Helper()
	s, ok := e.Store.(author.Store)
	if !ok {
		t.Fatalf("%T is not an author.Store", e.Store)
	}
	return s
}

func (e *env) saving(user, name, doc string) author.Saving {
	hash := sha256.Sum256([]byte(doc))
	return author.Saving{User: user, Name: name, At: e.Now, Type: "application/rss+xml; charset=utf-8", Title: "日本'\"☂", Items: 3,
		Bytes: []byte(doc), Hash: hash[:]}
}

func (e *env) saved(t *testing.T, s author.Saving) author.Feed {
	t.Helper()
	f, changed, err := e.author(t).SaveDocument(e.Ctx, s)
	storetest.Must(t, err)
	storetest.Same(t, "changed", changed, true)
	return f
}

func savedWhole(t *testing.T, e *env) {
	doc := "\xFF\xFE<\x00r\x00\x00\r\n\xC3\x28 '\" end"
	f := e.saved(t, e.saving("alice", author.Public, doc))
	storetest.Same(t, "saved", f, author.Feed{User: "alice", Name: author.Public, Version: 1, SavedAt: e.Now, Type: "application/rss+xml; charset=utf-8",
		Size: int64(len(doc)), Title: "日本'\"☂", Items: 3})
	got, err := e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the feed", got, f)
	got, bytes, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the feed with its document", got, f)
	storetest.Same(t, "the document", string(bytes), doc)
	odd := e.saving("bob", author.Public, "x")
	odd.Title, odd.Type = "a\x00b\xFF", "text/xml; a=\x00"
	storetest.Same(t, "an invalid title", e.saved(t, odd).Title, "a\uFFFDb\uFFFD")
	_, changed, err := e.author(t).SaveDocument(e.Ctx, odd)
	storetest.Must(t, err)
	storetest.Same(t, "changed by the same", changed, false)
}

func savedAgain(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	first := e.saved(t, s)
	s.At = e.In(time.Hour)
	again, changed, err := e.author(t).SaveDocument(e.Ctx, s)
	storetest.Must(t, err)
	storetest.Same(t, "changed", changed, false)
	storetest.Same(t, "the feed", again, first)
	s.Type = "application/atom+xml"
	storetest.Same(t, "the version with another type", e.saved(t, s).Version, int64(2))
	s = e.saving("alice", author.Public, "two")
	storetest.Same(t, "the version of other bytes", e.saved(t, s).Version, int64(3))
}

func savedRefused(t *testing.T, e *env) {
	no := errors.New("no")
	s := e.saving("alice", author.Public, "one")
	s.Allow = func(now author.Feed) error {
		storetest.Same(t, "feed before the first save", now, author.Feed{User: "alice", Name: author.Public})
		return no
	}
	_, _, err := e.author(t).SaveDocument(e.Ctx, s)
	if !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	_, err = e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.WantFault(t, err, fault.NotFound)
	_, _, err = e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{Gone: true})
	storetest.WantFault(t, err, fault.NotFound)
	s.Allow = nil
	first := e.saved(t, s)
	s = e.saving("alice", author.Public, "two")
	s.Allow = func(now author.Feed) error {
		storetest.Same(t, "current feed", now, first)
		return no
	}
	if _, _, err = e.author(t).SaveDocument(e.Ctx, s); !errors.Is(err, no) {
		t.Fatalf("got error %v", err)
	}
	got, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "the feed", got, first)
	storetest.Same(t, "the document", string(doc), "one")
}

func (e *env) unnotified(t *testing.T) []string {
	t.Helper()
	list, err := e.author(t).ListUnnotified(e.Ctx, "", "", 0)
	storetest.Must(t, err)
	var names []string
	for _, f := range list {
		names = append(names, fmt.Sprint(f.User, "/", f.Name, " ", f.Notified, "<", f.Version))
	}
	return names
}

func savedNotified(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "one"))
	e.saved(t, e.saving("bob", author.Public, "one"))
	quiet := e.saving("carol", author.Private, "one")
	quiet.Quiet = true
	storetest.Same(t, "notified version of a quiet save", e.saved(t, quiet).Notified, int64(1))
	storetest.Same(t, "unnotified", e.unnotified(t), []string{"alice/rss 0<1", "bob/rss 0<1"})
	storetest.Must(t, e.author(t).MarkNotified(e.Ctx, "alice", author.Public, 1))
	e.saved(t, e.saving("bob", author.Public, "two"))
	storetest.Must(t, e.author(t).MarkNotified(e.Ctx, "bob", author.Public, 1))
	storetest.Same(t, "unnotified", e.unnotified(t), []string{"bob/rss 1<2"})
	storetest.Must(t, e.author(t).MarkNotified(e.Ctx, "bob", author.Public, 2))
	storetest.Must(t, e.author(t).MarkNotified(e.Ctx, "bob", author.Public, 1))
	storetest.Same(t, "unnotified after a late mark", e.unnotified(t), []string(nil))
	storetest.Must(t, e.author(t).MarkNotified(e.Ctx, "nobody", author.Public, 1))
	e.saved(t, e.saving("bob", author.Public, "three"))
	_, err := e.author(t).PlaceSaved(e.Ctx, "bob", author.Public, author.Place{MovedTo: "https://example.com/"})
	storetest.Must(t, err)
	storetest.Same(t, "unnotified of a moved feed", e.unnotified(t), []string(nil))
}

func savedPlaced(t *testing.T, e *env) {
	f := e.saved(t, e.saving("alice", author.Public, "one"))
	moved, err := e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{MovedTo: "https://example.com/☂"})
	storetest.Must(t, err)
	f.MovedTo = "https://example.com/☂"
	storetest.Same(t, "moved", moved, f)
	lent, err := e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{MovedTo: "https://example.com/", Temporary: true})
	storetest.Must(t, err)
	f.MovedTo, f.Temporary = "https://example.com/", true
	storetest.Same(t, "moved for a time", lent, f)
	f.Temporary = false
	ended, err := e.author(t).PlaceSaved(e.Ctx, "alice", author.Public, author.Place{Gone: true})
	storetest.Must(t, err)
	f.MovedTo, f.Gone = "", true
	storetest.Same(t, "ended", ended, f)
	got, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "stored feed", got, f)
	storetest.Same(t, "its document", string(doc), "one")
	f.Gone = false
	again, changed, err := e.author(t).SaveDocument(e.Ctx, e.saving("alice", author.Public, "one"))
	storetest.Must(t, err)
	storetest.Same(t, "changed by the same bytes", changed, false)
	storetest.Same(t, "saved again", again, f)
	got, err = e.author(t).SavedFeed(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "as stored", got, f)
}

func savedCloud(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	s.Push = author.PushMissing
	f := e.saved(t, s)
	storetest.Same(t, "missing in the document", f.Push, author.PushMissing)
	for _, user := range []string{"bob", "carol"} {
		_, err := e.author(t).CloudSaved(e.Ctx, user, author.Public, true, e.Now)
		storetest.WantFault(t, err, fault.NotFound)
	}
	at := e.Now.Add(time.Minute)
	on, err := e.author(t).CloudSaved(e.Ctx, "alice", author.Public, true, at)
	storetest.Must(t, err)
	f.AddCloud, f.Version, f.SavedAt = true, 2, at
	storetest.Same(t, "switched on", on, f)
	again, err := e.author(t).CloudSaved(e.Ctx, "alice", author.Public, true, at.Add(time.Minute))
	storetest.Must(t, err)
	storetest.Same(t, "switched on again", again, f)
	storetest.Same(t, "unnotified", e.unnotified(t), []string{"alice/rss 0<2"})
	got, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "as stored", got, f)
	storetest.Same(t, "its document", string(doc), "one")
	s.Push = author.PushNamed
	named, changed, err := e.author(t).SaveDocument(e.Ctx, s)
	storetest.Must(t, err)
	f.Push = author.PushNamed
	storetest.Same(t, "changed by the same bytes", changed, false)
	storetest.Same(t, "missing after saving the same bytes", named, f)
	off, err := e.author(t).CloudSaved(e.Ctx, "alice", author.Public, false, e.Now)
	storetest.Must(t, err)
	f.AddCloud, f.Version = false, 3
	storetest.Same(t, "switched off at an earlier time", off, f)
}

func savedTogether(t *testing.T, e *env) {
	const all = 20
	var group sync.WaitGroup
	errs := make(chan error, all)
	for i := range all {
		group.Go(func() {
			s := e.saving("alice", author.Public, fmt.Sprint("document ", i))
			_, _, err := e.author(t).SaveDocument(context.WithoutCancel(e.Ctx), s)
			errs <- err
		})
	}
	group.Wait()
	for range all {
		storetest.Must(t, <-errs)
	}
	f, doc, err := e.author(t).SavedDocument(e.Ctx, "alice", author.Public)
	storetest.Must(t, err)
	storetest.Same(t, "version", f.Version, int64(all))
	storetest.Same(t, "size", f.Size, int64(len(doc)))
}

func savedPages(t *testing.T, e *env) {
	for _, user := range []string{"b", "a-", "a_", "a"} {
		e.saved(t, e.saving(user, author.Public, "x"))
		e.saved(t, e.saving(user, author.Private, "x"))
	}
	for what, list := range map[string]func(context.Context, string, string, int) ([]author.Feed, error){
		"all": e.author(t).SavedFeeds, "unnotified": e.author(t).ListUnnotified,
	} {
		var got []string
		user, name := "", ""
		for {
			page, err := list(e.Ctx, user, name, 3)
			storetest.Must(t, err)
			if len(page) == 0 {
				break
			}
			for _, f := range page {
				user, name = f.User, f.Name
				got = append(got, user+"/"+name)
			}
		}
		storetest.Same(t, what, got, []string{"a/private", "a/rss", "a-/private", "a-/rss", "a_/private", "a_/rss", "b/private", "b/rss"})
	}
}

func savedEvents(t *testing.T, e *env) {
	s := e.saving("alice", author.Public, "one")
	s.Events = func(f author.Feed) []event.Event {
		return []event.Event{e.Event(event.KindSave, fmt.Sprint("version ", f.Version))}
	}
	e.saved(t, s)
	_, _, err := e.author(t).SaveDocument(e.Ctx, s)
	storetest.Must(t, err)
	s.Allow = func(author.Feed) error { return errors.New("no") }
	if _, _, err = e.author(t).SaveDocument(e.Ctx, s); err == nil {
		t.Fatal("a rejected save succeeded")
	}
	storetest.Same(t, "log", e.Log(t), []string{"version 1"})
}

func savedClock(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "one"))
	s := e.saving("alice", author.Public, "two")
	s.At = e.In(-time.Hour)
	storetest.Same(t, "time", e.saved(t, s).SavedAt, e.Now)
}

func savedSeparate(t *testing.T, e *env) {
	e.saved(t, e.saving("alice", author.Public, "public"))
	e.saved(t, e.saving("alice", author.Private, "private"))
	e.saved(t, e.saving("Alice", author.Public, "another"))
	for _, one := range []struct{ user, name, doc string }{
		{"alice", author.Public, "public"}, {"alice", author.Private, "private"}, {"Alice", author.Public, "another"},
	} {
		_, doc, err := e.author(t).SavedDocument(e.Ctx, one.user, one.name)
		storetest.Must(t, err)
		storetest.Same(t, "document of "+one.user, string(doc), one.doc)
	}
}
