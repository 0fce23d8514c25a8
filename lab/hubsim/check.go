package hubsim

import (
	"cmp"
	"slices"
	"time"

	"cloudburst/internal/hub"
)

// check holds the history against the promises. It looks at what subscribers and
// publishers saw, and not into the store.
func (w *scenario) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	per := map[*member][]*delivery{}
	for _, d := range w.deliveries {
		per[d.member] = append(per[d.member], d)
	}
	for i := range w.plan.members {
		m := &w.plan.members[i]
		list := per[m]
		slices.SortStableFunc(list, func(a, b *delivery) int { return a.start.Compare(b.start) })
		w.checkTwice(m, list)
		w.checkOrder(m, list)
		w.checkErrors(m, list)
		w.checkExpired(m, list)
		w.checkCancelled(m, list)
	}
	w.checkDrops(per)
	w.checkVersions()
}

// checkTwice: without faults, no notification is repeated. With faults, repetitions are limited
// by lost responses, crashes and lost leases.
func (w *scenario) checkTwice(m *member, list []*delivery) {
	times, lost := map[int64]int{}, map[int64]int{}
	for _, d := range list {
		if d.accepted {
			times[d.version]++
			if d.reply != "ok" {
				lost[d.version]++
			}
		}
	}
	trouble := w.deaths
	for _, t := range w.plan.trouble {
		if t.what != "death" && t.long >= longAway {
			trouble++
		}
	}
	for _, v := range slices.Sorted(keys(times)) {
		if most := 1 + lost[v] + trouble; times[v] > most {
			w.breaks("%s got version %d %d times; %d answers were lost and %d machines died or stood still", m, v, times[v], lost[v], trouble)
		}
	}
}

// checkOrder: one delivery at a time, and nothing older after something newer. A machine
// that stood still, or could not reach its store, cannot know that its turn is over.
func (w *scenario) checkOrder(m *member, list []*delivery) {
	var newest, last *delivery
	for _, d := range list {
		if last != nil && d.start.Before(last.end) && !d.node.excused(d.start) && !last.node.excused(last.start) && !last.node.excused(d.start) {
			w.breaks("%s is told of version %d at %s while it is being told of %d", m, d.version, w.since(d.start), last.version)
		}
		if last == nil || d.end.After(last.end) {
			last = d
		}
		if newest != nil && d.version < newest.version && !d.node.excused(d.start) {
			w.breaks("%s is told of version %d at %s, after it was told of %d", m, d.version, w.since(d.start), newest.version)
		}
		if !d.arrived.IsZero() && (newest == nil || d.version > newest.version) {
			newest = d
		}
	}
}

// since is a time as the trace has it.
func (w *scenario) since(t time.Time) time.Duration { return t.Sub(w.begun) }

// checkErrors: what a subscription has on record is at most the number of changes that
// it really did not take, in a row.
func (w *scenario) checkErrors(m *member, list []*delivery) {
	bad := map[int64]bool{}
	for _, d := range list {
		if d.failures > len(bad) {
			w.breaks("%s has %d errors on record at %s, and %d changes did not arrive", m, d.failures, w.since(d.start), len(bad))
			return
		}
		if d.bad() {
			bad[d.version] = true
		}
		if d.reply == "ok" && w.plan.quiet {
			clear(bad)
		}
	}
}

// checkDrops: a subscription is dropped for three changes in a row, and at the top of
// an hour; never sooner.
func (w *scenario) checkDrops(per map[*member][]*delivery) {
	slack := 3 * time.Minute // the sweep may come late where machines and store are away
	if w.plan.quiet {
		slack = 5 * time.Second
	}
	for _, r := range w.removals {
		if !r.dropped {
			continue
		}
		versions, third := map[int64]bool{}, time.Time{}
		for _, d := range per[r.member] {
			if d.bad() && d.end.Before(r.at) && !versions[d.version] {
				if versions[d.version] = true; len(versions) == 3 {
					third = d.end
				}
			}
		}
		switch {
		case len(versions) < 3:
			w.breaks("%s was dropped at %s after %d changes that did not arrive", r.member, w.since(r.at), len(versions))
		case r.clock.Truncate(time.Hour).Before(third.Add(-slack)):
			w.breaks("%s was dropped at %s, which is not the top of the hour", r.member, r.clock.Format("15:04:05"))
		}
		if !slices.Contains([]string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP}, r.member.protocol) {
			w.breaks("%s was dropped for errors, which its protocol does not have", r.member)
		}
	}
}

// checkExpired: no expired subscription is notified, by the clock of the sending machine.
func (w *scenario) checkExpired(m *member, list []*delivery) {
	if m.protocol == hub.CNWS {
		return
	}
	for _, d := range list {
		var until time.Time
		for _, a := range w.acts {
			if a.member == m && a.kind == "register" && m.protocol != hub.WebSub && a.start.Before(d.start) && a.state != refused {
				until = later(until, a.clock.Add(expiry+a.end.Sub(a.start)))
			}
		}
		for _, k := range w.askings {
			if k.member == m && k.mode == hub.ModeSubscribe && k.at.Before(d.start) {
				until = later(until, k.clock.Add(k.lease))
			}
		}
		if d.clock.After(until.Add(30 * time.Second)) {
			w.breaks("%s is told of version %d at %s; its subscription ended at %s", m, d.version, d.clock.Format(time.DateTime), until.Format(time.DateTime))
			return
		}
	}
}

// checkCancelled: an acknowledged cancel ends it, but for what is under way.
func (w *scenario) checkCancelled(m *member, list []*delivery) {
	var mine []*act
	for _, a := range w.acts {
		if a.member == m {
			mine = append(mine, a)
		}
	}
	slices.SortFunc(mine, func(a, b *act) int { return a.start.Compare(b.start) })
	for i, a := range mine {
		if a.kind != "cancel" || a.state != acked || m.protocol == hub.WebSub {
			continue
		}
		for _, d := range list {
			again := i+1 < len(mine) && mine[i+1].start.Before(d.start)
			// A page that was read before may still be on its way through few connections.
			known := !w.set[[2]int{m.feed, d.value}].After(a.end) && !d.start.After(a.end.Add(time.Minute))
			if !again && d.start.After(a.end) && !known {
				w.breaks("%s is told of version %d at %s; its cancel was acknowledged at %s", m, d.version, w.since(d.start), w.since(a.end))
				return
			}
		}
	}
}

// checkVersions: a version is one state of a feed for everybody, and a newer one is
// newer; content is what it says it is.
func (w *scenario) checkVersions() {
	type key struct {
		feed    int
		version int64
	}
	value := map[key]int{}
	for _, d := range w.deliveries {
		k := key{d.member.feed, d.version}
		if v, there := value[k]; there && v != d.value {
			w.breaks("version %d of feed %d is %d for one and %d for another", k.version, k.feed, v, d.value)
		}
		value[k] = d.value
		if d.member.protocol == hub.WebSub && d.content < 0 {
			w.breaks("%s got no content with the news of %d", d.member, d.value)
		}
	}
	order := slices.SortedFunc(keys(value), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.feed, b.feed), cmp.Compare(a.version, b.version))
	})
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.feed == b.feed && value[a] >= value[b] {
			w.breaks("version %d of feed %d is its state %d, and version %d its state %d", a.version, a.feed, value[a], b.version, value[b])
		}
	}
}

// keys are those of a map, in no order.
func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
