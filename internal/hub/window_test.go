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

// ledger is a store that remembers which deliveries are written down.
type ledger struct {
	hub.Store
	mu      sync.Mutex
	pos     map[int]int64 // by part: told up to here
	whole   map[int]bool  // parts that are finished
	parts   map[int]hub.Shard
	written map[int64]bool // by row
	rows    int

	silence      time.Duration // after the first checkpoint, in which nobody answers
	silent, over time.Time
}

// answers waits while the store is silent.
func (l *ledger) answers(ctx context.Context) error {
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

func (l *ledger) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, size int) ([]hub.Subscription, error) {
	if err := l.answers(ctx); err != nil {
		return nil, err
	}
	return l.Store.Batch(ctx, p, after, now, size)
}

func (l *ledger) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	time.Sleep(5 * time.Millisecond)
	if err := l.answers(ctx); err != nil {
		return false, err
	}
	again, err := l.Store.Checkpoint(ctx, c)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.parts[c.Shard.N] = c.Shard
		l.pos[c.Shard.N], l.whole[c.Shard.N] = max(l.pos[c.Shard.N], c.Pos), l.whole[c.Shard.N] || c.Finish
		l.settled(c.Results)
		if l.silence > 0 && l.silent.IsZero() {
			l.silent = time.Now()
			l.over = l.silent.Add(l.silence)
		}
	}
	return again, err
}

func (l *ledger) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	err := l.Store.Settle(ctx, now, results, events)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.settled(results)
	}
	return err
}

func (l *ledger) settled(results []hub.Result) {
	for _, r := range results {
		if r.Outcome == hub.Delivered {
			l.rows++
			l.written[r.Key.ID] = true
		}
	}
}

// has reports whether a machine that took over now would know that id was told.
func (l *ledger) has(id int64) bool {
	if l.written[id] {
		return true
	}
	for n, p := range l.parts {
		if b := hub.Bucket(id); b >= p.Lo && b <= p.Hi {
			return l.whole[n] || id <= l.pos[n]
		}
	}
	return false
}

// sendings are the deliveries of a test, as callbacks see them.
type sendings struct {
	*world
	ledger *ledger
	takes  func(n int) time.Duration

	under    map[int64]time.Time // sent and not answered
	answered map[int64]bool
	most     int // answered and not written down, or sent less than 250 ms ago
	begun    time.Time
	starts   []time.Time
}

func (s *sendings) Notify(_ context.Context, sub hub.Subscription, _ hub.Topic, _ *hub.Content, _ int) hub.Reply {
	begun := time.Now()
	s.mu.Lock()
	if s.begun.IsZero() {
		s.begun = begun
	}
	s.under[sub.ID] = begun
	s.starts = append(s.starts, begun)
	n := len(s.under) + len(s.answered)
	s.look(begun)
	s.mu.Unlock()
	time.Sleep(s.takes(n))
	s.mu.Lock()
	delete(s.under, sub.ID)
	s.answered[sub.ID] = true
	s.look(time.Now())
	s.mu.Unlock()
	return hub.Reply{OK: true, Took: time.Since(begun)}
}

func (s *sendings) look(now time.Time) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	n := 0
	for _, at := range s.under {
		if now.Sub(at) < 250*time.Millisecond {
			n++
		}
	}
	for id := range s.answered {
		if s.ledger.has(id) {
			delete(s.answered, id)
			s.ledger.written[id] = true
		} else {
			n++
		}
	}
	s.most = max(s.most, n)
}

// unwritten runs a hub that has others beside it, and has it tell subscribers of several parts.
func unwritten(t *testing.T, all, atOnce int, silence time.Duration, takes func(n int) time.Duration, do func(s *sendings, took time.Duration)) {
	t.Helper()
	const window = 100
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(all)
		if err := w.store.Split(t.Context(), hub.TopicID(feedURL), 3); err != nil {
			t.Fatal(err)
		}
		w.stop()
		st, err := store.Open(t.Context(), store.Options{Dir: w.dir, Log: w.hub.Log})
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger{Store: st, silence: silence, pos: map[int]int64{}, whole: map[int]bool{}, parts: map[int]hub.Shard{}, written: map[int64]bool{}}
		s := &sendings{world: w, ledger: l, takes: takes, under: map[int64]time.Time{}, answered: map[int64]bool{}}
		h := &hub.Hub{Store: l, Fetch: w, Notify: s, Verify: w, Ask: w, Bus: event.NewBus(9), Log: w.hub.Log,
			Options: hub.Options{MaxUnrecorded: window, MaxInFlight: atOnce}, Hint: func() {}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		if err := h.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- h.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		w.set("two")
		if got, err := h.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "rest"}); err != nil || !got.Changed {
			t.Fatalf("ping: %+v, %v", got, err)
		}
		for c := (hub.Counts{ShardsDue: 1}); c.ShardsDue+c.Pending > 0; {
			time.Sleep(time.Second)
			if c, err = l.Counts(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if time.Since(s.begun) > 10*time.Minute {
				t.Fatalf("it does not end: %+v", c)
			}
		}
		again := 0
		if silence > 0 {
			again = window // what was on its way is told again
		}
		if n := int(h.Live().Totals.Notified); n < all || n > all+again {
			t.Errorf("%d were told, want %d and at most %d again", n, all, again)
		}
		do(s, time.Since(s.begun))
		if s.most > window {
			t.Errorf("%d were unwritten at once; %d is the bound", s.most, window)
		}
		if s.most < window/2 {
			t.Errorf("at most %d were unwritten at once, which proves nothing of a bound of %d", s.most, window)
		}
	})
}

func TestAMachineAmongOthersHasFewDeliveriesUnwritten(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for name, takes := range map[string]func(int) time.Duration{
		"quick": func(int) time.Duration { return 2 * time.Millisecond },
		"mixed": func(n int) time.Duration { return time.Duration(1+n*7919%45) * time.Millisecond },
		"far":   func(n int) time.Duration { return time.Duration(30+n*7919%200) * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unwritten(t, 4000, 2000, 0, takes, func(s *sendings, took time.Duration) {
				t.Logf("at most %d unwritten, %d rows for 4000, %s", s.most, s.ledger.rows, took)
			})
		})
	}
}

// The store is silent for longer than a lease: another machine has the rest by then, so
// what still waits for its turn here is not sent.
func TestWhatWaitsIsNotSentWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	const silence = time.Minute
	unwritten(t, 300, 10, silence, func(int) time.Duration { return 5 * time.Second }, func(s *sendings, took time.Duration) {
		before := 0
		for _, at := range s.starts {
			since := at.Sub(s.ledger.silent)
			if since > 15*time.Second && since < silence {
				t.Fatalf("a delivery began %s after the last word of the store, whose lease was 15 s", since)
			}
			if since > 0 && since < silence {
				before++
			}
		}
		if before == 0 {
			t.Error("nothing was sent while the store was silent: this proves nothing")
		}
		t.Logf("%d were sent while the store was silent, %d in all, %s", before, len(s.starts), took)
	})
}

// lateToStop is a store whose first checkpoint lasts until the hub has been told to stop.
type lateToStop struct {
	hub.Store
	stop func()
	once *sync.Once
}

func (l lateToStop) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	l.once.Do(func() {
		time.Sleep(100 * time.Millisecond)
		go l.stop()
		time.Sleep(time.Millisecond)
	})
	return l.Store.Checkpoint(ctx, c)
}

// The end comes while a page is done and later ones are under way: those are answered, and
// not sent again. Which of the two a pass sees first is chance, so it is tried some times.
func TestWhatIsUnderWayAtTheEndIsNotToldTwice(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for range 8 {
		inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
			names := w.subscribers(1000)
			w.stop()
			ended := make(chan struct{})
			w.shared = true
			w.wrapStore = func(st hub.Store) hub.Store {
				return lateToStop{st, func() { w.stop(); close(ended) }, &sync.Once{}}
			}
			w.start(hub.Options{})
			var n atomic.Int64
			w.answers(func(string, int) hub.Reply {
				switch at := n.Add(1); { // the first page, the second one, and those behind them
				case at <= 50:
					time.Sleep(100 * time.Millisecond)
				case at <= 112:
					time.Sleep(150 * time.Millisecond)
				default:
					time.Sleep(time.Second)
				}
				return hub.Reply{OK: true}
			})
			w.change("two")
			<-ended
			sofar := n.Load()
			if sofar <= 112 || sofar >= 1000 {
				t.Fatalf("%d were told before the end; the test needs some of later pages, and not all", sofar)
			}
			w.wrapStore = nil
			w.start(hub.Options{})
			w.settle(time.Minute)
			for _, cb := range names {
				if told := w.count(cb); told != 1 {
					t.Fatalf("%s was told %d times; %d had been told at the end", cb, told, sofar)
				}
			}
		})
	}
}
