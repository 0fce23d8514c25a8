package hubui

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// changeList is a store in memory that contains only recent changes.
type changeList struct {
	Store
	mu      sync.Mutex
	changes []hub.Change // sorted by time, oldest first
	now     time.Time
	err     error // if set, every read of the list returns this error
	reads   int   // number of reads of the list
}

func newFake() *changeList {
	return &changeList{now: time.Date(2026, 11, 20, 14, 2, 7, 0, time.UTC)}
}

func (f *changeList) Changes(_ context.Context, q hub.ChangeQuery) (out []hub.Change, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	all := slices.SortedFunc(slices.Values(f.changes), func(a, b hub.Change) int {
		if a.Cursor().Less(b.Cursor()) {
			return -1
		}
		return 1
	})
	if !q.Forward {
		slices.Reverse(all)
	}
	zero := event.Cursor{}
	for _, c := range all {
		at := c.Cursor()
		if !c.At.Before(q.Since) && (q.Before == zero || at.Less(q.Before)) && (q.After == zero || q.After.Less(at)) && len(out) < q.Limit {
			out = append(out, c)
		}
	}
	return out, f.err
}

func (f *changeList) listed(list ...hub.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range list {
		if c.Seq == 0 {
			c.Node, c.Seq = 17, int64(len(f.changes)+1)
		}
		if c.At.IsZero() {
			c.At = f.now
		}
		f.changes = append(f.changes, c)
	}
}

func site1(i int) hub.Change {
	return hub.Change{Name: fmt.Sprintf("Site number %d", i), URL: fmt.Sprintf("https://s%d.example/", i), Via: "weblogs"}
}

// wake publishes an event.
func (f *changeList) wake(bus *event.Bus) {
	e := event.Event{Kind: event.KindPing, OK: true, Text: "wake up"}
	bus.Stamp(f.now, &e)
	bus.Publish(e)
}

// newPages returns the pages of a hub whose store is f.
func newPages(t *testing.T, f *changeList) *Pages {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	return New(shell.New(shell.Options{Now: func() time.Time { return f.now }, Log: log}), Options{Store: f, Bus: event.NewBus(17)})
}

// tailOf returns pages whose stream of changes has n clients. The caller runs inside synctest.Test.
func tailOf(t *testing.T, f *changeList, n int) (*Pages, *event.Bus, []*tailReader) {
	t.Helper()
	s := newPages(t, f)
	var readers []*tailReader
	for range n {
		r, err := s.join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	return s, s.Bus, readers
}

func (r *tailReader) seqs() (out []int64) {
	for {
		select {
		case list, ok := <-r.c:
			if !ok {
				return append(out, -1)
			}
			for _, c := range list {
				out = append(out, c.Seq)
			}
		default:
			return out
		}
	}
}

func TestClientsOfTheChangesStreamShareOneQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.listed(site1(1))
		s, bus, readers := tailOf(t, f, 100)
		before := f.reads
		f.listed(site1(2), site1(3))
		f.wake(bus)
		synctest.Wait()
		if got := f.reads - before; got != 1 {
			t.Errorf("the list was read %d times for one change", got)
		}
		for _, r := range readers {
			if got := fmt.Sprint(r.seqs()); got != "[2 3]" {
				t.Fatalf("a reader got %s", got)
			}
			s.leave(r)
		}
		synctest.Wait()
		before = f.reads
		time.Sleep(time.Minute)
		if bus.Listeners() != 0 || f.reads != before {
			t.Error("it still reads without clients")
		}
	})
}

func TestChangesOfOtherNodesAndLateCommitsAreStreamedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.listed(site1(1))
		s, bus, readers := tailOf(t, f, 1)
		defer s.leave(readers[0])
		f.now = f.now.Add(5 * time.Second)
		f.listed(site1(2))
		f.wake(bus)
		synctest.Wait()
		f.listed(hub.Change{Node: 9, Seq: 9, At: f.now.Add(-time.Second), URL: "https://late.example/"})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := fmt.Sprint(readers[0].seqs()); got != "[2 9]" {
			t.Errorf("the reader got %s", got)
		}
	})
}

func TestSlowClientOfTheChangesStreamIsDroppedWithoutDelayingOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, _, readers := tailOf(t, f, 2)
		slow, quick := readers[0], readers[1]
		got := 0
		for i := range tailBuffer + 5 {
			f.listed(site1(i))
			time.Sleep(tailEvery)
			synctest.Wait()
			got += len(quick.seqs())
		}
		if got != tailBuffer+5 {
			t.Errorf("the quick one got %d", got)
		}
		if all := slow.seqs(); len(all) != tailBuffer+1 || all[tailBuffer] != -1 {
			t.Errorf("the slow one got %v, and should have been dropped", all)
		}
		s.leave(slow)
		s.leave(quick)
	})
}

func TestChangesStreamContinuesAfterTheStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := newPages(t, f)
		f.err = fmt.Errorf("away")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := s.join(ctx); err == nil {
			t.Fatal("a client joined although the tail was not ready")
		}
		time.AfterFunc(5*time.Second, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.err = nil
		})
		r, err := s.join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.listed(site1(1))
		time.Sleep(tailEvery)
		synctest.Wait()
		if got := fmt.Sprint(r.seqs()); got != "[1]" {
			t.Errorf("the reader got %s", got)
		}
		s.leave(r)
	})
}
