package hubsim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// Request implements hub.Store.Request.
func (d *Disk) Request(_ context.Context, list []hub.Intent, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, in := range list {
		in.At, in.DueAt, in.Claim = milli(in.At), milli(in.DueAt), 0
		d.intents[hub.Key{TopicID: in.TopicID, ID: in.ID}] = &in
	}
	d.log(events)
	return nil
}

// ClaimIntents implements hub.Store.ClaimIntents.
func (d *Disk) ClaimIntents(_ context.Context, now, until time.Time, limit int, claim int64) ([]hub.Intent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []*hub.Intent
	for _, in := range d.intents {
		if reached(in.DueAt, now) {
			due = append(due, in)
		}
	}
	slices.SortFunc(due, func(a, b *hub.Intent) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.ID, b.ID))
	})
	var claimed []hub.Intent
	for _, in := range due[:min(max(limit, 0), len(due))] {
		in.Claim, in.DueAt = claim, milli(until)
		claimed = append(claimed, *in)
	}
	return claimed, nil
}

// FinishIntent implements hub.Store.FinishIntent.
func (d *Disk) FinishIntent(_ context.Context, v hub.IntentResult) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := hub.Key{TopicID: v.Intent.TopicID, ID: v.Intent.ID}
	row := d.intents[key]
	if row == nil || row.Claim != v.Intent.Claim {
		return false, nil
	}
	var topics []string
	if v.Intent.Topic != "" {
		topics = append(topics, v.Intent.Topic)
	}
	if v.Subscription != nil {
		if err := d.named(topics, []hub.Subscription{*v.Subscription}); err != nil {
			return false, err
		}
	}
	if v.Again == nil {
		delete(d.intents, key)
	} else {
		again := *v.Again
		again.TopicID, again.ID, again.Claim = key.TopicID, key.ID, 0
		again.At, again.DueAt = milli(again.At), milli(again.DueAt)
		d.intents[key] = &again
	}
	if v.Subscription != nil || v.Remove {
		d.override(v.Intent)
	}
	if v.Subscription != nil {
		d.subscribe(topics, []hub.Subscription{*v.Subscription}, latest(v.Events))
		if v.About != nil {
			d.topics[key.TopicID].About = *v.About
		}
	}
	if v.Remove {
		d.remove(v.Intent.Key(), latest(v.Events))
	}
	d.log(v.Events)
	return true, nil
}

// override removes an earlier pending request for the opposite of in, because the callback
// confirmed in.
func (d *Disk) override(in hub.Intent) {
	contrary := hub.ModeSubscribe
	if in.Mode == hub.ModeSubscribe {
		contrary = hub.ModeUnsubscribe
	}
	key := hub.Key{TopicID: in.TopicID, ID: hub.SubscriptionID(contrary, in.Callback)}
	if other := d.intents[key]; other != nil && other.Mode == contrary && other.At.Before(milli(in.At)) {
		delete(d.intents, key)
	}
}

// Intents implements hub.Store.Intents.
func (d *Disk) Intents(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.intents)), nil
}
