package hubsim

import (
	"slices"
	"time"

	"cloudburst/internal/hub"
)

// membershipEvent is the start or the end of a membership.
type membershipEvent struct {
	at    time.Time
	joins bool
	until time.Time // expiry on the clock of the machine; zero if the membership does not expire
}

// membershipEvents returns the events of a member in order of time. An event with an uncertain
// result counts as an end, so the checks expect no notifications until the next certain start.
// The caller holds w.mu.
func (w *scenario) membershipEvents(m *member) []membershipEvent {
	var list []membershipEvent
	for _, a := range w.acts {
		switch {
		case a.member != m || a.state == refused:
		case a.kind == "cancel":
			list = append(list, membershipEvent{at: a.end})
		case m.protocol == hub.WebSub || a.state != acked: // the result is uncertain: the callback has not confirmed, or the response was lost
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
			list = append(list, membershipEvent{at: d.end.Add(40 * time.Second)}) // the exact time at which the hub stored this is unknown
		}
	}
	slices.SortStableFunc(list, func(a, b membershipEvent) int { return a.at.Compare(b.at) })
	return list
}

// confirmed returns the start of the subscription that the callback of the last WebSub request
// confirmed, or nil if it is uncertain. The exact time at which the hub stored it is unknown, so
// the result has the latest possible time.
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

// liveSince returns the start of a membership that certainly continued without interruption. live
// is false if there is none. clock is the time on the clock of the sending machine.
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

// checkNotified checks that each acknowledged ping reached all members that existed at this time,
// with this version or a newer one.
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

// checkEnded checks that dead callbacks were dropped at the top of the hour after enough failed
// changes, and that unsubscribed members receive no notifications.
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
