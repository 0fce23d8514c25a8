package hub

import "time"

// Shape is what the engine goes by whatever the machine is like, for whoever reckons what
// many of them would need.
type Shape struct {
	ShardSubscribers int           // subscribers of a part of a large topic, about
	ShardsAtOnce     int           // that one node tells at a time
	HostAtOnce       int           // notifications under way to one host, at most
	Lease            time.Duration // of a part: after it another node takes over
	PollInterval     time.Duration // between two looks for work that nobody has told of
	LogWindow        time.Duration // of the log, that is read again at each look at what other nodes wrote
	KeepLog          time.Duration // rows of the log, and of the list of changes, stay so long
	Expiry           time.Duration // life of an rssCloud registration
	MaxLease         time.Duration // of a WebSub subscription
}

// TheShape is that of this program with its default settings.
func DefaultShape() Shape {
	var o Options
	o.defaults()
	return Shape{
		ShardSubscribers: splitTarget, ShardsAtOnce: maxShardRuns, HostAtOnce: originMax,
		Lease: shardLease, PollInterval: pollEvery, LogWindow: tailOverlap,
		KeepLog: o.KeepEvents, Expiry: o.Expiry, MaxLease: o.MaxLease,
	}
}
