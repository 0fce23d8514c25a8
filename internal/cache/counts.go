package cache

import "sync/atomic"

// Counts are counters of a cache for its metrics. The zero value is ready.
type Counts struct {
	Hits, Misses  atomic.Int64 // lookups since the start of the process
	Values, Bytes atomic.Int64 // stored now
}
