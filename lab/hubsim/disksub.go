package hubsim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// Subscribe implements hub.Store.Subscribe.
func (d *Disk) Subscribe(_ context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.named(topics, subs); err != nil {
		return err
	}
	d.subscribe(topics, subs, latest(events))
	d.log(events)
	return nil
}

// named returns an error for a missing topic, before the caller writes anything.
func (d *Disk) named(topics []string, subs []hub.Subscription) error {
	for _, s := range subs {
		named := slices.ContainsFunc(topics, func(u string) bool { return hub.TopicID(u) == s.TopicID })
		if !named && d.topics[s.TopicID] == nil {
			return fault.New(fault.Invalid, "A subscription names the topic %d, which does not exist and was not named by its URL.", s.TopicID)
		}
	}
	return nil
}

func (d *Disk) subscribe(topics []string, subs []hub.Subscription, at time.Time) {
	for _, s := range subs {
		at = later(at, s.RenewedAt)
	}
	for _, u := range topics {
		d.makeTopic(hub.TopicID(u), u, at).firstPart()
	}
	for _, s := range subs {
		d.topics[s.TopicID].firstPart()
		d.put(s)
	}
}

// firstPart creates a shard with all buckets if the topic has no shard.
func (t *topicRow) firstPart() {
	if len(t.part) == 0 {
		t.part = []*partRow{{Shard: hub.Shard{TopicID: t.ID, Hi: hub.Buckets - 1, Want: t.Version, Done: t.Version}, pass: t.Version}}
	}
}

// put adds or renews a subscription.
func (d *Disk) put(s hub.Subscription) {
	if s.ID == 0 {
		s.ID = hub.SubscriptionID(s.Protocol, s.Callback)
	}
	for _, t := range []*time.Time{&s.CreatedAt, &s.RenewedAt, &s.ExpiresAt, &s.NextAt, &s.FailingSince, &s.LastErrorAt} {
		*t = milli(*t)
	}
	if s.Protocol == hub.WebSub {
		d.topics[s.TopicID].KeepContent = true
	}
	list := d.subs[s.TopicID]
	i, there := slices.BinarySearchFunc(list, s.ID, bySubscription)
	if !there {
		d.subs[s.TopicID] = slices.Insert(list, i, &s)
		return
	}
	old := list[i]
	old.Procedure, old.Secret, old.RenewedAt, old.ExpiresAt = s.Procedure, s.Secret, s.RenewedAt, s.ExpiresAt
	old.Failures, old.Tries, old.FailingSince = 0, 0, time.Time{}
}

// Unsubscribe implements hub.Store.Unsubscribe.
func (d *Disk) Unsubscribe(_ context.Context, keys []hub.Key, events []event.Event) ([]hub.Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var gone []hub.Subscription
	keys = slices.Clone(keys)
	slices.SortFunc(keys, byKey)
	for _, k := range slices.Compact(keys) {
		if s := d.sub(k); s != nil {
			gone = append(gone, *s)
			d.remove(k, latest(events))
		}
	}
	d.log(events)
	return gone, nil
}

func byKey(a, b hub.Key) int {
	return cmp.Or(cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.ID, b.ID))
}

// Subscription implements hub.Store.Subscription.
func (d *Disk) Subscription(_ context.Context, key hub.Key) (hub.Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sub(key); s != nil {
		return *s, nil
	}
	return hub.Subscription{}, fault.New(fault.NotFound, "There is no subscription with the number %d of the topic %d here.", key.ID, key.TopicID)
}

// Settle implements hub.Store.Settle.
func (d *Disk) Settle(_ context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(now, results)
	d.log(events)
	return nil
}

func (d *Disk) settle(now time.Time, results []hub.Result) {
	for _, r := range results {
		if s := d.sub(r.Key); s != nil && (r.Outcome == hub.Raised && s.Sent < r.Version || r.Outcome != hub.Raised && s.Claim == r.Claim) {
			if r.Outcome == hub.Gone {
				d.remove(r.Key, now)
				continue
			}
			write(s, r, milli(now))
		}
	}
}

// write applies the result of a delivery to the subscription s.
func write(s *hub.Subscription, r hub.Result, now time.Time) {
	if r.Outcome != hub.Delivered && r.Outcome != hub.Parked {
		s.PendingVersion = max(s.PendingVersion, r.Version)
	}
	switch r.Outcome {
	case hub.Delivered:
		s.Failures, s.FailingSince, s.Tries, s.Claim, s.Sent, s.NextAt = 0, time.Time{}, 0, 0, r.Version, time.Time{}
		if s.PendingVersion > r.Version {
			s.NextAt = now
		}
	case hub.Failed:
		if s.Counted < r.Version {
			s.Failures++
		}
		if s.FailingSince.IsZero() {
			s.FailingSince = now
		}
		s.Counted, s.Tries, s.NextAt, s.Claim = max(s.Counted, r.Version), r.Tries, milli(r.NextAt), 0
		s.LastError, s.LastErrorAt = r.Error, now
	case hub.Parked:
		s.PendingVersion, s.NextAt, s.Claim = r.Version, milli(r.NextAt), r.NewClaim
	case hub.Postponed:
		s.NextAt, s.Claim = milli(r.NextAt), 0
	case hub.Raised:
		s.Tries = 0
		if s.Claim == 0 || !s.NextAt.After(now) {
			s.NextAt = now
		}
	}
}

// ClaimRetries implements hub.Store.ClaimRetries.
func (d *Disk) ClaimRetries(_ context.Context, now, until time.Time, limit int, claim int64) ([]hub.Retry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []*hub.Subscription
	d.all(func(s *hub.Subscription) {
		if reached(s.NextAt, now) {
			due = append(due, s)
		}
	})
	slices.SortStableFunc(due, func(a, b *hub.Subscription) int { return a.NextAt.Compare(b.NextAt) })
	var claimed []hub.Retry
	for _, s := range due {
		if len(claimed) >= limit {
			break
		}
		if !s.ExpiresAt.After(milli(now)) {
			s.NextAt, s.Claim = time.Time{}, 0
			continue
		}
		s.NextAt, s.Claim = milli(until), claim
		claimed = append(claimed, hub.Retry{Subscription: *s, Topic: d.topics[s.TopicID].Topic})
	}
	return claimed, nil
}
