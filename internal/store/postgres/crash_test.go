package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// TestDatabaseCrashLosesNoAcknowledgedWrite crashes the server under load, lets the writers fail, and
// starts the server again.
func TestDatabaseCrashLosesNoAcknowledgedWrite(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	url, err := cluster.Database("crash")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	hints := s.Hints(t.Context())
	waitForHint(t, hints)
	w := &writers{store: s, acknowledged: map[string]bool{}}
	w.start(t, 16)
	for range 3 {
		w.wait(t, &w.good, 200)
		cluster.Crash()
		w.wait(t, &w.refused, 32) // every writer has failed
		if err := s.Ping(t.Context()); fault.CodeOf(err) != fault.Unavailable || fault.RetryAfter(err) <= 0 {
			t.Errorf("Ping while the server is away: %v", err)
		}
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
		waitForHint(t, hints) // the listener is connected again and reports that hints may be missing
	}
	w.wait(t, &w.good, 200)
	w.stop()
	for url := range w.acknowledged {
		if topic, err := s.Topic(t.Context(), hub.TopicID(url)); err != nil || topic.PingedAt.IsZero() {
			t.Errorf("%s was acknowledged but is missing: %v", url, err)
		}
	}
	counts, err := s.Counts(t.Context(), time.UnixMilli(1))
	if err != nil || counts.Topics < int64(len(w.acknowledged)) || counts.Events != counts.Topics {
		t.Errorf("%d were acknowledged; stored: %+v, %v", len(w.acknowledged), counts, err)
	}
}

// writers record pings as fast as possible.
type writers struct {
	store         hub.Store
	good, refused atomic.Int64
	group         sync.WaitGroup
	done          atomic.Bool

	mu           sync.Mutex
	acknowledged map[string]bool
}

func (w *writers) start(t *testing.T, n int) {
	for id := range n {
		w.group.Go(func() {
			for i := 1; !w.done.Load(); i++ {
				url := fmt.Sprintf("http://127.0.0.1/%d/%d", id, i)
				now := time.UnixMilli(1_790_000_000_000)
				err := w.store.RecordPing(t.Context(), url, now, now, []event.Event{{Node: int64(id + 1), Seq: int64(i), At: now, Kind: event.KindPing}})
				switch {
				case err == nil:
					w.good.Add(1)
					w.mu.Lock()
					w.acknowledged[url] = true
					w.mu.Unlock()
				case fault.CodeOf(err) == fault.Unavailable:
					w.refused.Add(1)
					<-time.After(20 * time.Millisecond) // a refused connection takes no time, so a loop without a pause would use the whole processor
				default:
					t.Errorf("a write while the server restarts: %v", err)
					return
				}
			}
		})
	}
	t.Cleanup(w.stop)
}

func (w *writers) stop() {
	w.done.Store(true)
	w.group.Wait()
}

// wait waits until the counter has increased by more.
func (w *writers) wait(t *testing.T, counter *atomic.Int64, more int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := counter.Load() + more; counter.Load() < until; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("after five minutes %d of %d: %d acknowledged, %d refused", counter.Load(), until, w.good.Load(), w.refused.Load())
		}
	}
}
