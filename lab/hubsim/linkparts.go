package hubsim

import (
	"context"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// ClaimShards implements hub.Store.ClaimShards.
func (l *link) ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	return claims(ctx, l, "claim parts", func() ([]hub.Shard, error) { return l.disk.ClaimShards(ctx, node, now, until, limit) })
}

// Batch implements hub.Store.Batch.
func (l *link) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	return do(ctx, l, "page", partKey(p), false, func() ([]hub.Subscription, error) { return l.disk.Batch(ctx, p, after, now, limit) })
}

// Checkpoint implements hub.Store.Checkpoint.
func (l *link) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	return do(ctx, l, "checkpoint", partKey(c.Shard), true, func() (bool, error) { return l.disk.Checkpoint(ctx, c) })
}

// ReleaseShards implements hub.Store.ReleaseShards.
func (l *link) ReleaseShards(ctx context.Context, now time.Time, parts []hub.Shard) error {
	return done(ctx, l, "release parts", partKey(parts[0]), func() error { return l.disk.ReleaseShards(ctx, now, parts) })
}

// ClaimRetries implements hub.Store.ClaimRetries.
func (l *link) ClaimRetries(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Retry, error) {
	return claims(ctx, l, "claim pending notifications", func() ([]hub.Retry, error) { return l.disk.ClaimRetries(ctx, now, until, limit, claim) })
}

// Settle implements hub.Store.Settle.
func (l *link) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	return done(ctx, l, "settle", uint64(len(results)), func() error { return l.disk.Settle(ctx, now, results, events) })
}

// Sweep implements hub.Store.Sweep; it also records the removals.
func (l *link) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) (gone []hub.SubscriptionInfo, more bool, err error) {
	err = done(ctx, l, "sweep", 0, func() (err error) {
		gone, more, err = l.disk.Sweep(ctx, now, maxErrors, limit, idle, events)
		l.node.scenario.swept(gone, now)
		return err
	})
	return gone, more, err
}

// ClaimTask implements hub.Store.ClaimTask.
func (l *link) ClaimTask(ctx context.Context, name string, now, first, next time.Time) (bool, error) {
	return do(ctx, l, "claim a task", text(name), true, func() (bool, error) { return l.disk.ClaimTask(ctx, name, now, first, next) })
}

// Recover implements hub.Store.Recover.
func (l *link) Recover(ctx context.Context, now time.Time) error {
	return done(ctx, l, "recover", 0, func() error { return l.disk.Recover(ctx, now) })
}

// NextDue implements hub.Store.NextDue.
func (l *link) NextDue(ctx context.Context) (time.Time, error) {
	return do(ctx, l, "next due", 0, false, func() (time.Time, error) { return l.disk.NextDue(ctx) })
}

// AppendEvents implements hub.Store.AppendEvents.
func (l *link) AppendEvents(ctx context.Context, events []event.Event) error {
	key := uint64(0)
	if len(events) > 0 {
		key = uint64(events[0].TopicID)
	}
	return done(ctx, l, "write events", key, func() error { return l.disk.AppendEvents(ctx, events) })
}

// Events implements hub.Store.Events.
func (l *link) Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error) {
	return do(ctx, l, "events", 0, false, func() ([]event.Event, error) { return l.disk.Events(ctx, q) })
}

// Counts implements hub.Store.Counts.
func (l *link) Counts(ctx context.Context, now time.Time) (hub.Counts, error) {
	return do(ctx, l, "counts", 0, false, func() (hub.Counts, error) { return l.disk.Counts(ctx, now) })
}

// TrimEvents implements hub.Store.TrimEvents.
func (l *link) TrimEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	return do(ctx, l, "trim events", 0, true, func() (int, error) { return l.disk.TrimEvents(ctx, before, limit) })
}

// TrimChanges implements hub.Store.TrimChanges.
func (l *link) TrimChanges(ctx context.Context, before time.Time, limit int) (int, error) {
	return do(ctx, l, "trim changes", 0, true, func() (int, error) { return l.disk.TrimChanges(ctx, before, limit) })
}

// SaveMinute implements hub.Store.SaveMinute.
func (l *link) SaveMinute(ctx context.Context, m hub.Minute) error {
	return done(ctx, l, "save a minute", 0, func() error { return l.disk.SaveMinute(ctx, m) })
}
