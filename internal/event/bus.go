package event

import (
	"sync"
	"time"
)

// Bus stamps events and sends them to listeners in this process. Use [NewBus].
type Bus struct {
	node int64

	mu        sync.Mutex
	seq       int64
	listeners map[*Listener]struct{}
}

// NewBus returns the bus of one node. Running processes on one store must have different node
// numbers.
func NewBus(node int64) *Bus {
	return &Bus{node: node, listeners: map[*Listener]struct{}{}}
}

// Node is the number that Stamp writes.
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
// full is dropped: its channel is closed and Missed returns true.
func (b *Bus) Publish(events ...Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		for _, e := range events {
			if e.IsPrivate() {
				continue
			}
			select {
			case l.c <- e:
				continue
			default:
			}
			l.missed = true
			b.drop(l)
			break
		}
	}
}

// Listen returns a listener that holds up to buffer events (at least 1).
func (b *Bus) Listen(buffer int) *Listener {
	l := &Listener{bus: b, c: make(chan Event, max(buffer, 1))}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
	return l
}

// Listeners counts those listening now.
func (b *Bus) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners)
}

func (b *Bus) drop(l *Listener) {
	if _, ok := b.listeners[l]; ok {
		delete(b.listeners, l)
		close(l.c)
	}
}

// Listener receives events until it is closed or dropped.
type Listener struct {
	bus    *Bus
	c      chan Event
	missed bool
}

// C delivers the events. It is closed when the listener is closed or dropped.
func (l *Listener) C() <-chan Event { return l.c }

// Missed reports, after C is closed, whether the listener was dropped.
func (l *Listener) Missed() bool {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	return l.missed
}

// Close ends the listener. It may be called more than once.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}
