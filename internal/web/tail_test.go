package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// watchChanges is watch, for the list of changes.
func watchChanges(t *testing.T, server *httptest.Server, query, last string) *reader {
	t.Helper()
	return watchAt(t, server, "/changes/stream"+query, last)
}

func TestChangesStreamSendsWhatIsNewOnceAndInOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.listed(site1(0))
	server := serveWeb(t, w)
	page, program := watchChanges(t, server, "?as=html&q=SITE", ""), watchChanges(t, server, "?q=SITE", "")
	f.listed(site1(1), hub.Change{Name: "another", URL: "https://a.example/"}, site1(2))
	f.add(bus, ping("wake up"))
	f.listed(site1(3)) // nothing is said of it: it is found by looking
	for _, i := range []int64{2, 4, 5} {
		want := fmt.Sprintf("%d.17.%d", f.now.UnixMilli(), i)
		got := page.next(false)
		if got.id != want || !strings.HasPrefix(got.data, `<li class="event change" data-id="`+want) {
			t.Fatalf("got %+v, want %s", got, want)
		}
		got = program.next(false)
		var data struct{ Name, URL, Door string }
		if err := json.Unmarshal([]byte(got.data), &data); err != nil || got.id != want || !strings.HasPrefix(data.Name, "Site number") || data.Door != "weblogs" {
			t.Fatalf("got %+v, %v, want %s", got, err, want)
		}
	}
}

func TestChangesStreamResumesAfterTheLastEventID(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	for i := range 250 {
		f.listed(site1(i))
	}
	at := func(i int) string { return place(f.changes[i-1].Cursor()) }
	for _, how := range [][2]string{{"", at(30)}, {"?since=" + at(30), ""}, {"?since=" + at(99), at(30)}} {
		r := watchChanges(t, server, how[0], how[1])
		for want := 31; want <= len(f.changes); want++ {
			if got := r.next(false); got.id != at(want) {
				t.Fatalf("got %s, want %s", got.id, at(want))
			}
		}
		f.listed(site1(1000))
		f.add(bus, ping("wake up"))
		if got := r.next(false); got.id != at(len(f.changes)) {
			t.Errorf("after the missed ones came %s", got.id)
		}
		r.stop()
	}
	for range tailMissed {
		f.listed(site1(7))
	}
	if got := watchChanges(t, server, "", at(30)).next(false); got.name != "reset" {
		t.Errorf("who missed too much got %+v, want a reset", got)
	}
	if res := watchChanges(t, server, "?since=1.2", "").res; res.StatusCode != http.StatusOK {
		t.Errorf("a since that is none: %s", res.Status)
	}
	if res := watchChanges(t, server, "?after=no", "").res; res.StatusCode != http.StatusBadRequest {
		t.Errorf("a place that is none: %s", res.Status)
	}
}

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

func TestChangesStreamsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	done := make(chan struct{})
	w.Done = done
	server := serveWeb(t, w)
	first, second := watchChanges(t, server, "", ""), watchChanges(t, server, "", "")
	for bus.Listeners() == 0 {
		runtime.Gosched()
	}
	first.stop()
	close(done)
	if _, err := second.in.ReadString('\n'); err == nil {
		t.Error("a stream goes on after the program's end")
	}
	server.Close() // waits for every handler
	for bus.Listeners() != 0 {
		runtime.Gosched() // the tail ends a moment after its last reader
	}
}
