package live

import (
	"context"
	"errors"
	"sync"
)

// ErrEnded means that the client left or the server stopped before a stream began.
var ErrEnded = errors.New("the client left or the server is stopping")

// Tail passes the values of one worker to all clients, each of which watches one key. The worker
// runs from the first client's Join until the last client leaves. Set the exported fields first;
// Work is required.
type Tail[K comparable, V any] struct {
	// Work runs until ctx ends. It calls ready as soon as no later value can be missed.
	Work   func(ctx context.Context, ready func())
	Done   <-chan struct{} // closed when the server stops; nil: never
	Buffer int             // maximum number of values that wait for one client

	mu       sync.Mutex
	channels map[K]*Channel[K, V]
	ready    chan struct{}      // closed when the worker is ready; nil: there are no clients
	cancel   context.CancelFunc // ends the worker
}

// Channel contains the clients that watch the same key.
type Channel[K comparable, V any] struct {
	Key     K
	at      int64
	clients map[chan V]struct{}
}

// Join adds a client for a key. The channel c receives all values that the worker sends to this key
// from now on. c is closed if the client is too slow. at is the position of a channel that does not
// exist yet.
func (t *Tail[K, V]) Join(ctx context.Context, key K, at int64) (c <-chan V, leave func(), err error) {
	t.mu.Lock()
	if t.ready == nil {
		work, cancel := context.WithCancel(context.Background()) // use a new context, because the worker continues after the first client's request
		ready := make(chan struct{})
		t.channels, t.ready, t.cancel = map[K]*Channel[K, V]{}, ready, cancel
		go t.Work(work, func() { close(ready) })
	}
	ch := t.channels[key]
	if ch == nil {
		ch = &Channel[K, V]{Key: key, at: at, clients: map[chan V]struct{}{}}
		t.channels[key] = ch
	}
	client := make(chan V, t.Buffer)
	ch.clients[client] = struct{}{}
	ready := t.ready
	t.mu.Unlock()
	select {
	case <-ready:
		return client, func() { t.leave(ch, client) }, nil
	case <-ctx.Done():
	case <-t.Done:
	}
	t.leave(ch, client)
	return nil, nil, ErrEnded
}

// leave removes a client. When the last client leaves, the worker ends.
func (t *Tail[K, V]) leave(ch *Channel[K, V], client chan V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(ch.clients, client)
	if len(ch.clients) == 0 && t.channels[ch.Key] == ch {
		delete(t.channels, ch.Key)
	}
	if len(t.channels) == 0 && t.ready != nil {
		t.cancel()
		t.ready = nil
	}
}

// Channels returns the channels that have clients.
func (t *Tail[K, V]) Channels() []*Channel[K, V] {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*Channel[K, V], 0, len(t.channels))
	for _, ch := range t.channels {
		all = append(all, ch)
	}
	return all
}

// At returns the highest position up to which a channel received values.
func (t *Tail[K, V]) At(ch *Channel[K, V]) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return ch.at
}

// Send passes a value at a position to all clients of a channel. A client whose buffer is full is
// dropped.
func (t *Tail[K, V]) Send(ch *Channel[K, V], v V, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch.at = max(ch.at, at)
	for client := range ch.clients {
		select {
		case client <- v:
		default:
			ch.drop(client)
		}
	}
}

// Drop drops all clients of a channel.
func (t *Tail[K, V]) Drop(ch *Channel[K, V]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for client := range ch.clients {
		ch.drop(client)
	}
}

func (ch *Channel[K, V]) drop(client chan V) {
	delete(ch.clients, client)
	close(client)
}
