package upstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/upstream"
)

func TestRSSCloudRegistrationIsRenewedAfter24HoursAndBefore25(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		f = w.state(f, upstream.Active)
		if got := f.ExpiresAt.Sub(f.ConfirmedAt); got != 25*time.Hour {
			t.Errorf("it is valid for %s", got)
		}
		first := w.requests()[0].at
		w.advance(80 * time.Hour)
		day := [2]time.Duration{24 * time.Hour, 24*time.Hour + 21*time.Minute}
		within(t, "renewals", gaps(first, w.requests()), day, day, day)
		w.state(f, upstream.Active)
	})
}

func TestWebSubLeaseIsRenewedInItsLastFifth(t *testing.T) {
	t.Parallel()
	for _, lease := range []time.Duration{300 * time.Second, 10 * 24 * time.Hour} {
		t.Run(lease.String(), func(t *testing.T) {
			t.Parallel()
			withHarness(t, upstream.Options{Away: lease}, func(t *testing.T, w *harness) {
				w.lease = lease
				f := w.add(upstream.WebSub)
				w.advance(time.Second)
				f = w.state(f, upstream.Active)
				if got := f.ExpiresAt.Sub(f.ConfirmedAt); got != lease {
					t.Errorf("it is valid for %s", got)
				}
				first := w.requests()[0].at
				w.advance(lease * 5 / 2)
				part := [2]time.Duration{lease * 8 / 10, lease*9/10 + time.Second}
				got := gaps(first, w.requests())
				if len(got) > 2 {
					got = got[:2]
				}
				within(t, "renewals", got, part, part)
				w.state(f, upstream.Active)
			})
		})
	}
}

func TestDowntimeCausesRenewalsAndFeedChecks(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		cloud, cnws, ws := w.add(upstream.RSSCloud), w.add(upstream.CNWS), w.add(upstream.WebSub)
		w.advance(2 * time.Minute)
		w.requests()
		w.received()

		w.stop()
		w.advance(2 * time.Minute)
		w.start(upstream.Options{})
		w.advance(time.Minute)
		if n := len(w.received()); n != 0 {
			t.Errorf("%d checks after two minutes", n)
		}
		w.requests()

		w.stop()
		w.advance(time.Hour)
		w.start(upstream.Options{})
		w.advance(time.Minute)
		asked := map[string]bool{}
		for _, a := range w.requests() {
			asked[a.hub] = true
		}
		if !asked[cloudURL] || !asked["http://cnws.test/"] {
			t.Errorf("requests after an hour: %v", asked)
		}
		list := w.received()
		if len(list) != 2 { // a WebSub hub sends failed deliveries again
			t.Errorf("after an hour the signals are %+v", list)
		}
		for _, s := range list {
			if s.URL != feedURL || s.Via != upstream.ViaAway {
				t.Errorf("signal %+v", s)
			}
		}
		for _, f := range []upstream.Follow{cloud, cnws, ws} {
			if got := w.state(f, upstream.Active); got.Missed {
				t.Errorf("%s: the feed was not checked for missed news", f.Protocol)
			}
		}
	})
}

func TestNewPublicURLRenewsEveryUpstreamSubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.add(upstream.RSSCloud)
		w.add(upstream.WebSub)
		w.advance(2 * time.Minute)
		w.requests()
		w.stop()
		w.base = "https://new.test"
		w.start(upstream.Options{})
		w.advance(time.Minute)
		if n := len(w.requests()); n != 2 {
			t.Errorf("%d hubs got a new request, want 2", n)
		}
	})
}

func TestUnresponsiveHubIsRetriedAtGrowingIntervals(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		w.requests()
		w.configure(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		w.advance(24*time.Hour + 21*time.Minute)
		if got := w.state(f, upstream.Active); got.LastError != "Nobody there." || got.Failures == 0 {
			t.Errorf("after the first failure: %+v", got)
		}
		w.advance(20 * time.Hour)
		list := w.requests()
		within(t, "attempts", gaps(list[0].at, list[1:])[:7], around(time.Minute), around(5*time.Minute), around(30*time.Minute),
			around(2*time.Hour), around(6*time.Hour), around(6*time.Hour), [2]time.Duration{0, around(6 * time.Hour)[1]})
		w.state(f, upstream.Pending) // the registration has expired after 25 hours
		w.configure(func() { w.answer = nil })
		w.advance(8 * time.Hour)
		if got := w.state(f, upstream.Active); got.Failures != 0 || got.LastError != "" || got.Missed {
			t.Errorf("after its recovery: %+v", got)
		}
		if list := w.received(); len(list) != 1 || list[0].Via != upstream.ViaAway {
			t.Errorf("checks for missed news: %v", list)
		}
	})
}

func TestRetryAfterOfAHubIsRespected(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.answer = func(upstream.Follow) (upstream.Answer, error) {
			return upstream.Answer{}, &fault.Error{Code: fault.TooMany, Msg: "Slowly.", RetryAfter: time.Hour}
		}
		w.add(upstream.RSSCloud)
		w.advance(100 * time.Minute)
		list := w.requests()
		within(t, "attempts", gaps(list[0].at, list[1:]), [2]time.Duration{time.Hour, time.Hour + time.Second})
	})
}

func TestRefusedSubscriptionIsStoredAndRetriedAfterADay(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		w.answer = refuse(fault.Refused, "The hub refused. Not yours.")
		f := w.add(upstream.RSSCloud)
		w.advance(20 * time.Hour)
		if got := w.state(f, upstream.Refused); got.LastError != "The hub refused. Not yours." {
			t.Errorf("the reason is %q", got.LastError)
		}
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		if wanted, err := w.engine.Receive(t.Context(), feedURL, upstream.RSSCloud, peer(), 0); wanted || err != nil {
			t.Errorf("notifications after a refusal: %v, %v", wanted, err)
		}
		w.configure(func() { w.answer = nil })
		w.advance(8 * time.Hour)
		w.state(f, upstream.Active)
	})
}

func TestPermanentRefusalEndsTheSubscription(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]string{fault.Gone: upstream.Lost, fault.Refused: upstream.Lost} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
				f := w.add(upstream.RSSCloud)
				w.advance(time.Second)
				w.configure(func() { w.answer = refuse(code, "Never again.") })
				w.advance(25 * time.Hour)
				if got := w.state(f, want); got.LastError != "Never again." {
					t.Errorf("the reason is %q", got.LastError)
				}
				if texts := w.logged("drop"); len(texts) != 1 || !strings.Contains(texts[0], "Never again.") {
					t.Errorf("the log has %q", texts)
				}
			})
		})
	}
}

func TestDeniedSubscriptionEndsWithTheReasonOfTheHub(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.WebSub)
		w.advance(time.Second)
		f = w.reload(f)
		if err := w.engine.Denied(t.Context(), f.Token, "http://other.test/", "x"); err != nil {
			t.Fatal(err)
		}
		w.state(f, upstream.Active)
		if err := w.engine.Denied(t.Context(), f.Token, f.Topic, "You were too slow."); err != nil {
			t.Fatal(err)
		}
		if got := w.state(f, upstream.Lost); !strings.Contains(got.LastError, "You were too slow.") {
			t.Errorf("the reason is %q", got.LastError)
		}
		if err := w.engine.Delivered(t.Context(), f.Token, peer(), 0, upstream.Content{}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a delivery afterwards: %v", err)
		}
		w.advance(27 * time.Hour)
		w.state(f, upstream.Active) // the hub was asked again after a day
	})
}

func TestSubscriptionIsRequestedAgainIfTheHubDoesNotVerifyIt(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.lease = 0
		f := w.add(upstream.WebSub)
		w.advance(3 * time.Hour)
		list := w.requests()
		ten := [2]time.Duration{10 * time.Minute, 10*time.Minute + time.Second}
		within(t, "attempts", gaps(list[0].at, list[1:])[:4], ten, ten, ten, around(30*time.Minute))
		if got := w.state(f, upstream.Pending); !strings.Contains(got.LastError, "did not verify") {
			t.Errorf("the reason is %q", got.LastError)
		}
	})
}

func TestOnlyRequestedSubscriptionsAreConfirmed(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.lease = 0
		f := w.add(upstream.WebSub)
		confirm := func(want bool, token, topic string, subscribe bool) {
			t.Helper()
			if yes, err := w.engine.Confirm(t.Context(), token, topic, subscribe, time.Hour); yes != want || err != nil {
				t.Fatalf("confirmed: %v, %v; want %v", yes, err, want)
			}
		}
		w.advance(time.Second)
		confirm(false, "nobody's", f.Topic, true)
		confirm(false, f.Token, "http://other.test/", true)
		confirm(false, f.Token, f.Topic, false) // this server did not request the end of the subscription
		confirm(true, f.Token, f.Topic, true)
		w.advance(time.Minute)
		confirm(true, f.Token, f.Topic, true) // the hub verifies again because the answer was lost
		w.advance(20 * time.Minute)
		confirm(false, f.Token, f.Topic, true)
		w.advance(34 * time.Minute) // the renewal is requested during this time
		confirm(true, f.Token, f.Topic, true)
	})
}

func TestTwoProcessesSendEachRequestOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Rate: 1000, Away: time.Hour}, func(t *testing.T, w *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		other := w.run(ctx, w.node(upstream.Options{Rate: 1000, Away: time.Hour}))
		defer func() { cancel(); <-other }()
		for i := range 20 {
			feed := fmt.Sprintf("http://feeds.test/%d.xml", i)
			if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: feed, Via: upstream.RSSCloud, Hub: cloudURL, For: "relay"}); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			w.advance(24*time.Hour + 30*time.Minute)
			times := map[string]int{}
			for _, a := range w.requests() {
				times[a.feed]++
			}
			for feed, n := range times {
				if n > 2 { // one request at the beginning and one after a day
					t.Errorf("%s was requested %d times in a day", feed, n)
				}
			}
			if len(times) != 20 {
				t.Errorf("requests for %d feeds", len(times))
			}
		}
	})
}

func TestClaimOfACrashedProcessExpires(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		w.requests()
		w.advance(24*time.Hour - time.Minute)
		now := time.Now()
		if list, err := w.store.ClaimFollows(t.Context(), now.Add(2*time.Hour), now.Add(30*time.Minute), 1, 99); len(list) != 1 || err != nil {
			t.Fatalf("%v, %v", list, err)
		}
		w.advance(29 * time.Minute)
		if n := len(w.requests()); n != 0 {
			t.Errorf("%d requests during the claim of another process", n)
		}
		w.advance(2 * time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests after the claim expired", n)
		}
		w.state(f, upstream.Active)
	})
}

func TestDueRequestsAreSentAtASteadyPace(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Rate: 5}, func(t *testing.T, w *harness) {
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() {
				feed := fmt.Sprintf("http://feeds.test/%d.xml", i)
				if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: feed, Via: upstream.RSSCloud, Hub: cloudURL, For: "relay"}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		from := time.Now()
		w.advance(time.Minute)
		list := w.requests()
		if len(list) != 100 {
			t.Fatalf("%d requests in a minute", len(list))
		}
		if took := list[99].at.Sub(from); took < 15*time.Second || took > 30*time.Second {
			t.Errorf("100 requests took %s", took)
		}
		for i := 10; i < 100; i++ {
			if d := list[i].at.Sub(list[i-10].at); d < time.Second {
				t.Errorf("ten requests within %s", d)
			}
		}
	})
}

func TestCNWSSubscriptionIsRenewedAfter30DaysWithoutNotification(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // the test simulates many days; shorter tests run the same goroutines
	const day = 24 * time.Hour
	withHarness(t, upstream.Options{Away: day}, func(t *testing.T, w *harness) {
		f := w.add(upstream.CNWS)
		w.advance(time.Second)
		w.requests()
		w.advance(20 * day)
		if wanted, err := w.engine.Receive(t.Context(), feedURL, upstream.CNWS, peer(), 1); !wanted || err != nil {
			t.Fatalf("pushed: %v, %v", wanted, err)
		}
		pushed := time.Now()
		w.advance(29 * day)
		if n := len(w.requests()); n != 0 {
			t.Fatalf("%d requests", n)
		}
		w.advance(2 * day)
		within(t, "asked again", gaps(pushed, w.requests()), [2]time.Duration{30 * day, 30*day + time.Minute})
		if got := w.state(f, upstream.Active); !got.ExpiresAt.IsZero() {
			t.Errorf("it expires at %s", got.ExpiresAt)
		}
	})
}

func TestFeedThatMovedToAnotherHubIsSubscribedAtThatHub(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t) // the test simulates many days; shorter tests run the same goroutines
	withHarness(t, upstream.Options{Away: 24 * time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.WebSub)
		w.advance(time.Second)
		old := w.reload(f)
		w.configure(func() {
			w.found[feedURL] = upstream.Found{Topic: feedURL, Endpoints: []upstream.Endpoint{{Protocol: upstream.WebSub, Hub: "https://next.test/"}}}
			w.answer = func(f upstream.Follow) (upstream.Answer, error) {
				if f.Hub == hubURL {
					return upstream.Answer{}, fault.New(fault.Unreadable, "Nobody there.")
				}
				yes, err := w.engine.Confirm(context.Background(), f.Token, f.Topic, true, time.Hour)
				if !yes {
					t.Errorf("not confirmed: %v", err)
				}
				return upstream.Answer{}, nil
			}
		})
		w.advance(10 * 24 * time.Hour)
		got := w.state(f, upstream.Active)
		if got.Hub != "https://next.test/" || got.Token == old.Token || got.Secret == old.Secret {
			t.Errorf("the follow is %+v", got)
		}
	})
}
