package announce

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/nettest"
)

// memoryStore is a Store in memory.
type memoryStore struct {
	mu     sync.Mutex
	all    map[Key]PendingTarget
	events []event.Event
}

func (r *memoryStore) ChangeTargets(_ context.Context, keys []Key, change func(*PendingTarget, bool) (Verdict, []event.Event)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keys {
		o, found := r.all[k]
		o.Key = k
		v, events := change(&o, found)
		switch v {
		case Keep:
			r.all[k] = o
		case Delete:
			delete(r.all, k)
		}
		r.events = append(r.events, events...)
	}
	return nil
}

func (r *memoryStore) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// loggedEvents returns the stored events, oldest first.
func (r *memoryStore) loggedEvents() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *memoryStore) ClaimTargets(_ context.Context, now, until time.Time, limit int, lease int64) ([]PendingTarget, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []PendingTarget
	for k, o := range r.all {
		if len(list) < limit && !o.DueAt.IsZero() && !o.DueAt.After(now) {
			o.Lease, o.DueAt = lease, until
			r.all[k] = o
			list = append(list, o)
		}
	}
	return list, nil
}

func (r *memoryStore) Targets(_ context.Context, q Query) ([]PendingTarget, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []PendingTarget
	for _, o := range r.all {
		after := fmt.Sprint(o.Key) > fmt.Sprint(q.After)
		if after && (!q.Pending || o.Notified < o.Version) && (q.User == "" || q.User == o.User) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b PendingTarget) int { return compare(a.Key, b.Key) })
	return list, nil
}

func compare(a, b Key) int {
	if fmt.Sprint(a) < fmt.Sprint(b) {
		return -1
	}
	return 1
}

func (r *memoryStore) NextTarget(context.Context) (next time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.all {
		if !o.DueAt.IsZero() && (next.IsZero() || o.DueAt.Before(next)) {
			next = o.DueAt
		}
	}
	return next, nil
}

func (r *memoryStore) one() PendingTarget {
	list, _ := r.Targets(context.Background(), Query{})
	if len(list) == 0 {
		return PendingTarget{}
	}
	return list[0]
}

// scenario is an announcer whose targets reply as the test requires.
type scenario struct {
	*Announcer
	store   *memoryStore
	mu      sync.Mutex
	sent    []string // entries "seconds since the start: kind version"
	answer  func(n int, s Target, v News) (string, error)
	begun   time.Time
	targets []Target
}

func newScenario(t *testing.T, targets ...string) *scenario {
	t.Helper()
	w := &scenario{store: &memoryStore{all: map[Key]PendingTarget{}}, begun: time.Now()}
	for _, text := range targets {
		s, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		w.targets = append(w.targets, s)
	}
	w.Announcer = &Announcer{
		Store: w.store, Send: w, Bus: event.NewBus(1),
		Targets: func(context.Context, string) ([]Target, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.targets), nil
		},
	}
	return w
}

func (w *scenario) Send(_ context.Context, s Target, n News) (string, error) {
	w.mu.Lock()
	w.sent = append(w.sent, fmt.Sprintf("%d: %s %d", int(time.Since(w.begun).Seconds()), s.Kind, n.Version))
	i := len(w.sent)
	w.mu.Unlock()
	if w.answer == nil {
		return "Thanks.", nil
	}
	return w.answer(i, s, n)
}

func (w *scenario) log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

func (w *scenario) save(t *testing.T, version int64) {
	t.Helper()
	err := w.Saved(t.Context(), News{User: "ann", Topic: "http://me/ann/rss.xml", Name: "Ann", Version: version, SavedAt: time.Now()})
	if err != nil {
		t.Error(err)
	}
}

// withRunningAnnouncer runs f in a synctest bubble while the announcer runs.
func withRunningAnnouncer(t *testing.T, f func(t *testing.T, w *scenario), targets ...string) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newScenario(t, targets...)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		f(t, w)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

const cloud = "rsscloud http://hub.example/rsscloud/ping"

func TestSavedVersionIsSentToEachPingTargetOnce(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.save(t, 1)
		w.save(t, 1)
		time.Sleep(time.Hour)
		got := w.log()
		slices.Sort(got)
		if d := cmp.Diff([]string{"0: rsscloud 1", "0: websub 1"}, got); d != "" {
			t.Error(d)
		}
		if o := w.store.one(); o.Notified != 1 || !o.DueAt.IsZero() || !o.OK || o.Last != "Thanks." || o.Lease != 0 {
			t.Errorf("stored: %+v", o)
		}
		if e := w.store.loggedEvents()[0]; e.Kind != event.KindTarget || !e.OK || e.Peer != "hub.example" {
			t.Errorf("the event is %+v", e)
		}
	}, cloud, "websub http://hub.example/hub")
}

func TestUnreachablePingTargetIsRetriedWithBackoffForOneWeek(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(int, Target, News) (string, error) { return "", fault.New(fault.Unreadable, "Connection refused.") }
		w.save(t, 1)
		time.Sleep(10 * 24 * time.Hour)
		got := w.log()
		want := []string{"0: rsscloud 1", "5: rsscloud 1", "35: rsscloud 1", "155: rsscloud 1", "755: rsscloud 1", "4355: rsscloud 1", "25955: rsscloud 1", "112355: rsscloud 1"}
		if d := cmp.Diff(want, got[:min(len(got), len(want))]); d != "" {
			t.Error(d)
		}
		if len(got) != len(want)+5 {
			t.Errorf("%d attempts in ten days", len(got))
		}
		if o := w.store.one(); !o.GaveUp || !o.DueAt.IsZero() || o.Last != "Connection refused." {
			t.Errorf("stored: %+v", o)
		}
		w.save(t, 2)
		synctest.Wait()
		time.Sleep(time.Second)
		if texts := w.log(); len(texts) != len(got)+1 {
			t.Errorf("%d attempts after the next save, was %d", len(texts), len(got))
		}
	}, cloud)
}

func TestPingTargetThatRejectsPingsIsTriedThreeTimes(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(int, Target, News) (string, error) { return "", fault.New(fault.Refused, "Not you.") }
		w.save(t, 1)
		time.Sleep(24 * time.Hour)
		if d := cmp.Diff([]string{"0: rsscloud 1", "5: rsscloud 1", "35: rsscloud 1"}, w.log()); d != "" {
			t.Error(d)
		}
		if n, err := w.Retry(t.Context(), "http://hub.example/rsscloud/ping"); n != 1 || err != nil {
			t.Errorf("retried %d, %v", n, err)
		}
		if n, err := w.Retry(t.Context(), "http://other.example/"); n != 0 || err != nil {
			t.Errorf("another target: retried %d, %v", n, err)
		}
		time.Sleep(time.Second)
		if n := len(w.log()); n != 4 {
			t.Errorf("%d attempts, want one more after Retry", n)
		}
	}, cloud)
}

func TestRetryAfterOfPingTargetIsRespected(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(n int, _ Target, _ News) (string, error) {
			if n == 1 {
				return "", &fault.Error{Code: fault.Unreadable, Msg: "Later.", RetryAfter: 100 * time.Second}
			}
			return "", nil
		}
		w.save(t, 1)
		time.Sleep(time.Minute)
		w.save(t, 2)
		time.Sleep(time.Hour)
		if d := cmp.Diff([]string{"0: rsscloud 1", "100: rsscloud 2"}, w.log()); d != "" {
			t.Error(d)
		}
	}, cloud)
}

func TestVersionSavedDuringAPingIsSentAfterwards(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(n int, _ Target, _ News) (string, error) {
			time.Sleep(10 * time.Second)
			return "", nil
		}
		for v := range int64(5) {
			w.save(t, v+1)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		if d := cmp.Diff([]string{"0: rsscloud 1", "10: rsscloud 5"}, w.log()); d != "" {
			t.Error(d)
		}
	}, cloud)
}

func TestRemovedPingTargetIsDeleted(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(int, Target, News) (string, error) { return "", fault.New(fault.Unreadable, "Connection refused.") }
		w.save(t, 1)
		time.Sleep(time.Second)
		w.mu.Lock()
		w.targets = nil
		w.mu.Unlock()
		time.Sleep(time.Hour)
		if n := len(w.log()); n != 1 || w.store.count() != 0 {
			t.Errorf("%d attempts, %d rows", n, w.store.count())
		}
	}, cloud)
}

func TestAbandonedPingTargetIsNotListedAfterRemoval(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(int, Target, News) (string, error) { return "", fault.New(fault.Refused, "No.") }
		w.save(t, 1)
		time.Sleep(time.Hour)
		listed := func() int {
			list, err := w.List(t.Context(), Query{Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		if n := listed(); n != 1 || !w.store.one().GaveUp {
			t.Fatalf("%d targets listed, %+v", n, w.store.one())
		}
		w.mu.Lock()
		w.targets = nil
		w.mu.Unlock()
		if n := listed(); n != 0 || w.store.count() != 0 {
			t.Errorf("%d targets listed, %d rows", n, w.store.count())
		}
	}, cloud)
}

func TestOwnEndpointsAreNeverPinged(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.Own = func(url string) bool { return url == "http://hub.example/rsscloud/ping" }
		w.save(t, 1)
		time.Sleep(time.Hour)
		if n := len(w.log()); n != 0 || w.store.count() != 0 {
			t.Errorf("%d attempts, %d rows", n, w.store.count())
		}
	}, cloud)
}

func TestSlowPingTargetDoesNotDelayOtherHosts(t *testing.T) {
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(_ int, s Target, _ News) (string, error) {
			if s.Kind == RSSCloud {
				time.Sleep(29 * time.Second)
			}
			return "", nil
		}
		for i := range 40 {
			err := w.Saved(t.Context(), News{User: fmt.Sprint("user", i), Topic: "http://me/", Version: 1, SavedAt: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(28 * time.Second)
		slow, quick := 0, 0
		for _, s := range w.log() {
			if s == "0: rsscloud 1" {
				slow++
			} else {
				quick++
			}
		}
		if slow != 4 || quick != 40 {
			t.Errorf("%d pings in progress at the slow host, %d sent elsewhere", slow, quick)
		}
	}, cloud, "websub http://quick.example/hub")
}

func TestEquivalentHostNamesShareOnePingLimit(t *testing.T) {
	var targets []string
	for _, root := range nettest.Spellings("slow.example") {
		targets = append(targets, "rsscloud "+root+"/ping")
	}
	withRunningAnnouncer(t, func(t *testing.T, w *scenario) {
		w.answer = func(int, Target, News) (string, error) {
			time.Sleep(29 * time.Second)
			return "", nil
		}
		w.save(t, 1)
		time.Sleep(28 * time.Second)
		if n := len(w.log()); n != 4 {
			t.Errorf("%d pings in progress at the host, want 4", n)
		}
	}, targets...)
}

func TestPendingPingIsSentAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newScenario(t, cloud)
		w.save(t, 1) // the process crashes before the ping
		next := newScenario(t, cloud)
		next.Store = w.store
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := next.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"0: rsscloud 1"}, next.log()); d != "" {
			t.Error(d)
		}
	})
}
