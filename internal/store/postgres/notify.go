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
	hintPause = time.Second / 20 // minimum time between two hints of this process
)

// hints sends and receives hints between the processes that use a database.
type hints struct {
	config *pgx.ConnConfig
	log    *slog.Logger
	self   string        // identifies this process's own hints, which are ignored
	due    chan struct{} // a hint to send

	ctx    context.Context // cancelled by close; stored because the goroutines belong to no call
	cancel context.CancelFunc
	group  sync.WaitGroup
	once   sync.Once // starts the listener, which most tests and commands do not need

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

// hint requests a hint; several pending requests are merged.
func (h *hints) hint() {
	select {
	case h.due <- struct{}{}:
	default:
	}
}

// send sends requested hints, limited by hintPause.
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

// await waits for a value of c. It returns false if the store closes first.
func await[T any](h *hints, c <-chan T) bool {
	select {
	case <-c:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// notify sends one hint and returns the connection, or nil if it failed. A hint that cannot be sent
// is dropped: the other processes also poll the tables.
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
		if fresh || ctx.Err() != nil { // a cached connection may have been closed long ago: retry once with a new one
			h.log.Debug("cannot send a hint to other processes", "err", err)
			return nil
		}
		fresh = true
	}
}

// listen adds a listener for hints, until ctx ends or the store closes.
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

// receive listens for hints and reconnects when the connection fails.
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
		h.log.Debug("cannot receive hints from other processes", "err", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-h.ctx.Done():
			t.Stop()
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// receiveOn listens on one connection until it fails; began reports whether listening started.
func (h *hints) receiveOn() (began bool, err error) {
	conn, err := pgx.ConnectConfig(h.ctx, h.config)
	if err != nil {
		return false, err
	}
	defer disconnect(conn)
	if _, err := conn.Exec(h.ctx, `LISTEN `+channel); err != nil {
		return false, err
	}
	h.deliver() // hints may have been missed before this connection listened
	for {
		n, err := conn.WaitForNotification(h.ctx)
		if err != nil {
			return true, err
		}
		h.onNotice(n.Payload)
	}
}

// onNotice forwards a notice unless this process sent it.
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
	_ = conn.Close(ctx) // the connection may already be broken
}
