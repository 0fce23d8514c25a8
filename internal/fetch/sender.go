package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// SenderOptions configure a [Sender]. Zero fields mean the default in brackets.
//
// A Sender uses at most MaxConns + IdleTotal sockets, plus one for each name that is being resolved.
type SenderOptions struct {
	Guard         *Guard        // which addresses are allowed [the public internet]
	UserAgent     string        // header User-Agent [none is sent]
	Timeout       time.Duration // time limit for one send, from the dial to the end of the response [15 s]
	MaxConns      int           // maximum number of concurrent sends; further sends wait [1024]
	IdlePerOrigin int           // maximum number of idle connections to one host and port [4]; negative: none
	IdleTotal     int           // maximum number of idle connections in total [256]; negative: none
	IdleTimeout   time.Duration // time after which an idle connection is closed [30 s]
	Bucket        time.Duration // interval for Message.Padded [250 ms]; negative: none
	Resolver      *net.Resolver // resolver for names [the resolver of package net, never the C library's]
	TLSConfig     *tls.Config   // [the root certificates of the system]
	Dial          Dial          // tests only
}

func (o SenderOptions) withDefaults() SenderOptions {
	if o.Guard == nil {
		o.Guard = &Guard{Callback: true}
	}
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.MaxConns = cmp.Or(o.MaxConns, 1024)
	o.IdlePerOrigin = cmp.Or(o.IdlePerOrigin, 4)
	o.IdleTotal = cmp.Or(o.IdleTotal, 256)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 30*time.Second)
	o.Bucket = cmp.Or(o.Bucket, 250*time.Millisecond)
	return o
}

// Sender sends notifications, many at once, over reused connections. It follows no redirect. It has
// a small HTTP/1.1 writer and parser of its own, also for https, which resumes TLS sessions.
type Sender struct {
	opts    SenderOptions
	dialer  *dialer
	tls     *tls.Config
	idle    pool
	watches watches
	slots   chan struct{}
	bufs    sync.Pool // contains *exchange
}

// NewSender makes a Sender. Close it when done.
func NewSender(o SenderOptions) *Sender {
	o = o.withDefaults()
	s := &Sender{
		opts:   o,
		dialer: newDialer(o.Guard, o.Resolver, o.Dial),
		idle:   pool{perOrigin: o.IdlePerOrigin, total: o.IdleTotal, timeout: o.IdleTimeout},
		tls:    tlsConfig(o.TLSConfig, o.IdleTotal),
		slots:  make(chan struct{}, max(1, o.MaxConns)),
	}
	s.tls.NextProtos = []string{"http/1.1"}
	s.bufs.New = func() any { return new(exchange) }
	return s
}

// suspendSlack: if a response exceeds the timeout by this time, this process must have been
// suspended, for example because its virtual machine was migrated or the laptop slept.
const suspendSlack = 2 * time.Second

// Send sends m and waits for the response. The timeout starts at the dial, or at the write on a
// reused connection; waiting for a slot does not count. If ctx is cancelled, Send returns at once
// with NotTried. If the deadline of ctx passes, Send returns a timeout.
func (s *Sender) Send(ctx context.Context, m *Message) (r Reply) {
	start := time.Now()
	s.send(ctx, m, &r)
	if r.Timeout && r.Took > s.opts.Timeout+suspendSlack {
		r.NotTried, r.Timeout = true, false // this process was suspended, and the peer may have responded
	}
	if r.Err != nil && m.Padded && !KindOf(r.Err).independentOfTarget() {
		sleep(ctx, untilNextBucket(time.Since(start), s.opts.Bucket))
	}
	return r
}

// send fills in r. The functions below Send share one Reply, because copies would enlarge the stack of
// each worker.
func (s *Sender) send(ctx context.Context, m *Message, r *Reply) {
	t, err := splitURL(m.URL)
	if err == nil {
		err = s.opts.Guard.checkTarget(&t)
	}
	if err == nil && t.user {
		err = badURL("has a user name in it, which a callback may not have")
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		r.Err = withURL(err, m.URL)
		return
	}
	if err := s.acquireSlot(ctx); err != nil {
		r.NotTried, r.Err = true, withURL(fail(Ours, err), m.URL)
		return
	}
	defer func() { <-s.slots }()
	s.sendTo(ctx, m, &t, r)
}

// acquireSlot waits for one of MaxConns slots.
func (s *Sender) acquireSlot(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Idle returns the current number of idle connections.
func (s *Sender) Idle() int {
	s.idle.mu.Lock()
	defer s.idle.mu.Unlock()
	return s.idle.n
}

// CloseIdle closes the idle connections to free their sockets.
func (s *Sender) CloseIdle() { s.idle.shed(1 << 30) }

// Close closes the idle connections. Sends in progress continue, and their connections close after
// use.
func (s *Sender) Close() { s.idle.close() }

// fail sets r to a network error.
func (r *Reply) fail(ctx context.Context, m *Message, err error, took time.Duration) {
	e := classify(ctx, err)
	r.Err, r.NotTried, r.Timeout, r.Took = withURL(e, m.URL), e.Kind == Ours, e.Kind == TimedOut, took
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
