package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
	"cloudburst/internal/store"
)

// clustered is a shared store whose hints a bug does not change.
type clustered struct {
	stored
	store.Hinter
}

// wrapShared adds a bug that only several nodes on one database show; nil: unknown name.
func wrapShared(c clustered, bug string) store.Store {
	switch bug {
	case "epoch-ignored":
		return stubborn{c}
	case "lease-for-ever":
		return eternal{c}
	case "hints-only":
		return &asleep{clustered: c}
	case "mark-beyond":
		return ahead{c, &sync.Map{}}
	case "hour-for-everybody":
		return eager{c}
	case "deaf-tail":
		return deaf{c}
	}
	return nil
}

// stubborn continues with a shard without its claim.
type stubborn struct{ clustered }

func (s stubborn) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	again, err := s.clustered.Checkpoint(ctx, c)
	if errors.Is(err, record.ErrLost) {
		return false, nil
	}
	return again, err
}

// eternal claims shards for too long, so that no node takes over.
type eternal struct{ clustered }

const eternity = time.Hour

func (s eternal) CommitCheck(ctx context.Context, c hub.Check) (hub.Checked, error) {
	c.ClaimUntil = c.ClaimUntil.Add(eternity)
	return s.clustered.CommitCheck(ctx, c)
}

func (s eternal) ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	return s.clustered.ClaimShards(ctx, node, now, until.Add(eternity), limit)
}

func (s eternal) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	c.Until = c.Until.Add(eternity)
	return s.clustered.Checkpoint(ctx, c)
}

// asleep looks for shards only after a hint of another node, so that lost hints have no
// replacement.
type asleep struct {
	clustered
	mu       sync.Mutex
	received time.Time
}

func (s *asleep) Hints(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		for range s.clustered.Hints(ctx) {
			s.mu.Lock()
			s.received = time.Now()
			s.mu.Unlock()
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}

func (s *asleep) ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	s.mu.Lock()
	awake := time.Since(s.received) < time.Second/2
	s.mu.Unlock()
	if !awake {
		return nil, nil
	}
	return s.clustered.ClaimShards(ctx, node, now, until, limit)
}

// ahead marks subscribers as notified that it has only read.
type ahead struct {
	clustered
	read *sync.Map // the last id read by topic and shard
}

type partKey struct {
	topic int64
	n     int
}

func (s ahead) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	subs, err := s.clustered.Batch(ctx, p, after, now, limit)
	if err == nil && len(subs) > 0 {
		s.read.Store(partKey{p.TopicID, p.N}, subs[len(subs)-1].ID)
	}
	return subs, err
}

func (s ahead) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	if last, ok := s.read.Load(partKey{c.Shard.TopicID, c.Shard.N}); ok && !c.Finish {
		c.Pos = last.(int64)
	}
	return s.clustered.Checkpoint(ctx, c)
}

// eager does the hourly work at once, on every node.
type eager struct{ clustered }

func (eager) ClaimTask(context.Context, string, time.Time, time.Time, time.Time) (bool, error) {
	return true, nil
}

// deaf never reads the log entries of other nodes.
type deaf struct{ clustered }

func (s deaf) Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error) {
	if q.Forward && q.Limit > 0 && !q.Since.IsZero() {
		return nil, nil
	}
	return s.clustered.Events(ctx, q)
}

// here does not share its nonces.
type here struct {
	stored
	seen *sync.Map
}

func (s here) UseNonce(_ context.Context, ids [][]byte, _ time.Time) (bool, error) {
	fresh := true
	for _, id := range ids {
		_, before := s.seen.LoadOrStore(string(id), true)
		fresh = fresh && !before
	}
	return fresh, nil
}
