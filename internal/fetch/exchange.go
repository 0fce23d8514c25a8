package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

const (
	// staleWithin: if a reused connection turns out to be closed within this time after the write,
	// the peer closed it before the request arrived.
	staleWithin = time.Second
	// lingerFor is the maximum time to read an unwanted body to its end, so that the connection can
	// be reused.
	lingerFor = time.Second
	// shedStep is the number of idle connections that are closed when sockets run out.
	shedStep = 32
)

// exchange contains the buffers of one send. buf contains first the request and then the response.
type exchange struct {
	buf    [bufSize]byte
	in     reader
	pieces [2][]byte // parts of a request that does not fit into buf
	bufs   net.Buffers
}

// sendTo sends a message to t. It uses an idle connection if there is one.
func (s *Sender) sendTo(ctx context.Context, m *Message, t *target, r *Reply) {
	x := s.bufs.Get().(*exchange)
	defer s.bufs.Put(x)
	at := origin{t.host, t.port, t.https}
	start := time.Now()
	if c := s.idle.get(at, start); c != nil {
		c.SetDeadline(s.deadline(ctx, start))
		c.reused = true
		if stale := s.exchange(ctx, x, c, m, t, start, r); !stale {
			return
		}
		*r, start = Reply{}, time.Now()
	}
	r.Dialled = true
	c, err := s.connect(ctx, t, start)
	if err != nil {
		r.fail(ctx, m, err, time.Since(start))
		return
	}
	s.exchange(ctx, x, newConn(c, at), m, t, start, r)
}

// spec:cloudburst#callback-timeout-start
func (s *Sender) deadline(ctx context.Context, start time.Time) time.Time {
	d := start.Add(s.opts.Timeout)
	if c, ok := ctx.Deadline(); ok && c.Before(d) {
		return c
	}
	return d
}

// connect dials, for https with a TLS handshake, and sets the deadline of the send. If this machine
// is out of sockets, connect closes some idle connections and tries once more.
func (s *Sender) connect(ctx context.Context, t *target, start time.Time) (net.Conn, error) {
	deadline := s.deadline(ctx, start)
	c, err := s.dialer.dialTarget(ctx, t, deadline)
	if err != nil && exhausted(err) {
		s.idle.shed(shedStep)
		c, err = s.dialer.dialTarget(ctx, t, deadline)
	}
	if err != nil {
		return nil, err
	}
	c.SetDeadline(deadline)
	if !t.https {
		return c, nil
	}
	config := s.tls.Clone()
	config.ServerName = cmp.Or(config.ServerName, t.host)
	secure := tls.Client(c, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return secure, nil
}

// exchange sends m over c and reads the response. It closes c or returns it to the pool. stale
// reports that c was idle and unusable, or that the peer closed c without a response and so soon
// after the write that the request may be sent again on a new connection.
func (s *Sender) exchange(ctx context.Context, x *exchange, c *conn, m *Message, t *target, start time.Time, r *Reply) (stale bool) {
	s.watches.add(ctx, c)
	var keep bool
	var idle time.Duration
	defer func() {
		if interrupted := s.watches.remove(c); interrupted || !keep {
			c.end(r.Err)
			return
		}
		s.idle.put(c, time.Now(), idle)
	}()
	x.in.reset(c, x.buf[:])
	usable, wrote := x.write(c, m, t, s.opts.UserAgent)
	if !usable {
		return true
	}
	if wrote != nil && isTimeout(wrote) {
		r.fail(ctx, m, wrote, time.Since(start))
		return false
	}
	// Read even after a write error, because a peer may respond and close before it has read the
	// whole request.
	a, err := x.in.head(m.method())
	took := time.Since(start)
	if err != nil {
		if wrote != nil {
			err = wrote
		}
		stale = x.in.w == 0 && x.in.total == 0 && took < staleWithin && closed(err) && ctx.Err() == nil
		r.fail(ctx, m, err, took)
		return stale
	}
	r.Status, r.ContentType, r.RetryAfter, r.Location, r.Took = a.status, a.contentType, a.retryAfter, a.location, took
	whole := x.readBody(ctx, c, &a, m, r)
	keep, idle = whole && !a.close && wrote == nil, a.idle-min(time.Second, a.idle/4)
	return false
}

// readBody reads the wanted part of the body. It reads an unwanted body only so that the connection
// can be reused, and only for lingerFor.
func (x *exchange) readBody(ctx context.Context, c *conn, a *responseHead, m *Message, r *Reply) (whole bool) {
	var dst []byte
	if m.WantBody {
		dst = make([]byte, 0, 512)
	} else {
		if a.close || a.length > maxReply {
			return false
		}
		if left := a.length - int64(x.in.w-x.in.r); (a.chunked || left > 0) && ctx.Err() == nil {
			c.SetReadDeadline(time.Now().Add(lingerFor))
		}
	}
	got, whole := x.in.body(a, dst, m.maxBody())
	if m.WantBody {
		r.Body, r.Partial = got, !whole
	}
	return whole
}

// write sends the request, in one write if it fits into the buffer. On a connection without TLS, it
// then also reads the beginning of the response. usable is false if c was idle and nothing was sent.
func (x *exchange) write(c *conn, m *Message, t *target, agent string) (usable bool, err error) {
	b := m.appendHead(x.buf[:0], t, agent)
	whole := len(b)+len(m.Body) <= cap(b)
	if c.direct && whole {
		c.take(append(b, m.Body...), x.buf[:])
		x.in.w, x.in.total, x.in.err = c.turn.got, c.turn.got, c.turn.readErr
		return !c.turn.unusable, c.turn.writeErr
	}
	if c.reused && !c.usable() {
		return false, nil
	}
	if whole {
		_, err := c.Write(append(b, m.Body...))
		return true, err
	}
	x.pieces = [...][]byte{b, m.Body}
	x.bufs = x.pieces[:]
	_, err = x.bufs.WriteTo(c.Conn)     // over plain HTTP both parts with one system call
	x.pieces, x.bufs = [2][]byte{}, nil // free the memory of the body
	return true, err
}

func (m *Message) method() string {
	if m.Method == "" {
		return "POST"
	}
	return m.Method
}

// appendHead appends the request head, including the empty line.
func (m *Message) appendHead(b []byte, t *target, agent string) []byte {
	method := m.method()
	b = append(append(b, method...), ' ')
	if t.path == "" || t.path[0] != '/' {
		b = append(b, '/')
	}
	b = append(b, t.path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, t.shown...)
	if agent != "" {
		b = append(append(b, "\r\nUser-Agent: "...), agent...)
	}
	if m.ContentType != "" {
		b = append(append(b, "\r\nContent-Type: "...), m.ContentType...)
	}
	if len(m.Body) > 0 || method != "GET" && method != "HEAD" {
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(m.Body)), 10)
	}
	for i := 0; i+1 < len(m.Header); i += 2 {
		b = append(append(b, "\r\n"...), m.Header[i]...)
		b = append(append(b, ": "...), m.Header[i+1]...)
	}
	return append(b, "\r\n\r\n"...)
}

// closed reports whether an error means that the peer had closed the connection.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
