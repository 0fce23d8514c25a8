package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/lab/outside"
)

const (
	clock = "15:04:05.000"

	// carried is the number of notifications that a process may send to one callback in addition
	// to the changes during its lifetime. These notifications can be pending from before,
	// repeated because their delivery was not recorded, or left in a socket by a killed process.
	carried = 3
)

// check compares the acknowledged work with its results. all is the program's export at the end
// of the run.
func (h *history) check(all map[pair]outside.Subscription) (broken []string, r Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dateVerifications()
	h.confirm(&r)
	h.host()
	broken = append(broken, h.violations...)
	broken = append(broken, h.checkAsked(&r)...)
	broken = append(broken, h.checkSaves(&r)...)
	for _, o := range h.overlaps {
		broken = append(broken, h.checkOverlap(o)...)
	}
	for _, p := range h.pairs() {
		k, there := all[p]
		before := len(broken)
		broken = append(broken, h.checkEnded(p, there)...)
		broken = append(broken, h.checkOften(p, &r)...)
		broken = append(broken, h.checkContent(p, &r)...)
		if there {
			broken = append(broken, h.checkSecret(p, k)...)
		}
		if since, live := h.liveSince(p); live {
			r.Live++
			if there {
				broken = append(broken, h.checkNotified(p, since)...)
			} else {
				broken = append(broken, fmt.Sprintf("registration lost: %s to %s, acknowledged at %s", p.callback, p.feed, since.Format(clock)))
			}
		}
		if len(broken) > before {
			broken[len(broken)-1] += h.story(p)
		}
	}
	for p := range all {
		if len(h.registers[p]) == 0 {
			broken = append(broken, fmt.Sprintf("unrequested: %s is subscribed to %s without a request", p.callback, p.feed))
		}
	}
	for feed, list := range h.versions {
		_, _, hosted := hostedTopic(feed)
		for _, v := range list {
			if v.ping.ok && !hosted {
				r.Pings++
			}
		}
	}
	r.Crashes, r.Pending = h.crashes(), h.pending
	for _, l := range h.lifetimes {
		if !l.ready.IsZero() {
			r.Starts++
			r.Slowest = max(r.Slowest, l.ready.Sub(l.started))
		}
	}
	return broken, r
}

// pairs returns all pairs that registered or received a notification, sorted.
func (h *history) pairs() []pair {
	var all []pair
	for p := range h.registers {
		all = append(all, p)
	}
	for p := range h.received {
		if len(h.registers[p]) == 0 {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.feed+" "+a.callback, b.feed+" "+b.callback) })
	return all
}

// checkOverlap reports two concurrent deliveries to one subscription. It ignores pairs that were
// canceled around this time, because a renewed subscription is a new one.
func (h *history) checkOverlap(o overlap) []string {
	for _, c := range h.cancels[o.pair] {
		if c.done().After(o.first.Add(-requestTimeout)) && c.from.Before(o.second) {
			return nil
		}
	}
	return []string{fmt.Sprintf("two at once: %s was notified of %s at %s and again at %s, during the first notification",
		o.callback, o.feed, o.first.Format(clock), o.second.Format(clock))}
}

// checkEnded reports a canceled subscription that still exists or is notified.
func (h *history) checkEnded(p pair, stored bool) (broken []string) {
	last, ended := h.ended(p)
	if !ended {
		return nil
	}
	if stored {
		broken = append(broken, fmt.Sprintf("cancel undone: %s is still subscribed to %s", p.callback, p.feed))
	}
	// A delivery that was in progress during the cancel may arrive, but a later process must not
	// start one.
	i := slices.IndexFunc(h.lifetimes, func(l lifetime) bool { return l.started.After(last.to) && !l.ready.IsZero() })
	if i < 0 {
		return broken
	}
	for _, g := range h.received[p] {
		if g.at.After(h.lifetimes[i].ready) {
			broken = append(broken, fmt.Sprintf("cancel undone: %s was notified of %s at %s, but had canceled by %s",
				p.callback, p.feed, g.at.Format(clock), last.to.Format(clock)))
		}
	}
	return broken
}

// checkNotified reports acknowledged changes after since that p was not notified of.
func (h *history) checkNotified(p pair, since time.Time) (broken []string) {
	for _, v := range h.versions[p.feed] {
		if !v.ping.ok || !v.ping.from.After(since) {
			continue
		}
		notified := slices.ContainsFunc(h.received[p], func(g receipt) bool {
			return !g.refused && g.at.After(v.at) && (g.content == nil || !h.older(p.feed, g.content.version, v.version))
		})
		if !notified {
			broken = append(broken, fmt.Sprintf("ping lost: %s was never notified of the change of %s at %s, acknowledged at %s",
				p.callback, p.feed, v.at.Format(clock), v.ping.to.Format(clock)))
		}
	}
	return broken
}

// checkOften reports more notifications of p than changes and crashes explain. It checks each
// lifetime, the whole run, and the time at the end without pending work.
func (h *history) checkOften(p pair, r *Report) (broken []string) {
	good, late := 0, 0
	perLifetime := make([]int, len(h.lifetimes))
	for _, g := range h.received[p] {
		switch {
		case g.slow:
			r.Slow++
		case g.refused:
			r.Refused++
		}
		if !h.quiet.IsZero() && g.at.After(h.quiet) {
			late++
		}
		if !g.refused {
			good++
			perLifetime[h.lifetimeAt(g.at)]++
		}
	}
	r.Notifications += len(h.received[p])
	changes := make([]int, len(h.lifetimes))
	for _, v := range h.versions[p.feed] {
		changes[h.lifetimeAt(v.at)]++
	}
	for i, n := range perLifetime {
		if n > changes[i]+carried {
			broken = append(broken, fmt.Sprintf("too many notifications: %s got %d notifications of %s by process %d, with %d changes", p.callback, n, p.feed, i+1, changes[i]))
		}
	}
	all := len(h.versions[p.feed])
	if most := all + h.crashes(); good > most {
		broken = append(broken, fmt.Sprintf("too many notifications: %s got %d notifications of %d changes of %s with %d crashes", p.callback, good, all, p.feed, h.crashes()))
	}
	if late > 0 {
		broken = append(broken, fmt.Sprintf("too many notifications: %s got %d notifications of %s after a restart with nothing left to do", p.callback, late, p.feed))
	}
	r.Duplicates += max(0, good-all)
	return broken
}

// lifetimeAt returns the index of the lifetime that contains t: the last lifetime that started
// before t.
func (h *history) lifetimeAt(t time.Time) int {
	n := 0
	for i, l := range h.lifetimes {
		if !l.started.After(t) {
			n = i
		}
	}
	return n
}
