package app

import (
	"cloudburst/internal/endpoint/hubhttp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	smallBody    = 16 << 10 // maximum size of a body in bytes that needs no slot
	maxBodies    = 128      // maximum number of concurrent larger bodies from unknown clients
	bodiesEach   = 16       // maximum number of concurrent larger bodies from one address
	bodyLongFor  = time.Second
	bodiesAnswer = "Many large requests are being read at the moment; please try again in a few seconds.\n"
)

var errBodyLimit = errors.New("many large requests are being read at the moment; please try again in a few seconds")

type connKey struct{}

// withConn adds the connection to the context of its requests.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

// bodies limits the number of incomplete large requests in memory, in total and per address. If
// the total limit is reached, bodies evicts a slow request. Authenticated requests are exempt,
// because other limits apply to them.
type bodies struct {
	next   http.Handler
	exempt func(netip.Addr) bool

	mu   sync.Mutex
	held map[*pendingBody]struct{}
	from map[netip.Addr]int
}

func newBodies(next http.Handler, exempt func(netip.Addr) bool) *bodies {
	return &bodies{next: next, exempt: exempt, held: map[*pendingBody]struct{}{}, from: map[netip.Addr]int{}}
}

// ServeHTTP passes a request to the next handler. It answers 503 if the body needs a slot and no
// slot is free.
//
// spec:cloudburst#body-limit
func (b *bodies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*limitedConn)
	if conn != nil {
		conn.answers.Add(1)
		defer conn.answered()
	}
	if conn == nil || r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		b.next.ServeHTTP(w, r)
		return
	}
	body := &pendingBody{ReadCloser: r.Body, all: b, conn: conn, named: named(r)}
	conn.coming.Add(1)
	defer body.release()
	defer body.finish()
	if r.ContentLength > smallBody && !body.acquire(time.Now()) {
		head := w.Header()
		head.Set("Retry-After", "5")
		head.Set("Connection", "close") // close the connection, because the body was not read
		respond(w, http.StatusServiceUnavailable, bodiesAnswer)
		return
	}
	r2 := *r
	r2.Body = body
	b.next.ServeHTTP(&refusing{w, body}, &r2)
}

// named reports whether a request carries credentials and its endpoint checks them before it
// reads the body.
func named(r *http.Request) bool {
	path := r.URL.Path
	if hubhttp.IsEndpoint(path) || path == "/" || path == "/login" || path == "/signup" || path == "/setup" || strings.HasPrefix(path, "/do/") {
		return false
	}
	return r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != ""
}

// pendingBody is a request body that has not completely arrived.
type pendingBody struct {
	io.ReadCloser
	all   *bodies
	conn  *limitedConn
	named bool

	over    atomic.Bool
	refused atomic.Bool
	read    int64

	// The field all.mu guards the following fields.
	in    bool
	since time.Time
}

// Read reads from the body. It acquires a slot before the body exceeds smallBody.
func (b *pendingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read += int64(n); b.read > smallBody && !b.acquire(time.Now()) {
		b.refused.Store(true)
		n, err = 0, errBodyLimit
	}
	if err != nil {
		b.finish()
	}
	return n, err
}

// finish records that the body has completely arrived or that the handler no longer needs it.
func (b *pendingBody) finish() {
	if b.over.CompareAndSwap(false, true) {
		b.conn.coming.Add(-1)
	}
}

// acquire takes a slot for the body, unless the request is exempt. It reports whether the body
// may grow.
func (b *pendingBody) acquire(now time.Time) bool {
	if b.named {
		return true
	}
	a, addr := b.all, b.conn.addr
	a.mu.Lock()
	if b.in {
		a.mu.Unlock()
		return true
	}
	var out *pendingBody
	free := a.from[addr] < bodiesEach || a.exempt(b.conn.peer)
	if free && len(a.held) >= maxBodies {
		out = a.evictSlowest(addr, now)
		free = out != nil
	}
	if free {
		b.in, b.since = true, now
		a.held[b] = struct{}{}
		a.from[addr]++
	}
	a.mu.Unlock()
	if out != nil {
		_ = out.conn.Close() // closing the connection ends the request
	}
	return free
}

// evictSlowest removes a pending body, so that a body from addr gets its slot, and returns the
// removed body. It considers bodies that are older than bodyLongFor and whose address has more
// bodies than addr. Of these bodies, it selects one from the address with the most bodies, and
// the oldest from that address. It returns nil if there is no such body.
func (a *bodies) evictSlowest(addr netip.Addr, now time.Time) (out *pendingBody) {
	for b := range a.held {
		n := a.from[b.conn.addr]
		if n <= a.from[addr] || b.over.Load() || now.Sub(b.since) < bodyLongFor || a.exempt(b.conn.peer) {
			continue
		}
		if out == nil || n > a.from[out.conn.addr] || n == a.from[out.conn.addr] && b.since.Before(out.since) {
			out = b
		}
	}
	if out != nil {
		a.drop(out)
	}
	return out
}

// release frees the slot of the body.
func (b *pendingBody) release() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.drop(b)
}

func (a *bodies) drop(b *pendingBody) {
	if _, there := a.held[b]; !there {
		return
	}
	delete(a.held, b)
	if a.from[b.conn.addr]--; a.from[b.conn.addr] == 0 {
		delete(a.from, b.conn.addr)
	}
}

// refusing replaces the status of a handler's error by 503 if the body found no free slot. The
// text of the response stays as the handler writes it.
type refusing struct {
	http.ResponseWriter
	body *pendingBody
}

// Unwrap returns the underlying writer, as http.ResponseController requires.
func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *refusing) WriteHeader(status int) {
	if w.body.refused.Load() {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}
