package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Plan is the configuration of a [Receiver].
type Plan struct {
	Hosts     int           `json:"hosts"`      // number of quick callback hosts; with the slow hosts at most 8,000
	SlowHosts int           `json:"slow_hosts"` // number of slow callback hosts
	Slow      time.Duration `json:"slow"`       // response time of a slow host
	Feeds     int           `json:"feeds"`
	FeedSize  int           `json:"feed_size"` // size of a feed in bytes [4,096]
	Close     bool          `json:"close"`     // the receiver closes each connection after one response
	Contents  bool          `json:"contents"`  // notifications contain the current content of the feed, and the receiver checks the content
	Signed    bool          `json:"signed"`    // notifications are signed with the callback's SecretOf, and the receiver checks the signatures
	TLS       bool          `json:"tls"`       // all hosts use TLS, with a certificate of the receiver's own authority
}

// maxHosts keeps the listeners of one receiver below the usual limit of open files.
const maxHosts = 8000

// Receiver serves many callback hosts and feeds in one process. It has little overhead, so that
// measurements show the cost of the caller. Each host has its own loopback address, starting at
// 127.20.0.1, or at 127.30.0.1 for slow hosts. All hosts use the same port, and serve all
// callbacks (/c/0, /c/1 …) and all feeds (/f/0, /f/1 …). /n/0 accepts any request and ignores it.
type Receiver struct {
	Port uint16

	plan      Plan
	tail      []byte // padding that fills a feed up to FeedSize
	listeners []net.Listener
	conns     sync.WaitGroup
	mu        sync.Mutex
	open      map[net.Conn]struct{}
	closed    bool
	round     atomic.Pointer[round]
	feeds     []feed
	scratch   sync.Pool // *[]byte: reusable buffers for bodies
	traffic   traffic
	secure    *secure // nil if the plan does not set TLS
}

// round contains the counts since the last reset.
type round struct {
	at       []atomic.Int64 // by callback: Unix nanoseconds of the first notification
	distinct atomic.Int64
	again    atomic.Int64 // number of notifications after the first to the same callback
	unknown  atomic.Int64 // number of notifications to callbacks that do not exist
	wrong    atomic.Int64 // number of notifications whose content differs from the feed
	asked    atomic.Int64 // number of verification challenges
	busy     atomic.Int64 // number of slow requests in progress
	peak     atomic.Int64
}

// feed is one feed. Its content is determined by its version.
type feed struct {
	version atomic.Int64
	served  atomic.Int64 // Unix nanoseconds of the last response with a body
	full    atomic.Int64 // number of responses with a body
	same    atomic.Int64 // number of responses with status 304
}

// Host returns the address of callback host i, or of slow host i.
func Host(slow bool, i int) netip.Addr {
	group := byte(20)
	if slow {
		group = 30
	}
	i++
	return netip.AddrFrom4([4]byte{127, group + byte(i>>16), byte(i >> 8), byte(i)})
}

// CallbackURL returns the URL of callback i on host h, or on slow host h.
func CallbackURL(slow bool, h int, port uint16, i int) string {
	b := append(make([]byte, 0, 48), "http://"...)
	b = netip.AddrPortFrom(Host(slow, h), port).AppendTo(b)
	b = append(b, "/c/"...)
	return string(strconv.AppendInt(b, int64(i), 10))
}

// OpenReceiver listens on all hosts of the plan, until Close.
func OpenReceiver(ctx context.Context, p Plan) (*Receiver, error) {
	if p.Hosts < 1 || p.Hosts+p.SlowHosts > maxHosts {
		return nil, fmt.Errorf("%d hosts are asked for; between 1 and %d can be played", p.Hosts+p.SlowHosts, maxHosts)
	}
	if p.FeedSize == 0 {
		p.FeedSize = 4096
	}
	s := &Receiver{plan: p, open: map[net.Conn]struct{}{}, feeds: make([]feed, p.Feeds)}
	s.tail = bytes.Repeat([]byte("."), max(0, p.FeedSize-len(feedHead)-versionDigits-len(feedFoot)))
	for i := range s.feeds {
		s.feeds[i].version.Store(1)
	}
	s.scratch.New = func() any { b := make([]byte, max(p.FeedSize, 64<<10)); return &b }
	s.Reset(0)
	var err error
	if p.TLS {
		if s.secure, err = newSecure(p.Hosts); err != nil {
			return nil, err
		}
	}
	for range 10 { // a port that is free on the first host may be in use on another host, so try several ports
		if err = s.listen(ctx); err == nil {
			break
		}
		s.closeListeners()
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %d loopback addresses: %w", p.Hosts+p.SlowHosts, err)
	}
	for _, l := range s.listeners {
		s.conns.Go(func() { s.accept(l) })
	}
	return s, nil
}

func (s *Receiver) listen(ctx context.Context) error {
	lc := net.ListenConfig{KeepAlive: -1}
	s.Port = 0
	for i := range s.plan.Hosts + s.plan.SlowHosts {
		slow := i >= s.plan.Hosts
		h := i
		if slow {
			h -= s.plan.Hosts
		}
		l, err := lc.Listen(ctx, "tcp4", netip.AddrPortFrom(Host(slow, h), s.Port).String())
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
		s.Port = l.Addr().(*net.TCPAddr).AddrPort().Port()
	}
	return nil
}

func (s *Receiver) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
	s.listeners = nil
}

// Close closes all connections and waits for their goroutines.
func (s *Receiver) Close() {
	s.closeListeners()
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.conns.Wait()
}

// Reset begins a new round with n callbacks and sets its counts to 0.
func (s *Receiver) Reset(n int) { s.round.Store(&round{at: make([]atomic.Int64, n)}) }

// Change raises the versions of the feeds from ≤ i < to.
func (s *Receiver) Change(from, to int) {
	for i := max(from, 0); i < min(to, len(s.feeds)); i++ {
		s.feeds[i].version.Add(1)
	}
}

func (s *Receiver) accept(l net.Listener) {
	slow := l.Addr().(*net.TCPAddr).AddrPort().Addr().Compare(Host(true, 0)) >= 0
	for {
		c, err := l.Accept()
		if err != nil {
			if ne, ok := err.(interface{ Temporary() bool }); ok && ne.Temporary() { // too many files are open: wait until connections close
				time.Sleep(time.Millisecond)
				continue
			}
			return
		}
		c = s.traffic.counted(c)
		if s.secure != nil {
			c = tls.Server(c, s.secure.config)
		}
		if !s.enter(c) {
			return
		}
		s.conns.Go(func() { s.serve(c, slow) })
	}
}

func (s *Receiver) enter(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return false
	}
	s.open[c] = struct{}{}
	return true
}

func (s *Receiver) leave(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
}

// serve reads the requests of one connection and answers them in sequence.
func (s *Receiver) serve(c net.Conn, slow bool) {
	defer s.leave(c)
	buf := make([]byte, 1536)
	var out []byte
	for have := 0; ; {
		r, n, err := parseRequest(buf[:have])
		if err != nil || n == 0 && have == len(buf) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			return
		}
		if n == 0 {
			k, err := c.Read(buf[have:])
			if k == 0 && err != nil {
				return
			}
			have += k
			continue
		}
		r.close = r.close || s.plan.Close
		out = s.answer(out[:0], &r)
		rest, err := s.pass(c, buf, n, have, &r)
		if err != nil {
			return
		}
		if slow && s.plan.Slow > 0 {
			s.round.Load().delayResponse(s.plan.Slow)
		}
		if _, err = c.Write(out); err != nil || r.close {
			return
		}
		have = rest
	}
}

// pass reads the body of a request, and checks the body if it is the content of a feed.
func (s *Receiver) pass(c net.Conn, buf []byte, at, have int, r *request) (rest int, err error) {
	if s.plan.Contents && string(r.method) == "POST" {
		if kind, i, _, ok := r.target(); ok && kind == 'c' {
			return s.content(c, buf, at, have, r, i)
		}
	}
	return drop(c, buf, at, have, r.length, buf)
}

// drop discards the body of a request. It moves the bytes that follow the body to the front of
// buf, and returns their number. It reads the missing part of the body into scratch.
func drop(c net.Conn, buf []byte, at, have, body int, scratch []byte) (rest int, err error) {
	if in := have - at; in >= body {
		return copy(buf, buf[at+body:have]), nil
	} else {
		body -= in
	}
	for body > 0 {
		n, err := c.Read(scratch[:min(len(scratch), body)])
		if body -= n; err != nil && body > 0 {
			return 0, err
		}
	}
	return 0, nil
}

// answer records the request and appends the response to out.
func (s *Receiver) answer(out []byte, r *request) []byte {
	kind, i, query, ok := r.target()
	switch {
	case ok && kind == 'c' && string(r.method) == "POST":
		if !s.plan.Contents { // with content, the notification counts only after its last byte
			s.round.Load().arrived(i)
		}
		return head(out, "200 OK", r.close, 0)
	case ok && kind == 'c':
		values, _ := url.ParseQuery(string(query))
		challenge := values.Get("challenge")
		if challenge == "" {
			challenge = values.Get("hub.challenge")
		}
		s.round.Load().asked.Add(1)
		return append(head(out, "200 OK", r.close, len(challenge)), challenge...)
	case ok && kind == 'f' && i < len(s.feeds):
		return s.feed(out, r, i)
	case ok && kind == 'n':
		return head(out, "200 OK", r.close, 0)
	}
	return head(out, "404 Not Found", r.close, 0)
}

func (r *round) arrived(i int) {
	switch {
	case i >= len(r.at):
		r.unknown.Add(1)
	case r.at[i].CompareAndSwap(0, time.Now().UnixNano()):
		r.distinct.Add(1)
	default:
		r.again.Add(1)
	}
}

// delayResponse delays a response by d, and records the maximum of concurrent delays.
func (r *round) delayResponse(d time.Duration) {
	n := r.busy.Add(1)
	for old := r.peak.Load(); n > old && !r.peak.CompareAndSwap(old, n); {
		old = r.peak.Load()
	}
	time.Sleep(d)
	r.busy.Add(-1)
}

const (
	feedHead      = `<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<rss version="2.0"><channel><title>A feed that changes</title><link>http://127.0.0.1/</link><description>Version `
	versionDigits = 12
	feedFoot      = "</description></channel></rss>\n"
)

func (s *Receiver) feed(out []byte, r *request, i int) []byte {
	f := &s.feeds[i]
	version := f.version.Load()
	tag := strconv.AppendInt(append(make([]byte, 0, 24), '"', 'v'), version, 10)
	tag = append(tag, '"')
	if bytes.Equal(tag, r.noneMatch) {
		f.same.Add(1)
		out = append(out, "HTTP/1.1 304 Not Modified\r\nETag: "...)
		out = append(out, tag...)
		return append(closing(append(out, "\r\n"...), r.close), "\r\n"...)
	}
	f.full.Add(1)
	out = append(out, "HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nETag: "...)
	out = append(out, tag...)
	out = append(out, "\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(feedHead)+versionDigits+len(s.tail)+len(feedFoot)), 10)
	out = append(closing(append(out, "\r\n"...), r.close), "\r\n"+feedHead...)
	out = fmt.Appendf(out, "%0*d", versionDigits, version)
	out = append(append(out, s.tail...), feedFoot...)
	f.served.Store(time.Now().UnixNano())
	return out
}

func head(out []byte, status string, end bool, length int) []byte {
	out = append(append(out, "HTTP/1.1 "...), status...)
	out = strconv.AppendInt(append(out, "\r\nContent-Length: "...), int64(length), 10)
	return append(closing(append(out, "\r\n"...), end), "\r\n"...)
}

func closing(out []byte, end bool) []byte {
	if end {
		out = append(out, "Connection: close\r\n"...)
	}
	return out
}
