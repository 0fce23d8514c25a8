package hub_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// requests sends n requests for subscriptions of a topic at one host.
func (w *world) requests(topic, host string, n int) {
	w.t.Helper()
	for i := range n {
		in := hub.Intent{Topic: topic, Callback: fmt.Sprintf("http://%s/cb/%d", host, i), Mode: hub.ModeSubscribe}
		if err := w.hub.Request(w.t.Context(), in, netip.Addr{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestManyRequestsForOneHostAreAskedInTurnAndTheTopicIsNotReadForEachTry(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		const n = 600
		w.requests(feedURL, "many.test", n)
		w.settle(2 * time.Minute)
		if asked := len(w.askedOf(hub.ModeSubscribe)); asked != n {
			t.Errorf("%d were asked, want %d", asked, n)
		}
		if left, _ := w.store.Intents(t.Context()); left != 0 {
			t.Errorf("%d are not decided", left)
		}
		if read := len(w.fetches); read > n {
			t.Errorf("the topic was read %d times for %d requests", read, n)
		}
	})
}

func TestDenialsAreSpreadAsQuestionsAre(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.set("") // cannot be read, so that all are denied
		w.requests(feedURL, "victim.test", 600)
		w.settle(10 * time.Second)
		if told := len(w.askedOf(hub.ModeDenied)); told > 590 {
			t.Errorf("one host was called %d times in ten seconds", told)
		}
		w.settle(2 * time.Minute)
		if told := len(w.askedOf(hub.ModeDenied)); told != 600 {
			t.Errorf("%d were told at last", told)
		}
	})
}

// slowAsker lets one host's callbacks hang.
type slowAsker struct{ *world }

func (s slowAsker) Confirm(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	if strings.Contains(in.Callback, "hanging.test") {
		select {
		case <-time.After(15 * time.Second):
		case <-ctx.Done():
		}
		return event.Exchange{}, fault.New(fault.Unreadable, "No answer.")
	}
	return s.world.Confirm(ctx, in)
}

func TestAHostThatHangsKeepsNoOtherRequestsWaiting(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.stop()
		w.wrapAsk = func(*world) hub.IntentConfirmer { return slowAsker{w} }
		w.start(hub.Options{})
		w.requests(feedURL, "hanging.test", 500)
		w.settle(time.Second)
		w.requests(feedURL, "quick.test", 1)
		w.settle(2 * time.Second)
		if asked := len(w.askedOf(hub.ModeSubscribe)); asked != 1 {
			t.Errorf("%d of the quick host were asked", asked)
		}
	})
}

func TestTooManyRequestsAreRefusedBeforeTheyAreAcknowledged(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{MaxRequests: 10}, func(t *testing.T, w *world) {
		w.confirms(func(hub.Intent) error { return fault.New(fault.Unavailable, "Not now.") })
		var err error
		for i := range 11 {
			in := hub.Intent{Topic: feedURL, Callback: fmt.Sprintf("http://s%d.test/", i), Mode: hub.ModeSubscribe}
			if err = w.hub.Request(t.Context(), in, netip.Addr{}); err != nil && i < 10 {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("the eleventh: %v", err)
		}
		if n, _ := w.store.Intents(t.Context()); n != 10 {
			t.Errorf("%d are kept", n)
		}
		w.confirms(nil)
		w.settle(time.Minute)
		if err := w.request(hub.ModeSubscribe, sub1, "", 0); err != nil {
			t.Errorf("after they were decided: %v", err)
		}
		w.settle(time.Second)
	})
}

func TestAStopGivesBackRequestsThatAreBeingDecided(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.slow = time.Hour
		if err := w.request(hub.ModeSubscribe, sub1, "s", 0); err != nil {
			t.Fatal(err)
		}
		w.settle(time.Second)
		w.keep = true
		w.stop()
		list, err := w.store.ClaimIntents(t.Context(), time.Now(), time.Now().Add(time.Minute), 10, 1)
		if err != nil || len(list) != 1 || list[0].Tries != 0 || list[0].Secret != "s" {
			t.Errorf("due after the stop: %+v, %v", list, err)
		}
		if len(w.askedOf(hub.ModeDenied)) != 0 {
			t.Error("it was denied for the stop")
		}
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestASubscriptionCanBeRenewedWhileItsTopicCannotBeRead(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribeWebSub(sub1, "old", time.Hour)
		w.set("")
		w.subscribeWebSub(sub1, "new", 2*time.Hour)
		if s, ok := w.webSub(sub1); !ok || s.Secret != "new" {
			t.Errorf("subscription: %v %+v", ok, s)
		}
		if len(w.askedOf(hub.ModeDenied)) != 0 {
			t.Error("a subscription that goes on was denied")
		}
	})
}

func TestOneHostIsOneAtAnyPortAndHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		for i := range 500 {
			for _, name := range []string{"victim.test", "VICTIM.test", "victim.test."} {
				w.requests(feedURL, fmt.Sprintf("%s:%d", name, 1000+i), 1)
			}
		}
		w.settle(10 * time.Second)
		if asked := len(w.askedOf(hub.ModeSubscribe)); asked > 700 {
			t.Errorf("one host was asked %d times in ten seconds", asked)
		}
	})
}
