package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/checkup"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
)

// stored is a store of the program with the optional interface that both databases implement.
type stored interface {
	store.Store
	Checkup(ctx context.Context, now time.Time) (checkup.Database, error)
}

// wrap adds the named bug to a store. With "" it returns the store unchanged. A store that
// implements [store.Hinter] still implements it afterwards.
func wrap(opened store.Store, bug string) (store.Store, error) {
	st, ok := opened.(stored)
	switch {
	case bug == "":
		return opened, nil
	case !ok:
		return nil, fmt.Errorf("a %T has no bugs", opened)
	}
	hints, shared := opened.(store.Hinter)
	if shared {
		if w := wrapShared(clustered{st, hints}, bug); w != nil {
			return w, nil
		}
	}
	w := wrapAny(st, bug)
	switch {
	case w == nil:
		return nil, fmt.Errorf("unknown bug %q for a %T", bug, opened)
	case shared:
		return clustered{w, hints}, nil
	}
	return w, nil
}

// wrapAny adds a bug that the crash harness must find. It returns nil if the name is unknown.
func wrapAny(st stored, bug string) stored {
	switch bug {
	case "ack-before-commit":
		return ackFirst{st}
	case "forget-failures":
		return forgetful{st, hub.Failed}
	case "forget-parked":
		return forgetful{st, hub.Parked}
	case "forget-arrivals":
		return forgetful{st, hub.Delivered}
	case "finish-first":
		return hasty{st}
	case "ack-slow-pings":
		return careless{st}
	case "ack-before-asking":
		return trusting{st}
	case "secret-too-soon":
		return forward{st}
	case "other-content":
		return mixing{st, &sync.Map{}}
	case "announce-late":
		return hurried{st}
	case "decide-halfway":
		return halfway{st}
	case "nonce-late":
		return readmitting{st, &sync.Map{}}
	case "nonce-here":
		return here{st, &sync.Map{}}
	case "save-late":
		return saveFirst{st}
	case "notify-first":
		return notifyFirst{st}
	case "post-late":
		return postFirst{st}
	}
	return nil
}

// ackFirst acknowledges a subscription or its cancel before it writes the change.
type ackFirst struct{ stored }

// lateBy is the delay of a late write. It is long enough that some crashes occur during the
// delay.
const lateBy = 100 * time.Millisecond

func (s ackFirst) Subscribe(_ context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	time.AfterFunc(lateBy, func() { _ = s.stored.Subscribe(context.Background(), topics, subs, events) })
	return nil
}

func (s ackFirst) Unsubscribe(_ context.Context, keys []hub.Key, events []event.Event) ([]hub.Subscription, error) {
	time.AfterFunc(lateBy, func() { _, _ = s.stored.Unsubscribe(context.Background(), keys, events) })
	return nil, nil
}

// forgetful discards all delivery results with the outcome what.
type forgetful struct {
	stored
	what hub.Outcome
}

func (s forgetful) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	c.Results = s.keep(c.Results)
	return s.stored.Checkpoint(ctx, c)
}

func (s forgetful) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	return s.stored.Settle(ctx, now, s.keep(results), events)
}

func (s forgetful) keep(results []hub.Result) []hub.Result {
	var out []hub.Result
	for _, r := range results {
		switch {
		case r.Outcome != s.what:
			out = append(out, r)
		case r.Outcome == hub.Failed: // otherwise a retry would stay claimed until the end of its lease
			r.Outcome = hub.Delivered
			out = append(out, r)
		}
	}
	return out
}

// hasty records a shard as finished when it has read the last batch, before the deliveries.
type hasty struct{ stored }

func (s hasty) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	subs, err := s.stored.Batch(ctx, p, after, now, limit)
	if err == nil && len(subs) < limit {
		_, err = s.stored.Checkpoint(ctx, hub.Checkpoint{Shard: p, Now: now, Until: now, Finish: true})
	}
	return subs, err
}

// careless acknowledges pings of slow feeds, but does not store the pings.
type careless struct{ stored }

func (careless) RecordPing(context.Context, string, time.Time, time.Time, []event.Event) error {
	return nil
}

// trusting acknowledges WebSub requests before it writes the requests.
type trusting struct{ stored }

func (s trusting) Request(_ context.Context, list []hub.Intent, events []event.Event) error {
	time.AfterFunc(lateBy, func() { _ = s.stored.Request(context.Background(), list, events) })
	return nil
}

// forward stores the new secret of a subscription before the callback confirms it.
type forward struct{ stored }

func (s forward) Request(ctx context.Context, list []hub.Intent, events []event.Event) error {
	for _, in := range list {
		sub, err := s.stored.Subscription(ctx, in.Key())
		if err != nil || in.Mode != hub.ModeSubscribe {
			continue
		}
		sub.Secret = in.Secret
		if err := s.stored.Subscribe(ctx, []string{in.Topic}, []hub.Subscription{sub}, nil); err != nil {
			return err
		}
	}
	return s.stored.Request(ctx, list, events)
}

// mixing stores each version of a feed with the content of the previous version.
type mixing struct {
	stored
	last *sync.Map // key: topic ID; value: content
}

func (s mixing) CommitCheck(ctx context.Context, c hub.Check) (hub.Checked, error) {
	if c.Changed && c.Body != nil {
		if before, found := s.last.Swap(c.TopicID, c.Body); found {
			c.Body = before.([]byte)
		}
	}
	return s.stored.CommitCheck(ctx, c)
}

// hurried acknowledges site pings before it writes the pings.
type hurried struct{ stored }

func (s hurried) Announce(_ context.Context, list []hub.Change, pings []string, now, due time.Time, events []event.Event) error {
	time.AfterFunc(lateBy, func() { _ = s.stored.Announce(context.Background(), list, pings, now, due, events) })
	return nil
}

// halfway removes a confirmed request in one transaction, and writes its effect later in another.
type halfway struct{ stored }

func (s halfway) FinishIntent(ctx context.Context, d hub.IntentResult) (bool, error) {
	sub, remove := d.Subscription, d.Remove
	d.Subscription, d.Remove = nil, false
	applied, err := s.stored.FinishIntent(ctx, d)
	if applied {
		time.AfterFunc(lateBy, func() {
			if sub != nil {
				_ = s.stored.Subscribe(context.Background(), []string{d.Intent.Topic}, []hub.Subscription{*sub}, nil)
			}
			if remove {
				_, _ = s.stored.Unsubscribe(context.Background(), []hub.Key{d.Intent.Key()}, nil)
			}
		})
	}
	return applied, err
}

// readmitting keeps the nonces of accepted headers in memory, and writes them later.
type readmitting struct {
	stored
	seen *sync.Map
}

func (s readmitting) UseNonce(_ context.Context, ids [][]byte, until time.Time) (bool, error) {
	fresh := true
	for _, id := range ids {
		_, before := s.seen.LoadOrStore(string(id), true)
		fresh = fresh && !before
	}
	time.AfterFunc(lateBy, func() { _, _ = s.stored.UseNonce(context.Background(), ids, until) })
	return fresh, nil
}

// saveFirst acknowledges the save of a document before it writes the document.
type saveFirst struct{ stored }

func (s saveFirst) SaveDocument(ctx context.Context, d author.Saving) (author.Feed, bool, error) {
	f, err := s.stored.SavedFeed(ctx, d.User, d.Name)
	if err != nil {
		f = author.Feed{User: d.User, Name: d.Name}
	}
	f.Version++
	f.Type, f.Size, f.SavedAt = d.Type, int64(len(d.Bytes)), d.At
	time.AfterFunc(lateBy, func() { _, _, _ = s.stored.SaveDocument(context.Background(), d) })
	return f, true, nil
}

// postFirst acknowledges a change of a post before it writes the change.
type postFirst struct{ stored }

func (s postFirst) WritePost(ctx context.Context, w author.Writing) (author.Written, error) {
	if w.ID == 0 || w.Change == nil {
		return s.stored.WritePost(ctx, w)
	}
	now, err := s.Post(ctx, w.User, w.ID)
	if err != nil {
		return author.Written{}, err
	}
	writer, err := s.Writer(ctx, w.User)
	if err != nil {
		return author.Written{}, err
	}
	next, _, err := w.Change(now, false, nil, writer, func(slug string) (string, error) { return slug, nil })
	if err != nil || next == nil {
		return author.Written{Post: now}, err
	}
	next.Revision++
	time.AfterFunc(lateBy, func() { _, _ = s.stored.WritePost(context.Background(), w) })
	return author.Written{Post: *next, Writer: writer}, nil
}

// notifyFirst records subscribers as notified in the transaction that saves a document. The
// notification follows later, so a crash can lose it.
type notifyFirst struct{ stored }

func (s notifyFirst) SaveDocument(ctx context.Context, d author.Saving) (author.Feed, bool, error) {
	d.Quiet = true
	f, changed, err := s.stored.SaveDocument(ctx, d)
	time.Sleep(lateBy)
	return f, changed, err
}
