package hubsim

import (
	"context"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// link is the connection of a machine to the store. It adds latency, can be unavailable, and can
// lose the response to an executed operation.
type link struct {
	*Disk // implements the methods that the engine never calls
	node  *node
	disk  *Disk
}

func away() error {
	return fault.New(fault.Unavailable, "The store is away; please try again.")
}

// outcome is the random result of one operation: its delays before and after the execution,
// whether the store refuses it, and whether its response is lost.
type outcome struct {
	before, after time.Duration
	refuse, deaf  bool
}

func (l *link) outcome(draw uint64, write bool) outcome {
	w := l.node.scenario
	f := outcome{before: time.Duration(20_000 + draw%400_000)}
	if write {
		f.after = time.Duration(20_000 + hash(draw, 1)%800_000)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ops++
	if !w.faulty {
		return f
	}
	if time.Now().Before(l.node.unavailableUntil) {
		w.faults++
		f.refuse = true
		return f
	}
	if !write {
		return f
	}
	switch x := share(hash(draw, 2)); {
	case x < w.plan.before:
		f.refuse = true
	case x < w.plan.before+w.plan.after:
		f.deaf = true
	case x < w.plan.before+w.plan.after+w.plan.late:
		f.before += time.Duration(hash(draw, 3) % uint64(3*time.Second))
	default:
		return f
	}
	w.faults++
	return f
}

// do executes one operation. key distinguishes operations of the same kind that start at the same
// time.
func do[T any](ctx context.Context, l *link, op string, key uint64, write bool, fn func() (T, error)) (v T, err error) {
	var none T
	n := l.node
	f := l.outcome(hash(n.scenario.seed, n.runID, text(op), key, uint64(time.Now().UnixNano())), write)
	if !n.sleep(ctx, f.before) || !n.gate() || ctx.Err() != nil {
		return none, away()
	}
	if f.refuse {
		n.scenario.note(write, "machine %d: %s: the store is unavailable", n.machine, op)
		return none, away()
	}
	if v, err = fn(); !write {
		return v, err
	}
	if !n.sleep(context.Background(), f.after) || !n.gate() {
		return none, away()
	}
	if f.deaf {
		n.scenario.note(true, "machine %d: %s: done, but the answer is lost", n.machine, op)
		return none, away()
	}
	return v, err
}

// done calls do for an operation that has no result.
func done(ctx context.Context, l *link, op string, key uint64, fn func() error) error {
	_, err := do(ctx, l, op, key, true, func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

func partKey(p hub.Shard) uint64 { return hash(uint64(p.TopicID), uint64(p.N), uint64(p.Epoch)) }

// Topic implements hub.Store.Topic.
func (l *link) Topic(ctx context.Context, id int64) (hub.Topic, error) {
	return do(ctx, l, "topic", uint64(id), false, func() (hub.Topic, error) { return l.disk.Topic(ctx, id) })
}

// Following implements hub.Store.Following.
func (l *link) Following(ctx context.Context, urls []string, after int64, now time.Time, limit int) ([]hub.Topic, error) {
	return do(ctx, l, "following", text(urls[0]), false, func() ([]hub.Topic, error) { return l.disk.Following(ctx, urls, after, now, limit) })
}

// Content implements hub.Store.Content.
func (l *link) Content(ctx context.Context, id int64) (hub.Content, error) {
	return do(ctx, l, "content", uint64(id), false, func() (hub.Content, error) { return l.disk.Content(ctx, id) })
}

// Subscribe implements hub.Store.Subscribe.
func (l *link) Subscribe(ctx context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	return done(ctx, l, "subscribe", uint64(subs[0].ID), func() error { return l.disk.Subscribe(ctx, topics, subs, events) })
}

// Unsubscribe implements hub.Store.Unsubscribe.
func (l *link) Unsubscribe(ctx context.Context, keys []hub.Key, events []event.Event) ([]hub.Subscription, error) {
	return do(ctx, l, "unsubscribe", uint64(keys[0].ID), true, func() ([]hub.Subscription, error) { return l.disk.Unsubscribe(ctx, keys, events) })
}

// Subscription implements hub.Store.Subscription.
func (l *link) Subscription(ctx context.Context, key hub.Key) (hub.Subscription, error) {
	return do(ctx, l, "subscription", uint64(key.ID), false, func() (hub.Subscription, error) { return l.disk.Subscription(ctx, key) })
}

// Request implements hub.Store.Request.
func (l *link) Request(ctx context.Context, list []hub.Intent, events []event.Event) error {
	return done(ctx, l, "request", uint64(list[0].ID), func() error { return l.disk.Request(ctx, list, events) })
}

// ClaimIntents implements hub.Store.ClaimIntents.
func (l *link) ClaimIntents(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Intent, error) {
	return claims(ctx, l, "claim requests", func() ([]hub.Intent, error) { return l.disk.ClaimIntents(ctx, now, until, limit, claim) })
}

// FinishIntent implements hub.Store.FinishIntent.
func (l *link) FinishIntent(ctx context.Context, d hub.IntentResult) (bool, error) {
	return do(ctx, l, "decide", hash(uint64(d.Intent.TopicID), uint64(d.Intent.ID)), true, func() (bool, error) { return l.disk.FinishIntent(ctx, d) })
}

// Intents implements hub.Store.Intents.
func (l *link) Intents(ctx context.Context) (int64, error) {
	return do(ctx, l, "count requests", 0, false, func() (int64, error) { return l.disk.Intents(ctx) })
}

// Announce implements hub.Store.Announce.
func (l *link) Announce(ctx context.Context, list []hub.Change, pings []string, now, due time.Time, events []event.Event) error {
	return done(ctx, l, "announce", 0, func() error { return l.disk.Announce(ctx, list, pings, now, due, events) })
}

// RecordPing implements hub.Store.RecordPing.
func (l *link) RecordPing(ctx context.Context, url string, now, due time.Time, events []event.Event) error {
	return done(ctx, l, "record a ping", text(url), func() error { return l.disk.RecordPing(ctx, url, now, due, events) })
}

// ClaimChecks implements hub.Store.ClaimChecks.
func (l *link) ClaimChecks(ctx context.Context, now, until time.Time, limit int) ([]hub.Topic, error) {
	return claims(ctx, l, "claim checks", func() ([]hub.Topic, error) { return l.disk.ClaimChecks(ctx, now, until, limit) })
}

// CommitCheck implements hub.Store.CommitCheck.
func (l *link) CommitCheck(ctx context.Context, c hub.Check) (hub.Checked, error) {
	return do(ctx, l, "commit a check", uint64(c.TopicID), true, func() (hub.Checked, error) { return l.disk.CommitCheck(ctx, c) })
}

// claims calls do for a claim. If no work is due, the claim writes nothing, so its response
// cannot be lost.
func claims[T any](ctx context.Context, l *link, op string, fn func() ([]T, error)) ([]T, error) {
	if next, err := l.disk.NextDue(ctx); err == nil && (next.IsZero() || next.After(l.node.clock.Now())) {
		return do(ctx, l, op, 0, false, fn)
	}
	return do(ctx, l, op, 0, true, fn)
}
