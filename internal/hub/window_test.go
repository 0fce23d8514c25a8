package hub_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
)

// recordingStore is a store that remembers which deliveries are recorded.
type recordingStore struct {
	hub.Store
	mu       sync.Mutex
	pos      map[int]int64 // key: number of the shard, value: id up to which deliveries are settled
	finished map[int]bool  // key: number of a finished shard
	shards   map[int]hub.Shard
	written  map[int64]bool // key: id of a subscription whose delivery has a row
	rows     int
	commits  int // successful checkpoints

	silence      time.Duration // how long the store does not respond after the first checkpoint
	silent, over time.Time
}

// awaitStore waits while the store does not respond.
func (l *recordingStore) awaitStore(ctx context.Context) error {
	l.mu.Lock()
	over := l.over
	l.mu.Unlock()
	if left := time.Until(over); left > 0 {
		select {
		case <-ctx.Done():
			return fault.New(fault.Unavailable, "the store is silent")
		case <-time.After(left):
		}
	}
	return nil
}

func (l *recordingStore) Batch(ctx context.Context, shard hub.Shard, after int64, now time.Time, size int) ([]hub.Subscription, error) {
	if err := l.awaitStore(ctx); err != nil {
		return nil, err
	}
	return l.Store.Batch(ctx, shard, after, now, size)
}

func (l *recordingStore) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	time.Sleep(5 * time.Millisecond)
	if err := l.awaitStore(ctx); err != nil {
		return false, err
	}
	again, err := l.Store.Checkpoint(ctx, c)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.commits++
		l.shards[c.Shard.N] = c.Shard
		l.pos[c.Shard.N], l.finished[c.Shard.N] = max(l.pos[c.Shard.N], c.Pos), l.finished[c.Shard.N] || c.Finish
		l.settled(c.Results)
		if l.silence > 0 && l.silent.IsZero() {
			l.silent = time.Now()
			l.over = l.silent.Add(l.silence)
		}
	}
	return again, err
}

func (l *recordingStore) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	err := l.Store.Settle(ctx, now, results, events)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.settled(results)
	}
	return err
}

func (l *recordingStore) settled(results []hub.Result) {
	for _, r := range results {
		if r.Outcome == hub.Delivered {
			l.rows++
			l.written[r.Key.ID] = true
		}
	}
}

// recorded reports whether the store shows that id was notified. A node that claims the shard would
// not repeat such a notification.
func (l *recordingStore) recorded(id int64) bool {
	if l.written[id] {
		return true
	}
	for n, shard := range l.shards {
		if b := hub.Bucket(id); b >= shard.Lo && b <= shard.Hi {
			return l.finished[n] || id <= l.pos[n]
		}
	}
	return false
}

// observed records the deliveries of a test, as seen by the callbacks.
type observed struct {
	*harness
	ledger *recordingStore
	takes  func(n int) time.Duration

	open          map[int64]time.Time // key: id of a delivery without a reply, value: when it was sent
	answered      map[int64]bool
	maxUnrecorded int // maximum number of unrecorded deliveries that were answered, or were sent less than 250 ms ago
	begun         time.Time
	starts        []time.Time
}

func (s *observed) Notify(_ context.Context, sub *hub.Subscription, _ *hub.Topic, _ *hub.Content, _ int) hub.Reply {
	begun := time.Now()
	s.mu.Lock()
	if s.begun.IsZero() {
		s.begun = begun
	}
	s.open[sub.ID] = begun
	s.starts = append(s.starts, begun)
	n := len(s.open) + len(s.answered)
	s.count(begun)
	s.mu.Unlock()
	time.Sleep(s.takes(n))
	s.mu.Lock()
	delete(s.open, sub.ID)
	s.answered[sub.ID] = true
	s.count(time.Now())
	s.mu.Unlock()
	return hub.Reply{OK: true, Took: time.Since(begun)}
}

func (s *observed) count(now time.Time) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	n := 0
	for _, at := range s.open {
		if now.Sub(at) < 250*time.Millisecond {
			n++
		}
	}
	for id := range s.answered {
		if s.ledger.recorded(id) {
			delete(s.answered, id)
			s.ledger.written[id] = true
		} else {
			n++
		}
	}
	s.maxUnrecorded = max(s.maxUnrecorded, n)
}

// deliverWithWindow runs a hub that shares its store, with subscribers in several shards.
func deliverWithWindow(t *testing.T, all, atOnce int, silence time.Duration, takes func(n int) time.Duration, do func(s *observed, took time.Duration)) {
	t.Helper()
	deliverToShards(t, all, hub.Options{MaxUnrecorded: 100, MaxInFlight: atOnce}, func() {}, 100, silence, takes, do)
}

// deliverToShards changes a feed with all subscribers in three shards, and requires that never more
// than limit deliveries are unrecorded. hint is nil for a single node.
func deliverToShards(t *testing.T, all int, o hub.Options, hint func(), limit int, silence time.Duration, takes func(n int) time.Duration, do func(s *observed, took time.Duration)) {
	t.Helper()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(all)
		if err := h.store.Split(t.Context(), hub.TopicID(feedURL), 3); err != nil {
			t.Fatal(err)
		}
		h.stop()
		st, err := store.Open(t.Context(), store.Options{Dir: h.dir, Log: h.hub.Log})
		if err != nil {
			t.Fatal(err)
		}
		l := &recordingStore{Store: st, silence: silence, pos: map[int]int64{}, finished: map[int]bool{}, shards: map[int]hub.Shard{}, written: map[int64]bool{}}
		s := &observed{harness: h, ledger: l, takes: takes, open: map[int64]time.Time{}, answered: map[int64]bool{}}
		engine := &hub.Hub{Store: l, Fetch: h, Notify: s, Verify: h, Ask: h, Bus: event.NewBus(9), Log: h.hub.Log,
			Options: o, Hint: hint}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		if err := engine.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- engine.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		h.set("two")
		if got, err := engine.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "rest"}); err != nil || !got.Changed {
			t.Fatalf("ping: %+v, %v", got, err)
		}
		for c := (hub.Counts{ShardsDue: 1}); c.ShardsDue+c.Pending > 0; {
			time.Sleep(time.Second)
			if c, err = l.Counts(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if time.Since(s.begun) > 10*time.Minute {
				t.Fatalf("the delivery does not end: %+v", c)
			}
		}
		again := 0
		if silence > 0 {
			again = limit // at most one window of unanswered deliveries is repeated
		}
		if n := int(engine.Live().Totals.Notified); n < all || n > all+again {
			t.Errorf("%d notifications, want %d and at most %d repeated ones", n, all, again)
		}
		do(s, time.Since(s.begun))
		if s.maxUnrecorded > limit {
			t.Errorf("%d deliveries were unrecorded at once, want at most %d", s.maxUnrecorded, limit)
		}
		if s.maxUnrecorded < limit/2 {
			t.Errorf("at most %d deliveries were unrecorded at once: too few to test a limit of %d", s.maxUnrecorded, limit)
		}
	})
}

func TestNumberOfUnrecordedDeliveriesOfANodeIsBounded(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for name, c := range map[string]struct {
		takes       func(int) time.Duration
		checkpoints int // maximum for 4,000 deliveries, of which at most 100 are unrecorded
	}{
		"quick": {func(int) time.Duration { return 2 * time.Millisecond }, 60},
		"mixed": {func(n int) time.Duration { return time.Duration(1+n*7919%45) * time.Millisecond }, 150},
		"far":   {func(n int) time.Duration { return time.Duration(30+n*7919%200) * time.Millisecond }, 340},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deliverWithWindow(t, 4000, 2000, 0, c.takes, func(s *observed, took time.Duration) {
				t.Logf("at most %d unrecorded, %d rows and %d checkpoints for 4000, %s", s.maxUnrecorded, s.ledger.rows, s.ledger.commits, took)
				if s.ledger.commits > c.checkpoints {
					t.Errorf("%d checkpoints, want at most %d", s.ledger.commits, c.checkpoints)
				}
			})
		})
	}
}

// A single node has no window: two batches of 500 of each shard may be open.
func TestNumberOfUnrecordedDeliveriesOfASingleNodeIsBoundedPerShard(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	takes := func(n int) time.Duration { return time.Duration(1+n*7919%45) * time.Millisecond }
	n := fulltest.Size(9000, 4500)
	deliverToShards(t, n, hub.Options{MaxInFlight: 2000}, nil, 3*2*500, 0, takes, func(s *observed, took time.Duration) {
		t.Logf("at most %d unrecorded, %d checkpoints for %d, %s", s.maxUnrecorded, s.ledger.commits, n, took)
	})
}

// The store does not respond for longer than a lease. Another node may have claimed the shards,
// so queued deliveries must not be sent.
func TestQueuedDeliveriesAreNotSentAfterTheLease(t *testing.T) {
	t.Parallel()
	const silence = time.Minute
	deliverWithWindow(t, 300, 10, silence, func(int) time.Duration { return 5 * time.Second }, func(s *observed, took time.Duration) {
		before := 0
		for _, at := range s.starts {
			since := at.Sub(s.ledger.silent)
			if since > 15*time.Second && since < silence {
				t.Fatalf("a delivery began %s after the last response of the store, with a lease of 15 s", since)
			}
			if since > 0 && since < silence {
				before++
			}
		}
		if before == 0 {
			t.Error("nothing was sent while the store did not respond: the test needs some deliveries")
		}
		t.Logf("%d deliveries while the store did not respond, %d in total, %s", before, len(s.starts), took)
	})
}

// stoppingStore is a store whose first checkpoint does not return before the hub is stopping.
type stoppingStore struct {
	hub.Store
	stop func()
	once *sync.Once
}

func (l stoppingStore) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	l.once.Do(func() {
		time.Sleep(100 * time.Millisecond)
		go l.stop()
		time.Sleep(time.Millisecond)
	})
	return l.Store.Checkpoint(ctx, c)
}

// The hub stops while one batch is done and later ones are running. The deliveries in progress must
// finish and must not be repeated. The order is random, so the test runs several times.
func TestDeliveriesInProgressAtShutdownFinishAndAreNotRepeated(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for range 8 {
		withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
			names := h.subscribers(1000)
			h.stop()
			ended := make(chan struct{})
			h.shared = true
			h.wrapStore = func(st hub.Store) hub.Store {
				return stoppingStore{st, func() { h.stop(); close(ended) }, &sync.Once{}}
			}
			h.start(hub.Options{})
			var n atomic.Int64
			h.setReply(func(string, int) hub.Reply {
				switch at := n.Add(1); { // the first batch, the second batch, and all later ones
				case at <= 50:
					time.Sleep(100 * time.Millisecond)
				case at <= 112:
					time.Sleep(150 * time.Millisecond)
				default:
					time.Sleep(time.Second)
				}
				return hub.Reply{OK: true}
			})
			h.change("two")
			<-ended
			soFar := n.Load()
			if soFar <= 112 || soFar >= 1000 {
				t.Fatalf("%d deliveries before the end; the test needs some of later batches, but not all", soFar)
			}
			h.wrapStore = nil
			h.start(hub.Options{})
			h.settle(time.Minute)
			for _, cb := range names {
				if notified := h.count(cb); notified != 1 {
					t.Fatalf("%s was notified %d times; %d deliveries before the end", cb, notified, soFar)
				}
			}
		})
	}
}
