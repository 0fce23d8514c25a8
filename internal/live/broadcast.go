package live

import "sync"

// Broadcast passes values to all listeners in this process. The zero value has no listener.
type Broadcast[T any] struct {
	mu        sync.Mutex
	listeners map[*Listener[T]]struct{}
}

// Publish sends values to every listener without blocking. A listener whose buffer is full is
// dropped.
func (b *Broadcast[T]) Publish(list ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		for _, v := range list {
			select {
			case l.c <- v:
				continue
			default:
			}
			b.drop(l)
			break
		}
	}
}

// Listen returns a listener that holds up to buffer values, at least 1.
func (b *Broadcast[T]) Listen(buffer int) *Listener[T] {
	l := &Listener[T]{from: b, c: make(chan T, max(buffer, 1))}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[*Listener[T]]struct{}{}
	}
	b.listeners[l] = struct{}{}
	return l
}

// Listeners counts the listeners.
func (b *Broadcast[T]) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners)
}

func (b *Broadcast[T]) drop(l *Listener[T]) {
	if _, ok := b.listeners[l]; ok {
		delete(b.listeners, l)
		close(l.c)
	}
}

// Listener receives values until it is closed or dropped.
type Listener[T any] struct {
	from *Broadcast[T]
	c    chan T
}

// C returns the channel of values. It is closed when the listener is closed or dropped.
func (l *Listener[T]) C() <-chan T { return l.c }

// Close ends the listener. It may be called more than once.
func (l *Listener[T]) Close() {
	l.from.mu.Lock()
	defer l.from.mu.Unlock()
	l.from.drop(l)
}
