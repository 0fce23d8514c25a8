package hubsim

import (
	"fmt"
	"time"

	"cloudburst/internal/hub"
)

const (
	restWithin = 15 * time.Minute // limit for the delivery of all pending notifications
	expiry     = 25 * time.Hour
)

// rest waits until no work is pending. The run fails if work remains after restWithin.
func (w *scenario) rest() {
	for begun := time.Now(); ; time.Sleep(2 * time.Second) {
		left := w.disk.left(w.byKey)
		if left == "" {
			return
		}
		if time.Since(begun) > restWithin {
			w.fail("work is left %s after the last fault: %s", restWithin, left)
			return
		}
	}
}

// left describes the pending work, or returns "" if there is none. It ignores dead callbacks,
// because the hub retries them as long as the subscription exists. It also ignores the long last
// retry waits of WebSub.
func (d *Disk) left(members map[hub.Key]*member) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.intents); n > 0 {
		return fmt.Sprintf("%d requests", n)
	}
	for _, id := range d.order {
		t := d.topics[id]
		if !t.PingedAt.IsZero() {
			return "a ping of " + t.URL
		}
		for _, p := range t.part {
			if !p.idle() {
				return fmt.Sprintf("shard %d of %s: wants %d, has delivered %d", p.N, t.URL, p.Want, p.Done)
			}
		}
	}
	what := ""
	d.all(func(s *hub.Subscription) {
		m := members[s.Key()]
		if s.NextAt.IsZero() || m != nil && m.behavior == dead || s.Protocol == hub.WebSub && s.Tries > len(retries()) {
			return
		}
		what = fmt.Sprintf("version %d is pending for %s", s.PendingVersion, m)
	})
	return what
}

// changeAll changes and pings every feed. In the calm period, the hub must accept every ping.
func (w *scenario) changeAll(n *node) {
	for f := range w.plan.feeds {
		w.mu.Lock()
		w.turn(f)
		w.mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		if a := w.ping(n, f); a == nil || a.state != acked {
			w.fail("a ping of feed %d was rejected without any fault", f)
		}
	}
}

// lastChange changes every feed, waits until no work is pending and checks the notifications.
func (w *scenario) lastChange(n *node, when string) {
	w.changeAll(n)
	time.Sleep(20 * time.Second)
	w.rest()
	w.checkNotified(when)
	w.checkEnded(when)
}

// aDay continues the run until every registration that was not renewed has expired after 25
// hours.
func (w *scenario) aDay(n *node) {
	var first, last time.Time
	for _, a := range w.acts {
		if a.kind == "register" && a.member.protocol != hub.WebSub {
			if first.IsZero() || a.clock.Before(first) {
				first = a.clock
			}
			last = later(last, a.clock)
		}
	}
	if first.IsZero() {
		return
	}
	n.until(first.Add(expiry - 5*time.Minute))
	w.lastChange(n, "just before the 25 hours are over")
	for i := range w.plan.members {
		if m := &w.plan.members[i]; i%3 == 0 && m.protocol != hub.WebSub {
			w.move(m, move{kind: "register", at: time.Duration(i)})
		}
	}
	n.until(last.Add(expiry + 2*time.Minute))
	w.lastChange(n, "just after the 25 hours")
}

// until sleeps until the clock of the machine shows the time at.
func (n *node) until(at time.Time) {
	for {
		wait := at.Sub(n.clock.Now())
		if wait <= 0 {
			return
		}
		time.Sleep(max(wait*9/10, time.Second))
	}
}

// onDisk checks that the store has the result of the acknowledged request a.
func (w *scenario) onDisk(a *act) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	key := a.member.key
	there := w.disk.sub(key) != nil
	if a.member.protocol == hub.WebSub {
		mode := map[string]string{"register": hub.ModeSubscribe, "cancel": hub.ModeUnsubscribe}[a.kind]
		in := w.disk.intents[hub.Key{TopicID: key.TopicID, ID: hub.SubscriptionID(mode, a.member.callback)}]
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, k := range w.askings {
			if k.member == a.member && !k.at.Before(a.start) {
				return // the request is already finished, or in progress
			}
		}
		if in == nil {
			w.violation("a request of %s was acknowledged and is not on disk", a.member)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.kind == "register" && !there && !w.leftSince(a.member, a.start) {
		w.violation("a registration of %s was acknowledged and is not on disk", a.member)
	}
	if a.kind == "cancel" && there {
		w.violation("a cancel of %s was acknowledged and is not on disk", a.member)
	}
}

// leftSince reports whether the callback of a member replied 410, or the member was swept, since
// a time.
func (w *scenario) leftSince(m *member, since time.Time) bool {
	for _, r := range w.removals {
		if r.member == m && !r.at.Before(since) {
			return true
		}
	}
	for _, d := range w.deliveries {
		if d.member == m && d.reply == "gone" && !d.end.Before(since.Add(-30*time.Second)) {
			return true
		}
	}
	return false
}
