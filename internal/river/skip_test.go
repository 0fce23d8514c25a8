package river_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
)

// withSkippedHours follows a feed at midnight. The feed asks to skip the hours from 2 to 7.
func withSkippedHours(t *testing.T, do func(t *testing.T, w *harness)) {
	t.Helper()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("<ttl>60</ttl><skipHours><hour>2</hour><hour>3</hour><hour>4</hour><hour>5</hour><hour>6</hour><hour>7</hour></skipHours>", "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Fatalf("%d requests at first", n)
		}
		do(t, w)
	})
}

func TestMissedCheckWaitsForTheEndOfSkippedHours(t *testing.T) {
	t.Parallel()
	withSkippedHours(t, func(t *testing.T, w *harness) {
		w.stop()
		w.advance(3 * time.Hour) // the check at one o'clock does not happen
		w.restart()
		w.advance(time.Hour)
		e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
		if err != nil || !strings.Contains(e.Sentence, "it was due earlier, but the feed asks to skip 2–7 h; ttl 60") {
			t.Errorf("%v, %q", err, e.Sentence)
		}
		w.advance(5 * time.Hour)
		list := w.requests()
		if len(list) == 0 {
			t.Fatal("no further check")
		}
		if at := list[0].at.UTC(); at.Hour() != 8 || at.Minute() > 10 {
			t.Errorf("checked at %s", at.Format("15:04:05"))
		}
	})
}

func TestPushesAndRefreshesIgnoreSkippedHours(t *testing.T) {
	t.Parallel()
	id := river.SourceID(feedURL)
	for name, tt := range map[string]struct {
		do   func(t *testing.T, w *harness)
		read bool
	}{
		"a ping": {func(t *testing.T, w *harness) {
			if _, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); err != nil {
				t.Error(err)
			}
		}, true},
		"a refresh": {func(t *testing.T, w *harness) {
			if _, err := w.river.Refresh(t.Context(), id); err != nil {
				t.Error(err)
			}
		}, true},
		"a revive": {func(_ *testing.T, w *harness) { w.revive(feedURL) }, true},
		"a downtime": {func(t *testing.T, w *harness) {
			if _, err := w.river.ReceivePush(t.Context(), feedURL, river.Away); err != nil {
				t.Error(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withSkippedHours(t, func(t *testing.T, w *harness) {
				w.advance(3 * time.Hour)
				w.requests()
				tt.do(t, w)
				w.advance(time.Hour)
				if n := len(w.requests()); (n == 1) != tt.read || n > 1 {
					t.Errorf("%d checks in the skipped hours", n)
				}
				w.advance(5 * time.Hour)
				if n := len(w.requests()); n == 0 {
					t.Error("no check afterwards")
				}
			})
		})
	}
}
