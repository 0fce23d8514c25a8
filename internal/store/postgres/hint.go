package postgres

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	channel   = "cloudburst"
	hintPause = time.Second / 20 // least time between two hints of this process
)

// hints carries hints between the processes on a database.
type hints struct {
	config *pgx.ConnConfig
	log    *slog.Logger
	self   string        // marks our own hints, which we need not hear
	due    chan struct{} // a hint to send

	ctx    context.Context // ends with close; the only context that is stored, as it is nobody's call
	cancel context.CancelFunc
	group  sync.WaitGroup
	once   sync.Once // for the listener, which most tests and commands do not need

	mu        sync.Mutex
	listeners map[chan struct{}]struct{}
}

func newHints(config *pgx.ConnConfig, log *slog.Logger) *hints {
	h := &hints{config: config, log: log, self: rand.Text(), due: make(chan struct{}, 1), listeners: map[chan struct{}]struct{}{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.group.Go(h.send)
	return h
}

func (h *hints) close() {
	h.cancel()
	h.group.Wait()
}

// hint asks for a hint to be sent; several at a time are one.
func (h *hints) hint() {
	select {
	case h.due <- struct{}{}:
	default:
	}
}

// send sends what is asked for, at once when the pause after the last one is over.
func (h *hints) send() {
	var conn *pgx.Conn
	defer func() { disconnect(conn) }()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		if !await(h, pause.C) || !await(h, h.due) {
			return
		}
		conn = h.notify(conn)
		pause.Reset(hintPause)
	}
}

// await reports whether c came before the end.
func await[T any](h *hints, c <-chan T) bool {
	select {
	case <-c:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// notify sends one hint and returns the connection, nil if it broke. A hint that
// cannot be sent is dropped: the others look at the tables by themselves.
func (h *hints) notify(conn *pgx.Conn) *pgx.Conn {
	ctx, cancel := context.WithTimeout(h.ctx, 5*time.Second)
	defer cancel()
	fresh := conn == nil
	for {
		var err error
		if conn == nil {
			conn, err = pgx.ConnectConfig(ctx, h.config)
		}
		if err == nil {
			_, err = conn.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, h.self)
		}
		if err == nil {
			return conn
		}
		disconnect(conn)
		conn = nil
		if fresh || ctx.Err() != nil { // a kept connection may have died long ago: once more with a new one
			h.log.Debug("a hint could not be sent", "error", err)
			return nil
		}
		fresh = true
	}
}

// listen adds a listener until ctx or the store ends.
func (h *hints) listen(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	if h.ctx.Err() != nil {
		close(c)
		return c
	}
	h.once.Do(func() { h.group.Go(h.receive) })
	h.mu.Lock()
	h.listeners[c] = struct{}{}
	h.mu.Unlock()
	h.group.Go(func() {
		select {
		case <-ctx.Done():
		case <-h.ctx.Done():
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, c)
		close(c)
	})
	return c
}

func (h *hints) deliver() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// receive listens, and connects again when the connection breaks.
func (h *hints) receive() {
	wait := 100 * time.Millisecond
	for h.ctx.Err() == nil {
		began, err := h.receiveOn()
		if h.ctx.Err() != nil {
			return
		}
		if began {
			wait = 100 * time.Millisecond
		}
		h.log.Debug("hints from other processes are interrupted", "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-h.ctx.Done():
			t.Stop()
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// receiveOn listens on one connection until it breaks; began says whether it came to that.
func (h *hints) receiveOn() (began bool, err error) {
	conn, err := pgx.ConnectConfig(h.ctx, h.config)
	if err != nil {
		return false, err
	}
	defer disconnect(conn)
	if _, err := conn.Exec(h.ctx, `LISTEN `+channel); err != nil {
		return false, err
	}
	h.deliver() // whatever was said while we did not listen
	for {
		n, err := conn.WaitForNotification(h.ctx)
		if err != nil {
			return true, err
		}
		h.onNotice(n.Payload)
	}
}

// heard passes a notice on unless it is our own.
func (h *hints) onNotice(payload string) {
	if payload != h.self {
		h.deliver()
	}
}

func disconnect(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // it may be broken already
}
