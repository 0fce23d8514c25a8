package hub

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Any number of unknown hosts may be unreachable, so some slots are reserved for hosts that are
// known to reply quickly.
func TestUnknownHostsDoNotUseAllDeliverySlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		d := newDispatcher(100, time.Minute, time.Now, &counters{}, func(v *delivery) Reply {
			if strings.Contains(v.sub.Callback, "dead") {
				<-hang
				return Reply{Timeout: true, Took: time.Minute}
			}
			return Reply{OK: true, Took: time.Millisecond}
		})
		var delivered, timedOut atomic.Int64
		batch := func(n int, format string) (list []*delivery) {
			for i := range n {
				list = append(list, &delivery{sub: Subscription{Callback: fmt.Sprintf(format, i)}, finish: func(_ *delivery, r Reply) {
					if r.OK {
						delivered.Add(1)
					} else if r.Timeout {
						timedOut.Add(1)
					}
				}})
			}
			return list
		}
		d.submit(batch(10, "http://quick%d.test/"))
		synctest.Wait()
		if delivered.Load() != 10 {
			t.Fatalf("%d of 10 were notified", delivered.Load())
		}
		d.submit(batch(1000, "http://dead%d.test/"))
		<-time.After(time.Second) // deliveries are fresh for a shorter time than this, and then wait for the network
		d.submit(batch(10, "http://quick%d.test/"))
		<-time.After(time.Second)
		synctest.Wait()
		if _, inFlight := d.load(); delivered.Load() != 20 || inFlight != 85 {
			t.Errorf("%d of 20 were notified while %d of 100 slots were in use", delivered.Load(), inFlight)
		}
		close(hang)
		synctest.Wait()
		if queue, inFlight := d.load(); timedOut.Load() != 1000 || queue != 0 || d.slow != 0 || d.unknown != 0 {
			t.Errorf("%d of 1000 timed out; %d queued, %d running, %d counted as slow and %d as unknown", timedOut.Load(), queue, inFlight, d.slow, d.unknown)
		}
		<-time.After(3 * idleWorkerTTL) // wait until idle workers end, which would otherwise look like leaked goroutines
	})
}

// A new host must not wait forever behind known hosts.
func TestDeliveriesToKnownAndNewHostsAlternate(t *testing.T) {
	t.Parallel()
	d := newDispatcher(100, time.Minute, time.Now, &counters{}, nil)
	d.maxFresh = 0 // the test starts each delivery itself
	for i := range 8 {
		d.originOf(fmt.Sprintf("http://known%d.test/", i), time.Now()).known = true
	}
	var batch []*delivery
	for _, kind := range []string{"known", "new"} {
		for i := range 8 {
			batch = append(batch, &delivery{sub: Subscription{Callback: fmt.Sprintf("http://%s%d.test/", kind, i)}})
		}
	}
	d.submit(batch)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.maxFresh = 100
	for n := range 8 {
		first, second := d.take(), d.take()
		if first.origin.known == second.origin.known {
			t.Errorf("turn %d: %s, then %s", n, first.origin.key, second.origin.key)
		}
	}
}

// A small feed must not wait until all deliveries of a large feed in memory are sent, and many
// small feeds must not stop the large one.
func TestFirstBatchesGetEveryOtherTurn(t *testing.T) {
	t.Parallel()
	d := newDispatcher(1000, time.Minute, time.Now, &counters{}, nil)
	d.maxFresh = 0 // the test starts each delivery itself
	const hosts, each = 8, 10
	submit := func(n int, first bool) {
		var batch []*delivery
		for i := range n {
			batch = append(batch, &delivery{sub: Subscription{Callback: fmt.Sprintf("http://host%d.test/", i%hosts)}, first: first})
		}
		d.submit(batch)
	}
	for i := range hosts {
		d.originOf(fmt.Sprintf("http://host%d.test/", i), time.Now()).known = true
	}
	submit(hosts*each, false)
	submit(hosts, true)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.maxFresh = 1000
	for n := range hosts {
		if one, other := d.take(), d.take(); one.first == other.first {
			t.Errorf("turn %d: first batch: %v, then %v", n, one.first, other.first)
		}
	}
	left := 0
	for v := d.take(); v != nil; v = d.take() {
		if left++; v.first {
			t.Errorf("%s has another delivery of a first batch", v.origin.key)
		}
	}
	if want := hosts*each - hosts; left != want || d.queued != 0 || d.hasReady() {
		t.Errorf("%d deliveries left, want %d; %d queued, ready: %v", left, want, d.queued, d.hasReady())
	}
}
