package hub

import (
	"context"
	"time"
)

// Claims of shards.
const (
	shardLease       = 15 * time.Second
	maxShardRuns     = 16
	shardsPerClaim   = 2 // maximum number of shards claimed at once, if nodes share the store
	maxClaimOnCommit = 4
	headStart        = 100 * time.Millisecond // time that a busy node waits before it claims, so that idle nodes receive the hint first

	splitAbove  = 15_000 // number of subscribers from which a shard is split
	splitTarget = 10_000
)

// shardLoop claims due shards while fewer than maxShardRuns are running.
func (h delivering) shardLoop(ctx context.Context) {
	shardLimit := shardsPerClaim // used if nodes share the store
	for h.sleep(ctx, h.wakeShards, h.pollDelay(ctx, pollEvery)) {
		h.yieldToOtherNodes(ctx)
		free := maxShardRuns - int(h.activeRuns.Load())
		if free <= 0 || ctx.Err() != nil {
			continue
		}
		if h.Hint != nil {
			free = min(free, shardLimit)
		}
		now := h.now()
		shards, err := h.Store.ClaimShards(ctx, h.Bus.Node(), now, now.Add(shardLease), free)
		if err != nil {
			h.complain(ctx, "claim shards", err)
			continue
		}
		for _, shard := range shards {
			h.startRun(shard)
		}
		if len(shards) > 0 {
			h.stats.writes.Add(1)
		}
		if len(shards) == free && h.Hint != nil {
			h.wake(h.wakeShards) // more shards may be due
		}
		shardLimit = shardsPerClaim
		if len(shards) == free && distinctTopics(shards) {
			shardLimit = min(2*free, maxShardRuns) // each shard has another topic, so other nodes do not need these shards to share the work
		}
	}
}

// distinctTopics reports whether all shards belong to different topics.
func distinctTopics(parts []Shard) bool {
	topics := map[int64]bool{}
	for _, shard := range parts {
		topics[shard.TopicID] = true
	}
	return len(topics) == len(parts)
}

// yieldToOtherNodes waits for headStart if nodes share the store and this node is delivering, so
// that idle nodes take the next shards of a large topic.
func (h delivering) yieldToOtherNodes(ctx context.Context) {
	if h.Hint == nil {
		return
	}
	for end := h.now().Add(headStart); h.activeRuns.Load() > 0; {
		left := end.Sub(h.now())
		if left <= 0 || !h.sleep(ctx, h.wakeShards, left) {
			return
		}
	}
}

// claimOnCommit returns how many shards of a change the node claims in the commit of the check. If
// nodes share the store, it is one shard, and idle nodes claim the others.
func (h delivering) claimOnCommit() int {
	if h.Hint != nil {
		return 1
	}
	return maxClaimOnCommit
}

func (h delivering) startRun(shard Shard) {
	h.activeRuns.Add(1)
	h.running.Go(func() {
		h.runShard(h.runsCtx, shard)
		h.activeRuns.Add(-1)
		h.wake(h.wakeShards)
	})
}

// runEnded splits a shard that turned out to be large.
func (h delivering) runEnded(run *shardRun, again bool) {
	if again {
		h.wake(h.wakeShards)
		return
	}
	if run.shard.Pos != 0 || run.seen < splitAbove {
		return
	}
	// Extrapolate from this shard to the topic: subscribers are evenly distributed over the
	// buckets.
	total := float64(run.seen) * Buckets / float64(run.shard.Hi-run.shard.Lo+1)
	ctx, cancel := context.WithTimeout(context.Background(), shardLease)
	defer cancel()
	if err := h.Store.Split(ctx, run.shard.TopicID, int(total/splitTarget)+1); err != nil {
		h.logOf(&run.shard.Topic).Warn("split a topic", "err", err)
	}
}
