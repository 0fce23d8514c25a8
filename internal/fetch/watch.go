package fetch

import (
	"context"
	"sync"
	"time"
)

// watches interrupts the connections of a context when the context is cancelled. Sends that share a
// context share one registration with it, which is cheaper than one for each send.
type watches struct {
	mu     sync.Mutex
	byDone map[<-chan struct{}]*watch
}

// watch contains the connections in use of one context, linked by conn.next and conn.prev.
type watch struct {
	done      <-chan struct{}
	stop      func() bool
	first     *conn
	cancelled bool
}

// add watches ctx for c until remove.
func (ws *watches) add(ctx context.Context, c *conn) {
	done := ctx.Done()
	if done == nil {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byDone[done]
	if w == nil {
		if ws.byDone == nil {
			ws.byDone = map[<-chan struct{}]*watch{}
		}
		w = &watch{done: done}
		ws.byDone[done] = w
		w.stop = context.AfterFunc(ctx, func() { ws.interrupt(w) })
	}
	c.link(w.first)
	c.watch, w.first = w, c
	if w.cancelled {
		c.interrupt()
	}
}

// remove ends the watch of c. interrupted reports that c was interrupted and is unusable.
func (ws *watches) remove(c *conn) (interrupted bool) {
	w := c.watch
	if w == nil {
		return false
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	c.watch, w.first = nil, c.unlink(w.first)
	if w.first == nil {
		w.stop()
		delete(ws.byDone, w.done)
	}
	return w.cancelled
}

func (ws *watches) interrupt(w *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.cancelled = true
	for c := w.first; c != nil; c = c.next {
		c.interrupt()
	}
}

// interrupt makes the current call of c, and all later ones, fail at once.
func (c *conn) interrupt() { c.SetDeadline(time.Unix(1, 0)) }
