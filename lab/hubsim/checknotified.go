package hubsim

import (
	"slices"
	"time"

	"cloudburst/internal/hub"
)

// membershipEvent is an event that started or ended a membership.
type membershipEvent struct {
	at    time.Time
	joins bool
	until time.Time // by the machine's clock; zero: no end
}

// membershipEvents returns the certain events of a member, in order. An uncertain event ends the
// membership: the checks then expect nothing until the next certain start. w.mu is held.
func (w *scenario) membershipEvents(m *member) []membershipEvent {
	var list []membershipEvent
	for _, a := range w.acts {
		switch {
		case a.member != m || a.state == refused:
		case a.kind == "cancel":
			list = append(list, membershipEvent{at: a.end})
		case m.protocol == hub.WebSub || a.state != acked: // its callback has not confirmed yet
		case m.protocol == hub.CNWS:
			list = append(list, membershipEvent{at: a.end, joins: true})
		default:
			list = append(list, membershipEvent{at: a.end, joins: true, until: a.clock.Add(expiry)})
		}
	}
	list = append(list, w.confirmed(m)...)
	for _, r := range w.removals {
		if r.member == m {
			list = append(list, membershipEvent{at: r.at})
		}
	}
	for _, d := range w.deliveries {
		if d.member == m && d.reply == "gone" {
			list = append(list, membershipEvent{at: d.end.Add(40 * time.Second)}) // the exact time of the write is unknown
		}
	}
	slices.SortStableFunc(list, func(a, b membershipEvent) int { return a.at.Compare(b.at) })
	return list
}

// confirmed returns the subscription that the callback of the last WebSub request confirmed,
// unless part of it is uncertain. The exact time of the write is unknown, so it returns the
// latest possible time.
func (w *scenario) confirmed(m *member) []membershipEvent {
	if m.protocol != hub.WebSub {
		return nil
	}
	var last *act
	for _, a := range w.acts {
		if a.member == m && (last == nil || a.start.After(last.start)) {
			last = a
		}
	}
	if last == nil || last.kind != "register" || last.state != acked {
		return nil
	}
	var yes []membershipEvent
	for _, k := range w.askings {
		switch {
		case k.member != m || k.at.Before(last.start):
		case k.mode != hub.ModeSubscribe || k.secret != last.secret || !k.ok:
			yes = nil
		default:
			yes = []membershipEvent{{at: k.at.Add(5 * time.Second), joins: true, until: k.clock.Add(k.lease)}}
		}
	}
	return yes
}

// liveSince returns the start of an uninterrupted, certain membership; live is false if there
// is none. clock is the time of the sending machine.
func (w *scenario) liveSince(m *member, clock time.Time) (since time.Time, live bool) {
	var until time.Time
	for _, t := range w.membershipEvents(m) {
		switch {
		case !t.joins:
			live = false
		case !live:
			live, since, until = true, t.at, t.until
		default:
			until = t.until
		}
	}
	return since, live && (until.IsZero() || until.After(clock.Add(2*time.Minute)))
}

// checkNotified: each acknowledged ping reached all members of that time, with that version or
// a newer one.
func (w *scenario) checkNotified(when string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clock := time.Now()
	if n := w.running[0]; n != nil {
		w.mu.Unlock()
		clock = n.clock.Now()
		w.mu.Lock()
	}
	for i := range w.plan.members {
		m := &w.plan.members[i]
		since, live := w.liveSince(m, clock)
		if m.behavior == dead || !live {
			continue
		}
		need := 0
		for _, a := range w.acts {
			if a.kind == "ping" && a.state == acked && a.feed == m.feed && w.set[[2]int{m.feed, a.value}].After(since) {
				need = max(need, a.value)
			}
		}
		has, unanswered := 0, 0
		for _, d := range w.deliveries {
			switch {
			case d.member != m:
			case d.accepted:
				has, unanswered = max(has, d.value), 0
			case d.bad():
				unanswered++
			}
		}
		if has < need && (m.protocol != hub.WebSub || unanswered <= len(retries())) {
			w.violation("%s: %s was last notified of state %d, but %d was acknowledged", when, m, has, need)
		}
	}
}

// checkEnded: dead callbacks were dropped at the top of the hour after enough failed changes,
// and unsubscribed members receive nothing.
func (w *scenario) checkEnded(when string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.plan.members {
		m := &w.plan.members[i]
		joined, notified := false, false
		for _, a := range w.acts {
			joined = joined || a.member == m && a.kind == "register" && a.end.After(time.Now().Add(-time.Hour))
		}
		for _, d := range w.deliveries {
			notified = notified || d.member == m && d.value == w.feeds[m.feed].value
		}
		rss := m.protocol != hub.WebSub && m.protocol != hub.CNWS
		if m.behavior == dead && rss && notified && !(joined && w.plan.tail && when != "after the hour") {
			w.violation("%s: %s is still notified, but accepted none of the last changes", when, m)
		}
	}
}
