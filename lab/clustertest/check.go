package clustertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	clock = "15:04:05.000"
	page  = 500 // subscribers

	// repeats is how many deliveries one taking-over may repeat: a page, which is what a node
	// may have sent and not written down, and what was not answered for 250 ms. At rest that
	// is nothing, but many tests at once make callbacks wait so long.
	repeats = 2 * page

	// grace is how long a node that stood still, or was cut off, may go on with what it
	// had begun, before it learns that another has taken over: two seconds, and what a
	// busy machine needs for them.
	grace = 5 * time.Second
)

// check compares what was promised with what happened. there are the callbacks that the
// program itself lists at the end; again is how many deliveries may be repeated.
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
		broken = append(broken, fmt.Sprintf("told too often: %d deliveries were repeated, and no more than %d may be: %v", r.Again, again, twice))
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

// repeated counts deliveries of a state that was delivered before. Deliveries interrupted by a
// crash do not count. twice counts them by kind, sender, and delay after the other sender, to
// five seconds.
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

// checkOrder looks for older states after newer ones, and for two at once.
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
				broken = append(broken, fmt.Sprintf("two at once: %s was told by %s at %s, and by %s at %s, while the first was under way",
					callback, before.node, before.begun.Format(clock), r.node, r.begun.Format(clock)))
			}
		}
		if r.state > 0 && r.state < newest.state && !h.excused(r) {
			broken = append(broken, fmt.Sprintf("old after new: %s was told state %d by %s at %s, after state %d by %s at %s",
				callback, r.state, r.node, r.begun.Format(clock), newest.state, newest.node, newest.begun.Format(clock)))
		}
	}
	return broken
}

// excused reports a delivery by a node that stood still or was cut off, and could not
// know yet that another had taken over.
func (h *history) excused(r receipt) bool {
	return slices.ContainsFunc(h.troubles, func(t trouble) bool {
		return t.node == r.node && r.ended.After(t.at) && (t.over.IsZero() || r.begun.Before(t.over.Add(grace)))
	})
}

// checkNotified finds acknowledged changes without a notification to f.
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
	return []string{fmt.Sprintf("ping lost: %s was never told of state %d of %s, acknowledged at %s", f.callback, last.state, f.feed, last.to.Format(clock))}
}

// Report is what a run came to. Broken is empty when every promise was kept.
type Report struct {
	Broken        []string
	Registered    int // registrations that were acknowledged
	Pings         int // acknowledged changes
	Requests      int // of clients, at one node each
	Lost          int // requests that no node took
	Notifications int
	Again         int // of them of what had been delivered before
	Took          []time.Duration
}

func (r Report) String() string {
	return fmt.Sprintf("%d registrations and %d changes acknowledged, %d requests, of which %d were taken by no node, %d notifications, %d of them again, taken over in %v, %d promises broken",
		r.Registered, r.Pings, r.Requests, r.Lost, r.Notifications, r.Again, r.Took, len(r.Broken))
}

// Quantile is the q-th part of what taking over took, in order; 0: nobody did.
func (r Report) Quantile(q float64) time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	list := slices.SortedFunc(slices.Values(r.Took), cmp.Compare)
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// Add adds another run.
func (r *Report) Add(o Report) {
	r.Broken, r.Took = append(r.Broken, o.Broken...), append(r.Took, o.Took...)
	r.Registered, r.Pings, r.Requests = r.Registered+o.Registered, r.Pings+o.Pings, r.Requests+o.Requests
	r.Lost, r.Notifications, r.Again = r.Lost+o.Lost, r.Notifications+o.Notifications, r.Again+o.Again
}
