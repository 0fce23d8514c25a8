package upstream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
)

func TestServerStartRenewsAllUpstreamSubscriptionsExceptRecentOnes(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		follows := []upstream.Follow{w.add(upstream.RSSCloud), w.add(upstream.CNWS), w.add(upstream.WebSub)}
		restart := func(after time.Duration) (asked map[string]int) {
			t.Helper()
			w.advance(after)
			w.requests()
			w.stop()
			w.advance(time.Second)
			w.start(upstream.Options{Away: time.Hour})
			w.advance(30 * time.Second)
			asked = map[string]int{}
			for _, a := range w.requests() {
				asked[a.hub]++
			}
			return asked
		}
		if asked := restart(20 * time.Second); len(asked) != 0 {
			t.Errorf("20 seconds after the first requests a start sends %v", asked)
		}
		for range 2 {
			asked := restart(2 * time.Minute)
			if len(asked) != 3 || asked[cloudURL] != 1 || asked["http://cnws.test/"] != 1 || asked[hubURL] != 1 {
				t.Errorf("a later start sends %v", asked)
			}
		}
		if list := w.received(); len(list) != 0 {
			t.Errorf("a start caused checks: %+v", list)
		}
		for _, f := range follows {
			w.state(f, upstream.Active)
		}
		asked := time.Now()
		w.advance(23 * time.Hour)
		for _, a := range w.requests() {
			if a.hub == cloudURL {
				t.Errorf("its renewal comes %s after the start", a.at.Sub(asked))
			}
		}
		w.advance(2 * time.Hour)
		if len(w.requests()) == 0 {
			t.Error("there is no renewal within 25 hours of the start")
		}
	})
}

func TestServerStartRetriesHubsThatRefusedOrFailed(t *testing.T) {
	t.Parallel()
	for name, no := range map[string]error{
		"refused": fault.New(fault.Refused, "You cannot be reached."), "no answer": fault.New(fault.Unreadable, "Nobody there."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
				w.answer = func(upstream.Follow) (upstream.Answer, error) { return upstream.Answer{}, no }
				f := w.add(upstream.RSSCloud)
				w.advance(2 * time.Hour)
				w.stop()
				w.configure(func() { w.answer = nil })
				w.start(upstream.Options{})
				w.advance(10 * time.Second)
				w.state(f, upstream.Active)
			})
		})
	}
}

// manyFollows follows n feeds at one hub and waits until all requests are sent.
func (w *harness) manyFollows(n int) {
	w.t.Helper()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			feed := fmt.Sprintf("http://feeds.test/%d.xml", i)
			if _, err := w.engine.Add(w.t.Context(), upstream.Request{Feed: feed, Via: upstream.RSSCloud, Hub: cloudURL, For: "relay"}); err != nil {
				w.t.Error(err)
			}
		})
	}
	group.Wait()
	w.advance(2 * time.Minute)
	if got := len(w.requests()); got != n {
		w.t.Fatalf("%d of %d requests", got, n)
	}
}

func TestRenewalsAfterServerStartAreRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Rate: 5, Away: time.Hour}, func(t *testing.T, w *harness) {
		const n = 100
		w.manyFollows(n)
		w.advance(time.Hour)
		w.stop()
		w.requests() // discard a renewal that was due before the start
		from := time.Now()
		w.start(upstream.Options{Rate: 5, Away: time.Hour})
		w.advance(5 * time.Second)
		early := len(w.requests())
		if early == 0 || early > n/2 {
			t.Errorf("%d of %d requests in the first five seconds", early, n)
		}
		late := w.addEndpoint(theCloudEndpoint(), upstream.Reader) // a user adds a feed after the start
		w.advance(5 * time.Second)
		if got := w.reload(late); got.State != upstream.Active {
			t.Errorf("a feed added during the start is %s after five seconds", got.State)
		}
		w.advance(time.Minute)
		list := w.requests()
		if got := early + len(list); got != n+1 {
			t.Errorf("%d requests, want %d", got, n+1)
		}
		for i := 10; i < len(list); i++ {
			if d := list[i].at.Sub(list[i-10].at); d < time.Second {
				t.Errorf("ten requests within %s, %s after the start", d, list[i].at.Sub(from))
			}
		}
	})
}

// Two more processes start on one database, one after the other, while the first one is running.
// The hub gets one request for each feed.
func TestNodesStartedConcurrentlyRenewSubscriptionsOnce(t *testing.T) {
	t.Parallel()
	options := upstream.Options{Rate: 5, Away: time.Hour}
	withHarness(t, options, func(t *testing.T, w *harness) {
		const n = 60
		w.manyFollows(n)
		w.advance(time.Hour)
		w.requests() // discard a renewal that was due before the starts
		ctx, cancel := context.WithCancel(context.Background())
		defer func() { cancel(); w.advance(time.Second) }()
		for range 2 {
			w.run(ctx, w.node(options))
			w.advance(20 * time.Second)
		}
		w.advance(time.Minute)
		times := map[string]int{}
		for _, a := range w.requests() {
			times[a.feed]++
		}
		for feed, k := range times {
			if k != 1 {
				t.Errorf("%s was requested %d times", feed, k)
			}
		}
		if len(times) != n {
			t.Errorf("requests for %d of %d feeds", len(times), n)
		}
	})
}

// failingAtFirst is a store whose first calls fail.
type failingAtFirst struct {
	upstream.Store
	mu   sync.Mutex
	left map[string]int
}

func (a *failingAtFirst) fails(call string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left[call]--; a.left[call] >= 0 {
		return fault.New(fault.Unavailable, "The database is away.")
	}
	return nil
}

func (a *failingAtFirst) FollowsAlive(ctx context.Context, now time.Time) (time.Time, error) {
	if err := a.fails("alive"); err != nil {
		return time.Time{}, err
	}
	return a.Store.FollowsAlive(ctx, now)
}

func (a *failingAtFirst) RenewFollows(ctx context.Context, r upstream.Renew) (int64, error) {
	if err := a.fails("renew"); err != nil {
		return 0, err
	}
	return a.Store.RenewFollows(ctx, r)
}

func TestSubscriptionsAreRenewedLaterIfTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.add(upstream.RSSCloud)
		w.advance(3 * time.Minute)
		w.requests()
		e := w.node(upstream.Options{})
		e.Store = &failingAtFirst{Store: w.store, left: map[string]int{"alive": 1, "renew": 1}}
		ctx, cancel := context.WithCancel(context.Background())
		ended := w.run(ctx, e)
		defer func() { cancel(); <-ended }()
		w.advance(90 * time.Second)
		if n := len(w.requests()); n != 0 {
			t.Errorf("%d hubs got a request while the start cannot be stored", n)
		}
		w.advance(time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d hubs got a request once the start is stored", n)
		}
	})
}
