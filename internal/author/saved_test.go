package author

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

const rss = `<rss version="2.0"><channel><title>A &amp; B</title><link>http://a.example/</link><description/><item><title>x</title></item></channel></rss>`

func document(n int) []byte {
	return fmt.Appendf(nil, `<rss version="2.0"><channel><title>%d</title></channel></rss>`, n)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code || !strings.Contains(fault.Message(err), words) {
		t.Fatalf("got error %v, want a fault of the kind %s with %q", err, code, words)
	}
}

func TestUploadedFeedIsServedByteForByte(t *testing.T) {
	t.Parallel()
	s := &Feeds{Store: &memory{}}
	doc := []byte("\xEF\xBB\xBF<?xml version=\"1.0\"?>\r\n" + rss + "\r\n<!-- end -->\r\n")
	f, err := s.Save(t.Context(), "alice", Public, doc, "saveRss")
	must(t, err)
	if f.Version != 1 || f.Title != "A & B" || f.Items != 1 || f.Size != int64(len(doc)) {
		t.Errorf("saved as %+v", f)
	}
	_, got, err := s.Document(t.Context(), "alice", Public)
	must(t, err)
	if string(got) != string(doc) {
		t.Errorf("the served document is %q", got)
	}
}

func TestRejectedUploadKeepsThePreviousFeed(t *testing.T) {
	t.Parallel()
	s := &Feeds{Store: &memory{}}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	_, err = s.Save(t.Context(), "alice", Public, []byte("<rss>"), "put")
	wantFault(t, err, fault.Invalid, "")
	_, err = s.Save(t.Context(), "alice", "other", document(2), "put")
	wantFault(t, err, fault.NotFound, "other")
	s.CheckUser = func(context.Context, string) error { return fault.New(fault.Refused, "No.") }
	_, err = s.Save(t.Context(), "alice", Public, document(2), "put")
	wantFault(t, err, fault.Refused, "No.")
	f, got, err := s.Document(t.Context(), "alice", Public)
	must(t, err)
	if f.Version != 1 || string(got) != string(document(1)) {
		t.Errorf("the version is %d: %s", f.Version, got)
	}
}

func TestSubscribersAreNotifiedOnceOfEachFeedVersion(t *testing.T) {
	t.Parallel()
	var notified []string
	s := &Feeds{Store: &memory{}}
	s.Notify = func(_ context.Context, f Feed) error {
		notified = append(notified, fmt.Sprint(f.User, "/", f.Name, " ", f.Version))
		return nil
	}
	for _, n := range []int{1, 1, 2} {
		_, err := s.Save(t.Context(), "alice", Public, document(n), "put")
		must(t, err)
		_, err = s.Save(t.Context(), "alice", Private, document(n), "put")
		must(t, err)
	}
	must(t, s.NotifyPending(t.Context()))
	if want := []string{"alice/rss 1", "alice/private 1", "alice/rss 2", "alice/private 2"}; !slices.Equal(notified, want) {
		t.Errorf("notified %q, want %q", notified, want)
	}
}

func TestFailedNotificationIsRetried(t *testing.T) {
	t.Parallel()
	broken := true
	late := 0
	var notified []string
	s := &Feeds{Store: &memory{}, OnNotifyFailure: func() { late++ }}
	s.Notify = func(_ context.Context, f Feed) error {
		if broken {
			return errors.New("no")
		}
		notified = append(notified, fmt.Sprint(f.User, " ", f.Version))
		return nil
	}
	for i := range 250 {
		for n := range 2 {
			_, err := s.Save(t.Context(), fmt.Sprintf("u%03d", i), Public, document(n), "put")
			must(t, err)
		}
	}
	_, err := s.End(t.Context(), "u003", Public)
	must(t, err)
	must(t, s.NotifyPending(t.Context()))
	if late == 0 {
		t.Error("OnNotifyFailure was not called")
	}
	broken = false
	late = 0
	must(t, s.NotifyPending(t.Context()))
	if late != 0 {
		t.Errorf("OnNotifyFailure was called %d times after success", late)
	}
	if len(notified) != 249 || notified[0] != "u000 2" || slices.ContainsFunc(notified, func(s string) bool { return s == "u003 2" }) {
		t.Errorf("notified %d: %q", len(notified), notified)
	}
	must(t, s.NotifyPending(t.Context()))
	if len(notified) != 249 {
		t.Errorf("notified again: %q", notified[249:])
	}
}

func TestSubscribersAreNotifiedEvenIfTheSaveRequestIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &Feeds{Store: &memory{}, Notify: func(inner context.Context, _ Feed) error {
		cancel()
		return inner.Err()
	}}
	f, err := s.Save(ctx, "alice", Public, document(1), "put")
	must(t, err)
	if f.Notified != 1 {
		t.Error("no notification was sent")
	}
}

func TestNotificationStaysPendingIfTheNodeIsNotServing(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	st := &memory{}
	s := &Feeds{Store: st, Log: slog.New(slog.NewTextHandler(&log, nil)), Notify: func(context.Context, Feed) error { return ErrNotServing }}
	f, err := s.Save(t.Context(), "alice", Public, document(1), "cli")
	must(t, err)
	if f.Notified != 0 || log.Len() > 0 {
		t.Errorf("version %d was notified; the log is %q", f.Notified, &log)
	}
	notified := 0
	s = &Feeds{Store: st, Notify: func(context.Context, Feed) error { notified++; return nil }}
	must(t, s.NotifyPending(t.Context()))
	if notified != 1 {
		t.Errorf("notified %d times", notified)
	}
}

func TestUploadIsRejectedIfTheFeedHasChangedSinceItsBaseVersion(t *testing.T) {
	t.Parallel()
	s := &Feeds{Store: &memory{}}
	put := func(n int, base int64) error {
		_, err := s.Put(t.Context(), Document{User: "alice", Name: Public, Bytes: document(n), Base: base})
		return err
	}
	wantFault(t, put(1, 1), fault.Conflict, "changed since")
	must(t, put(1, New))
	wantFault(t, put(2, New), fault.Conflict, "already")
	must(t, put(2, 1))
	wantFault(t, put(3, 1), fault.Conflict, "changed since")
	must(t, put(3, 2))
}

func TestMovedFeedRejectsUploadsAndUploadReactivatesEndedFeed(t *testing.T) {
	t.Parallel()
	s := &Feeds{Store: &memory{}}
	_, err := s.Move(t.Context(), "alice", Public, "https://b.example/feed")
	wantFault(t, err, fault.NotFound, "")
	_, err = s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	f, err := s.Move(t.Context(), "alice", Public, "https://b.example/feed")
	must(t, err)
	if f.MovedTo != "https://b.example/feed" {
		t.Errorf("moved to %q", f.MovedTo)
	}
	_, err = s.Save(t.Context(), "alice", Public, document(2), "put")
	wantFault(t, err, fault.Conflict, "https://b.example/feed")
	f, err = s.End(t.Context(), "alice", Public)
	must(t, err)
	if !f.Gone || f.MovedTo != "" {
		t.Errorf("ended as %+v", f)
	}
	f, err = s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	if f.Gone || f.Version != 1 {
		t.Errorf("reactivated as %+v", f)
	}
	_, err = s.Move(t.Context(), "alice", Public, "https://b.example/feed")
	must(t, err)
	f, err = s.Restore(t.Context(), "alice", Public)
	must(t, err)
	if f.MovedTo != "" {
		t.Errorf("restored as %+v", f)
	}
}

func TestFeedCannotMoveToItself(t *testing.T) {
	t.Parallel()
	own := func(url string) string {
		user, here := strings.CutPrefix(url, "https://here.example/")
		if !here {
			return ""
		}
		return strings.TrimSuffix(user, "/feed.atom")
	}
	s := &Feeds{Store: &memory{}, Own: own}
	_, err := s.Save(t.Context(), "alice", Public, document(1), "put")
	must(t, err)
	_, err = s.Move(t.Context(), "alice", Public, "https://here.example/alice/feed.atom")
	wantFault(t, err, fault.Invalid, "forever")
	for _, to := range []string{"https://here.example/bob/feed.atom", "https://b.example/feed"} {
		_, err = s.Move(t.Context(), "alice", Public, to)
		must(t, err)
	}
}

func TestFeedMovesOnlyToAnAbsoluteHTTPURL(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"", "x", "/feed", "//b.example/", "ftp://b.example/", "javascript:alert(1)", "https://", "https:b.example",
		"https://b.example/\r\nSet-Cookie: a=b", "https://b.example/a b", "https://b.example/<x>", "https://me:pw@b.example/", "https://b.example/\x7f",
		"https://b.example/" + strings.Repeat("x", 3000), "https://b.example/日本"} {
		if err := checkAddress(to); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, to := range []string{"https://b.example/feed?x=1&y=%20", "http://[2001:db8::1]:8080/"} {
		must(t, checkAddress(to))
	}
}

func TestEventsArePublishedAfterTheyAreStored(t *testing.T) {
	t.Parallel()
	var published []event.Event
	store := &memory{}
	s := &Feeds{
		Store: store,
		Events: func(f Feed, via string) []event.Event {
			return []event.Event{{Text: fmt.Sprint(f.Version, " ", via)}}
		},
		Publish: func(events ...event.Event) { published = append(published, events...) },
	}
	for _, name := range []string{Public, Private} {
		for range 2 {
			_, err := s.Save(t.Context(), "alice", name, document(1), "put")
			must(t, err)
		}
	}
	store.fail = fault.New(fault.Unavailable, "The disk is full.")
	_, err := s.Save(t.Context(), "alice", Public, document(2), "put")
	wantFault(t, err, fault.Unavailable, "full")
	if len(published) != 1 || published[0].Text != "1 put" {
		t.Errorf("published %v", published)
	}
}
