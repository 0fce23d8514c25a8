package hubsim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

const intentAge = 3 * 24 * time.Hour

// Sweep implements hub.Store.Sweep.
func (d *Disk) Sweep(_ context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) (gone []hub.SubscriptionInfo, more bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now = milli(now)
	take := func(which func(*hub.Subscription) bool) {
		d.all(func(s *hub.Subscription) {
			if len(gone) < limit && which(s) {
				gone = append(gone, hub.SubscriptionInfo{Subscription: *s, Topic: d.topics[s.TopicID].URL})
			}
		})
	}
	rss := []string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP}
	take(func(s *hub.Subscription) bool { return !s.ExpiresAt.After(now) })
	take(func(s *hub.Subscription) bool {
		return maxErrors > 0 && s.ExpiresAt.After(now) && s.Failures >= maxErrors && slices.Contains(rss, s.Protocol)
	})
	for _, g := range gone {
		d.remove(g.Key(), now)
	}
	left := d.sweepTopics(now, milli(idle), limit) + d.sweepContents(limit)
	left = max(left, d.sweepIntents(now.Add(-intentAge), limit))
	if events != nil && len(gone) > 0 {
		d.log(events(gone))
	}
	return gone, limit > 0 && (len(gone) >= limit || left >= limit), nil
}

// sweepTopics removes topics that have had no followers and no pings since idle. looked is the
// number of topics that it examined.
func (d *Disk) sweepTopics(now, idle time.Time, limit int) (looked int) {
	if idle.IsZero() {
		return 0
	}
	for _, id := range slices.Clone(d.order) {
		t := d.topics[id]
		if looked >= limit || !t.used.Before(idle) || !t.due.IsZero() {
			continue
		}
		looked++
		if len(d.subs[id]) > 0 {
			t.used = now
			continue
		}
		d.dropTopic(id)
	}
	return looked
}

// sweepContents removes contents that no pending delivery needs. It clears KeepContent for topics
// without WebSub subscribers.
func (d *Disk) sweepContents(limit int) (gone int) {
	for _, id := range d.order {
		t := d.topics[id]
		websub, pending := false, false
		for _, s := range d.subs[id] {
			websub = websub || s.Protocol == hub.WebSub
			pending = pending || s.Protocol == hub.WebSub && !s.NextAt.IsZero()
		}
		for _, p := range t.part {
			pending = pending || !p.idle()
		}
		if t.KeepContent && t.body != nil && !pending && gone < limit {
			t.body = nil
			gone++
		}
		if t.KeepContent && !websub && gone < limit {
			t.KeepContent, t.body = false, nil
			gone++
		}
	}
	return gone
}

// sweepIntents removes expired WebSub requests, starting with the oldest, and returns their
// number.
func (d *Disk) sweepIntents(before time.Time, limit int) int {
	var old []hub.Key
	for k, in := range d.intents {
		if in.At.Before(before) {
			old = append(old, k)
		}
	}
	slices.SortFunc(old, func(a, b hub.Key) int { return cmp.Or(d.intents[a].At.Compare(d.intents[b].At), byKey(a, b)) })
	old = old[:min(limit, len(old))]
	for _, k := range old {
		delete(d.intents, k)
	}
	return len(old)
}

// ClaimTask implements hub.Store.ClaimTask.
func (d *Disk) ClaimTask(_ context.Context, name string, now, first, next time.Time) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, ran := d.tasks[name]
	if ran && due.After(milli(now)) || !ran && milli(first).After(milli(now)) {
		return false, nil
	}
	d.tasks[name] = milli(next)
	return true, nil
}

// Recover implements hub.Store.Recover.
func (d *Disk) Recover(_ context.Context, now time.Time) error {
	if d.shared {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now = milli(now)
	for _, t := range d.topics {
		for _, p := range t.part {
			if p.owned && !p.due.IsZero() {
				p.owned, p.owner, p.due = false, 0, now
			}
		}
		if t.due.After(now) && (t.held || t.Failures == 0 && !t.PingedAt.IsZero()) {
			t.held, t.due = false, now
		}
	}
	d.all(func(s *hub.Subscription) {
		if s.Claim != 0 && !s.NextAt.IsZero() {
			s.NextAt, s.Claim = now, 0
		}
	})
	for _, in := range d.intents {
		if in.Claim != 0 {
			in.DueAt, in.Claim = now, 0
		}
	}
	return nil
}

// NextDue implements hub.Store.NextDue.
func (d *Disk) NextDue(context.Context) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var next time.Time
	see := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, t := range d.topics {
		see(t.due)
		for _, p := range t.part {
			see(p.due)
		}
	}
	d.all(func(s *hub.Subscription) { see(s.NextAt) })
	for _, in := range d.intents {
		see(in.DueAt)
	}
	return next, nil
}
