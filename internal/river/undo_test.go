package river_test

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"

	"github.com/google/go-cmp/cmp"
)

func (w *harness) followed(user, url string) (river.Followed, bool) {
	w.t.Helper()
	list, err := w.river.Subscriptions(w.t.Context(), river.SubscriptionQuery{Reader: user, SourceID: river.SourceID(url), Unread: true})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(list) == 0 {
		return river.Followed{}, false
	}
	return list[0], true
}

func TestUndoOfARemovalRestoresTheSubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "c", "b", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		id := river.SourceID(feedURL)
		_, err := w.river.Change(t.Context(), "ann", id, func(s *river.Subscription) error {
			s.Title, s.Categories, s.Interval = "Mine", []string{"News", "Weblogs"}, 2*time.Hour
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		list, yes := w.items(feedURL), true
		if _, err := w.river.Mark(t.Context(), "ann", []int64{list[0].ID}, &yes, nil); err != nil {
			t.Fatal(err)
		}
		before, _ := w.followed("ann", feedURL)
		if before.Unread != 2 {
			t.Fatalf("%d items are unread", before.Unread)
		}
		if err := w.river.Remove(t.Context(), "ann", id); err != nil {
			t.Fatal(err)
		}
		w.restart()
		w.advance(50 * time.Second)
		if _, is := w.followed("ann", feedURL); is {
			t.Fatal("the feed is still followed")
		}
		if _, err := w.river.UndoRemove(t.Context(), "bob", id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another user: %v", err)
		}
		if _, err := w.river.UndoRemove(t.Context(), "ann", id); err != nil {
			t.Fatal(err)
		}
		after, _ := w.followed("ann", feedURL)
		if d := cmp.Diff(before.Subscription, after.Subscription); d != "" || after.Unread != 2 || after.Source.State.Interval != 2*time.Hour || after.Source.Readers != 1 {
			t.Errorf("restored with %d unread items, %d followers: %s", after.Unread, after.Source.Readers, d)
		}
		if _, err := w.river.UndoRemove(t.Context(), "ann", id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("undone twice: %v", err)
		}
		w.requests()
		w.advance(3 * time.Hour)
		if len(w.requests()) == 0 {
			t.Error("no further check")
		}
	})
}

func TestUndoOfARemovalExpiresAfterAMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		id := river.SourceID(feedURL)
		remove := func() {
			t.Helper()
			if err := w.river.Remove(t.Context(), "ann", id); err != nil {
				t.Fatal(err)
			}
		}
		remove()
		until, err := w.river.Removed(t.Context(), "ann", id)
		if err != nil || !until.Equal(time.Now().Add(river.UndoWithin)) {
			t.Errorf("undo expires at %s, %v", until, err)
		}
		w.advance(river.UndoWithin + time.Second)
		if _, err := w.river.Removed(t.Context(), "ann", id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("after a minute: %v", err)
		}
		if _, err := w.river.UndoRemove(t.Context(), "ann", id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("undone after a minute: %v", err)
		}
		w.follow(feedURL)
		remove()
		w.follow(feedURL)
		if _, err := w.river.UndoRemove(t.Context(), "ann", id); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("followed again: %v", err)
		}
	})
}

func TestUndoOfMarkAllReadExpiresAfterAMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		for _, c := range []struct {
			wait time.Duration
			want fault.Code
		}{{river.UndoWithin + time.Second, fault.Conflict}, {river.UndoWithin, 0}} {
			to := time.Now().UTC() // the time at which the page with the button was rendered
			w.advance(10 * time.Minute)
			if err := w.river.MarkAllRead(t.Context(), "ann", 0, "", to); err != nil {
				t.Fatal(err)
			}
			w.advance(c.wait)
			if err := w.river.UndoAllRead(t.Context(), "ann", to); (err == nil) != (c.want == 0) || err != nil && fault.CodeOf(err) != c.want {
				t.Errorf("undone after %s: %v", c.wait, err)
			}
		}
	})
}
