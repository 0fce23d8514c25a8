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

// clustered is a store that several nodes share. A bug does not change its hints.
type clustered struct {
	stored
	store.Hinter
}

// wrapShared adds a bug that only occurs with several nodes on one database. It returns nil if
// the name is unknown.
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

// stubborn continues the deliveries of a shard after it has lost the claim.
type stubborn struct{ clustered }

func (s stubborn) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	again, err := s.clustered.Checkpoint(ctx, c)
	if errors.Is(err, record.ErrLost) {
		return false, nil
	}
	return again, err
}

// eternal claims shards for an hour too long, so that no other node takes over.
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

// asleep claims shards only within half a second after a hint from another node. Without a hint
// it never claims shards, so a lost hint loses the work.
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

// ahead marks subscribers as notified after it has only read them.
type ahead struct {
	clustered
	read *sync.Map // key: topic and shard; value: last subscription ID that was read
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

// eager executes the hourly tasks immediately and on every node.
type eager struct{ clustered }

func (eager) ClaimTask(context.Context, string, time.Time, time.Time, time.Time) (bool, error) {
	return true, nil
}

// deaf does not read the log entries of other nodes.
type deaf struct{ clustered }

func (s deaf) Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error) {
	if q.Forward && q.Limit > 0 && !q.Since.IsZero() {
		return nil, nil
	}
	return s.clustered.Events(ctx, q)
}

// here does not share the nonces of accepted headers with other nodes.
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
