package event

import (
	"slices"
	"sync"
	"time"

	"cloudburst/internal/live"
)

// Bus stamps events and sends them to listeners in this process. Use [NewBus].
type Bus struct {
	live.Broadcast[Event]
	node int64

	mu  sync.Mutex
	seq int64
}

// Listener receives the events of a [Bus].
type Listener = live.Listener[Event]

// NewBus returns the bus of one node. Running processes on one store must have different node
// numbers.
func NewBus(node int64) *Bus {
	return &Bus{node: node}
}

// Node returns the number that Stamp writes.
func (b *Bus) Node() int64 { return b.node }

// Stamp sets node, sequence number, and the time now if At is zero.
func (b *Bus) Stamp(now time.Time, events ...*Event) {
	now = now.UTC().Truncate(time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		b.seq++
		e.Node, e.Seq = b.node, b.seq
		if e.At.IsZero() {
			e.At = now
		}
	}
}

// Publish sends committed events to every listener without blocking. A listener whose buffer is
// full is dropped: its channel is closed.
func (b *Bus) Publish(events ...Event) {
	if slices.ContainsFunc(events, Event.IsPrivate) {
		events = slices.DeleteFunc(slices.Clone(events), Event.IsPrivate)
	}
	b.Broadcast.Publish(events...)
}
