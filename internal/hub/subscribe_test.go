package hub_test

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestARegistrationLivesTwentyFiveHours(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		const cb = "http://a.test/n"
		w.register(cb)
		w.settle(25*time.Hour - time.Second)
		w.change("two")
		w.settle(500 * time.Millisecond)
		if n := w.count(cb); n != 1 {
			t.Fatalf("told %d times a second before it ran out, want once", n)
		}
		w.settle(2 * time.Second)
		w.set("three")
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		w.settle(time.Second)
		if n := w.count(cb); n != 1 {
			t.Errorf("told %d times, once after it had run out", n)
		}
	})
}

func TestARenewalGivesAnotherTwentyFiveHoursAndForgivesErrors(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		const cb = "http://a.test/n"
		w.register(cb)
		w.answers(failing)
		w.change("two")
		w.settle(24 * time.Hour)
		w.answers(nil)
		w.register(cb)
		s, ok := w.subscription(cb)
		if !ok || s.Failures != 0 || time.Until(s.ExpiresAt) != 25*time.Hour {
			t.Errorf("after the renewal: %+v", s)
		}
		if s.CreatedAt.Equal(s.RenewedAt) {
			t.Error("a renewal forgot when the registration was made")
		}
	})
}

func TestAnUnverifiedRenewalChangesNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		const cb = "http://a.test/n"
		w.register(cb)
		before, _ := w.subscription(cb)
		w.settle(time.Hour)
		w.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "It does not want it.") }
		if got := w.register(cb); len(got.Accepted) != 0 || len(got.Refused) != 1 {
			t.Fatalf("an unverified renewal: %+v", got)
		}
		if after, _ := w.subscription(cb); after != before {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
	})
}

func TestEachFeedOfARegistrationIsDecidedByItself(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.feeds["http://feeds.test/unwanted.xml"] = "x"
		w.consent = func(_ hub.Subscription, feed string, challenge bool) error {
			if !challenge || feed == "http://feeds.test/unwanted.xml" {
				return fault.New(fault.Refused, "It does not want it.")
			}
			return nil
		}
		got, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Challenge: true,
			Feeds: []string{feedURL, "http://feeds.test/none.xml", "http://feeds.test/unwanted.xml", "not a url", feedURL}})
		if err != nil || len(got.Accepted) != 1 || got.Accepted[0] != feedURL || len(got.Refused) != 3 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestARegistrationTellsNobody(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.change("two")
		w.settle(time.Second)
		w.set("three")
		w.register("http://b.test/n")
		w.settle(time.Minute)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("the first subscriber was told %d times, want once: %v", n, w.toldOf("http://a.test/n"))
		}
		w.change("three")
		w.settle(time.Second)
		if n := w.count("http://a.test/n"); n != 2 {
			t.Errorf("the change that a registration saw first was not told: %d", n)
		}
	})
}

func TestACallbackThatIsAnOwnDoorIsRefused(t *testing.T) {
	t.Parallel()
	own := func(cb string) bool { return cb == "http://hub.test/ping" }
	inWorld(t, hub.Options{IsOwnURL: own}, func(t *testing.T, w *world) {
		_, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://hub.test/ping", Feeds: []string{feedURL}})
		if fault.CodeOf(err) != fault.Refused {
			t.Errorf("err = %v, want a refusal", err)
		}
	})
}

func TestCancelEndsARegistrationAndOnlyThat(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.register("http://b.test/n")
		cancel := hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{feedURL}}
		got, err := w.hub.Cancel(t.Context(), cancel)
		if err != nil || len(got.Accepted) != 1 {
			t.Fatalf("cancel: %+v, %v", got, err)
		}
		if _, ok := w.subscription("http://a.test/n"); ok {
			t.Error("it is still there")
		}
		if _, ok := w.subscription("http://b.test/n"); !ok {
			t.Error("another one went with it")
		}
		if got, err := w.hub.Cancel(t.Context(), cancel); err != nil || len(got.Refused) != 1 {
			t.Errorf("cancelled twice: %+v, %v", got, err)
		}
	})
}

func TestACancelWithADomainNeedsTheChallenge(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "No.") }
		got, err := w.hub.Cancel(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{feedURL}, Challenge: true})
		if err != nil || len(got.Refused) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, ok := w.subscription("http://a.test/n"); !ok {
			t.Error("a stranger ended somebody's registration")
		}
	})
}

func TestAPanicBehindADoorEndsOnlyItsOwnRequest(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.consent = func(hub.Subscription, string, bool) error { panic("bad letters") }
		got, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Challenge: true, Feeds: []string{feedURL}})
		if err != nil || len(got.Refused) != 1 {
			t.Errorf("register: %+v, %v", got, err)
		}
		w.answers(func(_ string, n int) hub.Reply {
			if n == 0 {
				panic("bad answer")
			}
			return hub.Reply{OK: true}
		})
		w.change("two")
		w.settle(2 * time.Minute)
		if s, ok := w.subscription(cb); !ok || s.Failures != 0 || w.count(cb) != 2 {
			t.Errorf("after a panic of ours: there %v, %d failures, told %d times; want it tried again", ok, s.Failures, w.count(cb))
		}
	})
}

func TestARegistrationForManySlowFeedsAnswersWithinAMinute(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		var feeds []string
		for i := range 12 {
			feed := fmt.Sprintf("http://feeds.test/%d.xml", i)
			w.feeds[feed] = "x"
			feeds = append(feeds, feed)
		}
		w.slow = 14 * time.Second // four at once: the third four do not make it
		begun := time.Now()
		got, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: feeds})
		if err != nil || len(got.Accepted) != 8 || len(got.Refused) != 4 {
			t.Errorf("%d accepted, %d refused, %v; want 8 and 4", len(got.Accepted), len(got.Refused), err)
		}
		if took := time.Since(begun); took >= time.Minute {
			t.Errorf("answered after %s; nobody waits so long", took)
		}
	})
}
