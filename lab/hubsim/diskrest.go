package hubsim

import (
	"context"
	"slices"
	"sort"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// log adds events. It skips events that are already stored, because the response to an earlier
// attempt can be lost.
func (d *Disk) log(events []event.Event) {
	for _, e := range events {
		key := [2]int64{e.Node, e.Seq}
		if d.seen[key] {
			continue
		}
		d.seen[key] = true
		e.At = milli(e.At)
		i := len(d.events)
		for i > 0 && e.Cursor().Less(d.events[i-1].Cursor()) {
			i--
		}
		d.events = slices.Insert(d.events, i, e)
	}
}

// AppendEvents implements hub.Store.AppendEvents.
func (d *Disk) AppendEvents(_ context.Context, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log(events)
	return nil
}

// Events implements hub.Store.Events, but only for the queries of the engine: forward, by time
// and position.
func (d *Disk) Events(_ context.Context, q hub.EventQuery) ([]event.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := sort.Search(len(d.events), func(i int) bool {
		return !d.events[i].At.Before(milli(q.Since)) && (q.After == event.Cursor{} || q.After.Less(d.events[i].Cursor()))
	})
	most := q.Limit
	if most <= 0 {
		most = 100
	}
	return slices.Clone(d.events[from:min(from+most, len(d.events))]), nil
}

// TrimEvents implements hub.Store.TrimEvents.
func (d *Disk) TrimEvents(_ context.Context, before time.Time, limit int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < limit && n < len(d.events) && d.events[n].At.Before(milli(before)) {
		n++
	}
	d.events = slices.Delete(d.events, 0, n)
	return n, nil
}

// TrimChanges implements hub.Store.TrimChanges.
func (d *Disk) TrimChanges(_ context.Context, before time.Time, limit int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	d.changes = slices.DeleteFunc(d.changes, func(c hub.Change) bool {
		old := n < limit && c.At.Before(milli(before))
		if old {
			n++
		}
		return old
	})
	return n, nil
}

// CountChanges implements hub.Store.CountChanges.
func (d *Disk) CountChanges(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counted, nil
}

// Counts implements hub.Store.Counts.
func (d *Disk) Counts(_ context.Context, now time.Time) (hub.Counts, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := hub.Counts{Topics: int64(len(d.topics)), Requests: int64(len(d.intents)), Events: int64(len(d.events))}
	d.all(func(s *hub.Subscription) {
		if !s.ExpiresAt.After(milli(now)) {
			return
		}
		n.Subscriptions++
		if s.Failures > 0 {
			n.Failing++
		}
		if !s.NextAt.IsZero() {
			n.Pending++
		}
	})
	for _, t := range d.topics {
		if !t.PingedAt.IsZero() {
			n.ChecksDue++
		}
		for _, p := range t.part {
			if !p.due.IsZero() {
				n.ShardsDue++
			}
		}
	}
	return n, nil
}

// SaveMinute implements hub.Store.SaveMinute.
func (d *Disk) SaveMinute(_ context.Context, m hub.Minute) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.minutes = append(d.minutes, m)
	return nil
}

// Ping implements hub.Store.Ping.
func (d *Disk) Ping(context.Context) error { return nil }

// Close implements hub.Store.Close.
func (d *Disk) Close() error { return nil }

// The engine does not call the methods below; only user interfaces call them.

func notHere() error { return fault.New(fault.Unsupported, "The simulated store has no such list.") }

// Topics implements hub.Store.Topics.
func (d *Disk) Topics(context.Context, hub.TopicQuery) ([]hub.TopicInfo, error) {
	return nil, notHere()
}

// FollowedUnder implements hub.Store.FollowedUnder.
func (d *Disk) FollowedUnder(context.Context, string, string, time.Time, int) ([]string, error) {
	return nil, notHere()
}

// Subscriptions implements hub.Store.Subscriptions.
func (d *Disk) Subscriptions(context.Context, hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error) {
	return nil, notHere()
}

// Changes implements hub.Store.Changes.
func (d *Disk) Changes(context.Context, hub.ChangeQuery) ([]hub.Change, error) { return nil, notHere() }

// Minutes implements hub.Store.Minutes.
func (d *Disk) Minutes(context.Context, time.Time) ([]hub.Minute, error) { return nil, notHere() }

// Backup implements hub.Store.Backup.
func (d *Disk) Backup(context.Context, string) error { return notHere() }
