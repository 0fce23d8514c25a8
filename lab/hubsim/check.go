package hubsim

import (
	"cmp"
	"slices"
	"time"

	"cloudburst/internal/hub"
)

// check verifies the guarantees. It uses only the history, that is, the observations of
// subscribers and publishers, and not the store.
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

// checkTwice checks that a member does not receive a version twice. Each lost response, crashed
// machine and expired lease permits one repetition.
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
	trouble := w.crashes
	for _, t := range w.plan.trouble {
		if t.what != "crash" && t.long >= longAway {
			trouble++
		}
	}
	for _, v := range slices.Sorted(keys(times)) {
		if most := 1 + lost[v] + trouble; times[v] > most {
			w.violation("%s received version %d %d times; %d answers were lost and %d machines crashed or froze", m, v, times[v], lost[v], trouble)
		}
	}
}

// checkOrder checks that deliveries to a member do not overlap, and that no older version follows
// a newer one. It excuses a machine that was frozen or had no connection to its store, because
// the machine could not know that its lease had expired.
func (w *scenario) checkOrder(m *member, list []*delivery) {
	var newest, last *delivery
	for _, d := range list {
		if last != nil && d.start.Before(last.end) && !d.node.excused(d.start) && !last.node.excused(last.start) && !last.node.excused(d.start) {
			w.violation("%s is notified of version %d at %s during the notification of %d", m, d.version, w.since(d.start), last.version)
		}
		if last == nil || d.end.After(last.end) {
			last = d
		}
		if newest != nil && d.version < newest.version && !d.node.excused(d.start) {
			w.violation("%s is notified of version %d at %s, after version %d", m, d.version, w.since(d.start), newest.version)
		}
		if !d.arrived.IsZero() && (newest == nil || d.version > newest.version) {
			newest = d
		}
	}
}

// since returns a time relative to the start of the run, as the trace shows it.
func (w *scenario) since(t time.Time) time.Duration { return t.Sub(w.begun) }

// checkErrors checks that the stored number of failures is never higher than the number of
// consecutive changes that the member did not receive.
func (w *scenario) checkErrors(m *member, list []*delivery) {
	bad := map[int64]bool{}
	for _, d := range list {
		if d.failures > len(bad) {
			w.violation("%s has %d stored errors at %s, but %d changes did not arrive", m, d.failures, w.since(d.start), len(bad))
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

// checkDrops checks that a subscription is dropped only after three consecutive failed changes,
// and only at the top of an hour.
func (w *scenario) checkDrops(per map[*member][]*delivery) {
	slack := 3 * time.Minute // the sweep can be late while machines and stores are unavailable
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
			w.violation("%s was dropped at %s after %d changes that did not arrive", r.member, w.since(r.at), len(versions))
		case r.clock.Truncate(time.Hour).Before(third.Add(-slack)):
			w.violation("%s was dropped at %s, which is not the top of the hour", r.member, r.clock.Format("15:04:05"))
		}
		if !slices.Contains([]string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP}, r.member.protocol) {
			w.violation("%s was dropped for errors, although its protocol has no error limit", r.member)
		}
	}
}

// checkExpired checks that no notification is sent after the subscription expired, according to
// the clock of the sending machine.
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
			w.violation("%s is notified of version %d at %s; its subscription ended at %s", m, d.version, d.clock.Format(time.DateTime), until.Format(time.DateTime))
			return
		}
	}
}

// checkCancelled checks that no notification starts after an acknowledged cancel, except in a
// batch that was already in progress.
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
			// A batch that was read before the cancel can still be in progress if few concurrent
			// connections are allowed.
			known := !w.set[[2]int{m.feed, d.value}].After(a.end) && !d.start.After(a.end.Add(time.Minute))
			if !again && d.start.After(a.end) && !known {
				w.violation("%s is notified of version %d at %s; its cancel was acknowledged at %s", m, d.version, w.since(d.start), w.since(a.end))
				return
			}
		}
	}
}

// checkVersions checks three rules. A version is the same state of a feed for all members. A
// newer version is a newer state. Delivered content belongs to its version.
func (w *scenario) checkVersions() {
	type key struct {
		feed    int
		version int64
	}
	value := map[key]int{}
	for _, d := range w.deliveries {
		k := key{d.member.feed, d.version}
		if v, there := value[k]; there && v != d.value {
			w.violation("version %d of feed %d has state %d for one member and %d for another", k.version, k.feed, v, d.value)
		}
		value[k] = d.value
		if d.member.protocol == hub.WebSub && d.content < 0 {
			w.violation("%s received no content with state %d", d.member, d.value)
		}
	}
	order := slices.SortedFunc(keys(value), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.feed, b.feed), cmp.Compare(a.version, b.version))
	})
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.feed == b.feed && value[a] >= value[b] {
			w.violation("version %d of feed %d has state %d, and version %d has state %d", a.version, a.feed, value[a], b.version, value[b])
		}
	}
}

// keys iterates over the keys of m in random order.
func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
