package hub

import "time"

// Shape lists the fixed parameters of the engine, for calculations of capacity.
type Shape struct {
	ShardSubscribers int           // approximate subscribers per shard of a large topic
	ShardsAtOnce     int           // shards that one node delivers concurrently
	HostAtOnce       int           // maximum concurrent notifications to one host
	Lease            time.Duration // lease of a shard; afterwards another node may claim it
	PollInterval     time.Duration // time between two polls of the store without a hint
	LogWindow        time.Duration // period of the log that each poll for events of other nodes reads again
	KeepLog          time.Duration // maximum age of log rows and recent changes
	Expiry           time.Duration // lifetime of an rssCloud registration
	MaxLease         time.Duration // maximum lease of a WebSub subscription
}

// DefaultShape returns the shape of this program with its default settings.
func DefaultShape() Shape {
	var o Options
	o.defaults()
	return Shape{
		ShardSubscribers: splitTarget, ShardsAtOnce: maxShardRuns, HostAtOnce: originMax,
		Lease: shardLease, PollInterval: pollEvery, LogWindow: tailOverlap,
		KeepLog: o.KeepEvents, Expiry: o.Expiry, MaxLease: o.MaxLease,
	}
}
