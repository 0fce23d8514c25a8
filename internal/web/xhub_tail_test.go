package web

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// tailOf is a tail at work in the bubble of synctest, with n readers.
func tailOf(t *testing.T, f *fake, n int) (*hubPages, *event.Bus, []*tailReader) {
	t.Helper()
	w, bus := newWeb(t, f)
	s := newSite(w).hub
	var readers []*tailReader
	for range n {
		r, err := s.join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	return s, bus, readers
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

func TestOneReadingOfTheListServesAllWhoWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.listed(site1(1))
		s, bus, readers := tailOf(t, f, 100)
		before := f.looks
		f.listed(site1(2), site1(3))
		f.add(bus, ping("wake up"))
		synctest.Wait()
		if got := f.looks - before; got != 1 {
			t.Errorf("the list was read %d times for one change", got)
		}
		for _, r := range readers {
			if got := fmt.Sprint(r.seqs()); got != "[2 3]" {
				t.Fatalf("a reader got %s", got)
			}
			s.leave(r)
		}
		synctest.Wait()
		before = f.looks
		time.Sleep(time.Minute)
		if bus.Listeners() != 0 || f.looks != before {
			t.Error("it goes on reading when nobody watches")
		}
	})
}

func TestWhatAnotherNodeWritesAndWhatIsCommittedLateIsFoundWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.listed(site1(1))
		s, bus, readers := tailOf(t, f, 1)
		defer s.leave(readers[0])
		f.now = f.now.Add(5 * time.Second)
		f.listed(site1(2))
		f.add(bus, ping("wake up"))
		synctest.Wait()
		f.listed(hub.Change{Node: 9, Seq: 9, At: f.now.Add(-time.Second), URL: "https://late.example/"})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := fmt.Sprint(readers[0].seqs()); got != "[2 9]" {
			t.Errorf("the reader got %s", got)
		}
	})
}

func TestSlowReaderOfTheChangesIsDroppedAndHoldsUpNobody(t *testing.T) {
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

func TestTailWaitsForAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, _ := newWeb(t, f)
		s := newSite(w).hub
		f.err = fmt.Errorf("away")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := s.join(ctx); err == nil {
			t.Fatal("a reader is told that he hears everything, and does not")
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
