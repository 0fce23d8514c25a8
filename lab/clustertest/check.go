package clustertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	clock = "15:04:05.000"
	page  = 500 // maximum number of subscribers in a batch

	// repeats is the number of deliveries that one takeover may repeat. The crashed node may have
	// sent one batch without a record of it. Deliveries that had no response within 250 ms can
	// also repeat; such delays occur only when many tests run at once.
	repeats = 2 * page

	// grace is how long a paused or disconnected node may continue its work until it detects the
	// takeover. It is two seconds plus time for a slow machine.
	grace = 5 * time.Second
)

// check compares the acknowledged work with its results. there contains the callbacks in the
// export at the end. again is the maximum number of repeated deliveries.
func (h *history) check(there map[string]bool, again int) (broken []string, r Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	broken = slices.Clone(h.broken)
	for _, f := range h.failed {
		broken = append(broken, "refused by all: "+f)
	}
	byCallback, twice := map[string][]receipt{}, map[string]int{}
	for _, got := range h.receipts {
		byCallback[got.callback] = append(byCallback[got.callback], got)
	}
	for callback, list := range byCallback {
		slices.SortFunc(list, func(a, b receipt) int { return a.begun.Compare(b.begun) })
		broken = append(broken, h.checkOrder(callback, list)...)
		r.Again += repeated(list, twice)
	}
	for _, f := range h.followers {
		if !there[f.callback] {
			broken = append(broken, fmt.Sprintf("registration lost: %s to %s, acknowledged at %s", f.callback, f.feed, f.since.Format(clock)))
		}
		broken = append(broken, h.checkNotified(f, byCallback[f.callback])...)
	}
	if r.Again > again {
		broken = append(broken, fmt.Sprintf("too many notifications: %d deliveries were repeated, want at most %d: %v", r.Again, again, twice))
	}
	for _, p := range h.pings {
		if p.ok {
			r.Pings++
		}
	}
	r.Registered, r.Notifications, r.Requests = len(h.followers), len(h.receipts), len(h.answers)
	r.Lost = len(h.failed)
	return broken, r
}

// repeated counts deliveries of a state that the callback had already received. It ignores
// deliveries that a crash interrupted. In twice, it counts them by state, feed, both senders, and
// the delay between the deliveries, rounded to five seconds.
func repeated(list []receipt, twice map[string]int) (n int) {
	seen := map[int]receipt{}
	for _, r := range list {
		before, again := seen[r.state]
		if r.state > 0 && again {
			n++
			twice[fmt.Sprintf("state %d of %s by %s, %s after %s", r.state, r.feed, r.node, r.begun.Sub(before.ended).Round(5*time.Second), before.node)]++
		}
		if !r.broken {
			seen[r.state] = r
		}
	}
	return n
}

// checkOrder finds deliveries of an older state after a newer one, and concurrent deliveries to
// the same callback.
func (h *history) checkOrder(callback string, list []receipt) (broken []string) {
	newest := receipt{}
	for i, r := range list {
		for _, before := range list[:i] {
			switch {
			case before.broken || r.broken:
			case before.ended.Before(r.begun):
				if before.state > newest.state {
					newest = before
				}
			case !h.excused(before) && !h.excused(r):
				broken = append(broken, fmt.Sprintf("two at once: %s was notified by %s at %s, and by %s at %s, during the first notification",
					callback, before.node, before.begun.Format(clock), r.node, r.begun.Format(clock)))
			}
		}
		if r.state > 0 && r.state < newest.state && !h.excused(r) {
			broken = append(broken, fmt.Sprintf("old after new: %s received state %d from %s at %s, after state %d from %s at %s",
				callback, r.state, r.node, r.begun.Format(clock), newest.state, newest.node, newest.begun.Format(clock)))
		}
	}
	return broken
}

// excused reports whether a paused or disconnected node sent r before it could detect the
// takeover.
func (h *history) excused(r receipt) bool {
	return slices.ContainsFunc(h.faults, func(t fault) bool {
		return t.node == r.node && r.ended.After(t.at) && (t.over.IsZero() || r.begun.Before(t.over.Add(grace)))
	})
}

// checkNotified finds acknowledged changes that follower f was not notified of.
func (h *history) checkNotified(f follower, list []receipt) []string {
	var last pinged
	for _, p := range h.pings {
		if p.feed == f.feed && p.ok && p.from.After(f.since) && p.state > last.state {
			last = p
		}
	}
	if last.state == 0 || slices.ContainsFunc(list, func(r receipt) bool {
		return !r.broken && (r.state >= last.state || r.state == 0 && r.begun.After(last.raised))
	}) {
		return nil
	}
	return []string{fmt.Sprintf("ping lost: %s was never notified of state %d of %s, acknowledged at %s", f.callback, last.state, f.feed, last.to.Format(clock))}
}

// Report is the result of a run. Broken contains the violated guarantees.
type Report struct {
	Broken        []string
	Registered    int // number of acknowledged registrations
	Pings         int // number of acknowledged changes
	Requests      int // requests of clients, each to one node
	Lost          int // requests that no node accepted
	Notifications int
	Again         int // number of repeated notifications
	Took          []time.Duration
}

func (r Report) String() string {
	return fmt.Sprintf("%d registrations and %d changes acknowledged, %d requests, of which %d were accepted by no node, %d notifications, %d of them repeated, takeovers in %v, %d broken guarantees",
		r.Registered, r.Pings, r.Requests, r.Lost, r.Notifications, r.Again, r.Took, len(r.Broken))
}

// Quantile returns the q-quantile of the takeover times, or 0 if there was no takeover.
func (r Report) Quantile(q float64) time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	list := slices.SortedFunc(slices.Values(r.Took), cmp.Compare)
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// Add adds the results of another run.
func (r *Report) Add(o Report) {
	r.Broken, r.Took = append(r.Broken, o.Broken...), append(r.Took, o.Took...)
	r.Registered, r.Pings, r.Requests = r.Registered+o.Registered, r.Pings+o.Pings, r.Requests+o.Requests
	r.Lost, r.Notifications, r.Again = r.Lost+o.Lost, r.Notifications+o.Notifications, r.Again+o.Again
}
