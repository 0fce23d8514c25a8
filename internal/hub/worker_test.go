package hub

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Workers stay idle between two bursts, at most as many as the last burst needed. Idle workers
// end after a while, and when the dispatcher stops.
func TestIdleWorkersRemainBetweenBurstsAndThenEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*dispatcher){
		"idle":    func(*dispatcher) { <-time.After(3 * idleWorkerTTL) },
		"stopped": func(d *dispatcher) { d.stop(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { bursts(t, end) })
		})
	}
}

func bursts(t *testing.T, end func(*dispatcher)) {
	delivered := make(chan string, 1000)
	d := newDispatcher(40, time.Minute, time.Now, &counters{}, func(*delivery) Reply {
		<-time.After(10 * time.Millisecond)
		return Reply{OK: true, Took: 10 * time.Millisecond}
	})
	burst := func(n int) {
		var list []*delivery
		for i := range n {
			v := &delivery{sub: Subscription{Callback: fmt.Sprintf("http://host%d.test/", i)}}
			v.finish = func(v *delivery, _ Reply) { delivered <- v.sub.Callback }
			list = append(list, v)
		}
		d.submit(list)
		for range n {
			<-delivered
		}
		synctest.Wait()
	}
	state := func() (workers, resting int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.workers, len(d.idle)
	}
	burst(30)
	first, resting := state()
	if first != 0 || resting != 30 {
		t.Errorf("after a burst of 30: %d busy and %d idle workers, want all idle", first, resting)
	}
	<-time.After(idleWorkerTTL / 2)
	burst(100)
	if workers, resting := state(); workers != 0 || resting != 40 {
		t.Errorf("after a burst of 100: %d busy and %d idle workers, want 40 idle, which is the limit", workers, resting)
	}
	for range 4 { // in these rounds no idle worker is used
		<-time.After(idleWorkerTTL / 2)
		burst(5)
	}
	if workers, resting := state(); workers != 0 || resting != 5 {
		t.Errorf("after bursts of 5: %d busy and %d idle workers, want 5 idle", workers, resting)
	}
	end(d)
	synctest.Wait()
	if workers, resting := state(); workers != 0 || resting != 0 {
		t.Errorf("at the end: %d busy and %d idle workers", workers, resting)
	}
	close(delivered)
}
