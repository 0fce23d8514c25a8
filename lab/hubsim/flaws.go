package hubsim

import (
	"context"
	"math"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// Flaws returns the names of the bugs that [Options] can plant between the engine and its store.
func Flaws() []string {
	return []string{"acknowledged before the commit", "a busy shard misses a change", "a checkpoint beyond its batch", "dropped at once",
		"each try is an error", "epochs are not compared", "expired subscriptions are still notified", "failures are forgotten", "outcomes are forgotten",
		"parking is forgotten", "raising is forgotten", "retried with the old version", "the lease of a shard ends at once", "the lease of a retry is not written",
		"the lease of a shard is never renewed"}
}

// flaw is a planted bug. The zero flaw changes nothing.
type flaw struct {
	name     string
	scenario *scenario
	known    map[int64][]hub.Topic // key: topic ID; value: versions of the topic
	until    map[uint64]time.Time
}

func newFlaw(name string, w *scenario) flaw {
	return flaw{name: name, scenario: w, known: map[int64][]hub.Topic{}, until: map[uint64]time.Time{}}
}

// wrap returns the store of a machine with the planted bug.
func (f flaw) wrap(n *node, s hub.Store) hub.Store {
	if f.name == "" {
		return s
	}
	return &flawed{Store: s, flaw: f, node: n}
}

type flawed struct {
	hub.Store
	flaw
	node *node
}

// soon returns success at once and executes the write 1.5 seconds later.
func (f *flawed) soon(write func(context.Context) error) error {
	go func() {
		if f.node.sleep(context.Background(), 1500*time.Millisecond) {
			_ = write(context.Background()) // the caller has already received its response, so nobody receives this error
		}
	}()
	return nil
}

// Subscribe implements hub.Store.Subscribe.
func (f *flawed) Subscribe(ctx context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	if f.name == "acknowledged before the commit" {
		return f.soon(func(ctx context.Context) error { return f.Store.Subscribe(ctx, topics, subs, events) })
	}
	return f.Store.Subscribe(ctx, topics, subs, events)
}

// CommitCheck implements hub.Store.CommitCheck.
func (f *flawed) CommitCheck(ctx context.Context, c hub.Check) (hub.Checked, error) {
	d := f.scenario.disk
	busy := map[*partRow]int64{}
	if f.name == "a busy shard misses a change" {
		d.mu.Lock()
		if t := d.topics[c.TopicID]; t != nil {
			for _, p := range t.part {
				if p.owned {
					busy[p] = p.Want
				}
			}
		}
		d.mu.Unlock()
	}
	if f.name == "the lease of a shard ends at once" {
		c.ClaimUntil = c.Now
	}
	done, err := f.Store.CommitCheck(ctx, c)
	d.mu.Lock()
	defer d.mu.Unlock()
	for p, want := range busy {
		if p.owned {
			p.Want = want
		}
	}
	if err == nil && c.Changed && !done.Raced {
		f.known[c.TopicID] = append(f.known[c.TopicID], done.Topic)
	}
	f.lease(done.Claimed, c.ClaimUntil)
	return done, err
}

// lease records the time at which the claims of shards end.
func (f *flawed) lease(parts []hub.Shard, until time.Time) {
	for _, p := range parts {
		f.until[partKey(p)] = until
	}
}

// ClaimShards implements hub.Store.ClaimShards.
func (f *flawed) ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	if f.name == "the lease of a shard ends at once" {
		until = now
	}
	parts, err := f.Store.ClaimShards(ctx, node, now, until, limit)
	f.scenario.disk.mu.Lock()
	defer f.scenario.disk.mu.Unlock()
	f.lease(parts, until)
	return parts, err
}

// Batch implements hub.Store.Batch.
func (f *flawed) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	if f.name == "expired subscriptions are still notified" {
		now = now.Add(-3 * time.Hour)
	}
	return f.Store.Batch(ctx, p, after, now, limit)
}

// Checkpoint implements hub.Store.Checkpoint.
func (f *flawed) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	d := f.scenario.disk
	switch f.name {
	case "failures are forgotten":
		c.Results = without(c.Results, hub.Failed)
	case "parking is forgotten":
		c.Results = without(c.Results, hub.Parked)
	case "raising is forgotten":
		c.Results = without(c.Results, hub.Raised)
	case "a checkpoint beyond its batch":
		c.Pos = math.MaxInt64
	case "the lease of a shard ends at once":
		c.Until = c.Now
	case "the lease of a shard is never renewed":
		d.mu.Lock()
		c.Until = f.until[partKey(c.Shard)]
		d.mu.Unlock()
	case "epochs are not compared":
		d.mu.Lock()
		for _, p := range d.topics[c.Shard.TopicID].part {
			if p.N == c.Shard.N {
				c.Shard.Epoch, p.owned = p.Epoch, true
			}
		}
		d.mu.Unlock()
	}
	c.Results = f.results(c.Results)
	return f.Store.Checkpoint(ctx, c)
}

// results returns a copy of list, changed by bugs that concern the counting of failures.
func (f *flawed) results(list []hub.Result) []hub.Result {
	d := f.scenario.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	out := append([]hub.Result(nil), list...)
	for i, r := range out {
		s := d.sub(r.Key)
		if s == nil || r.Outcome != hub.Failed {
			continue
		}
		switch {
		case f.name == "dropped at once" && s.Failures >= 2 && s.Counted < r.Version:
			out[i].Outcome = hub.Gone
		case f.name == "each try is an error":
			s.Counted = 0
		}
	}
	return out
}

func without(list []hub.Result, o hub.Outcome) []hub.Result {
	var out []hub.Result
	for _, r := range list {
		if r.Outcome != o {
			out = append(out, r)
		}
	}
	return out
}

// ClaimRetries implements hub.Store.ClaimRetries.
func (f *flawed) ClaimRetries(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Retry, error) {
	if f.name == "the lease of a retry is not written" {
		until = now
	}
	list, err := f.Store.ClaimRetries(ctx, now, until, limit, claim)
	if f.name != "retried with the old version" {
		return list, err
	}
	f.scenario.disk.mu.Lock()
	defer f.scenario.disk.mu.Unlock()
	for i, r := range list {
		for _, t := range f.known[r.TopicID] {
			if t.Version == r.Counted && t.Version < r.Topic.Version {
				list[i].Topic = t
			}
		}
	}
	return list, err
}

// Settle implements hub.Store.Settle.
func (f *flawed) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	if f.name == "outcomes are forgotten" {
		return nil
	}
	return f.Store.Settle(ctx, now, f.results(results), events)
}
