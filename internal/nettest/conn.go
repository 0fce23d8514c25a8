package nettest

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is the maximum number of bytes in transit in one direction.
const window = 64 << 10

// conn is one end of a connection: it reads from in and writes to out.
type conn struct {
	in, out       *stream
	local, remote netip.AddrPort
}

func pair(latency time.Duration, a, b netip.AddrPort) (x, y *conn) {
	ab, ba := newStream(latency), newStream(latency)
	return &conn{in: ba, out: ab, local: a, remote: b}, &conn{in: ab, out: ba, local: b, remote: a}
}

// Read behaves like Read of a TCP connection. All other methods of conn also behave like the
// methods of a TCP connection.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.wrap("read", err)
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.wrap("write", err)
}

func (c *conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

func (c *conn) Close() error {
	c.out.end()
	c.in.abandon()
	return nil
}

// CloseWrite closes the outgoing direction; the peer then reads io.EOF.
func (c *conn) CloseWrite() error { c.out.end(); return nil }

func (c *conn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.reader.set(&c.in.mu, &c.in.cond, t)
	c.out.writer.set(&c.out.mu, &c.out.cond, t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.reader.set(&c.in.mu, &c.in.cond, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writer.set(&c.out.mu, &c.out.cond, t)
	return nil
}

// stream is one direction of a connection.
type stream struct {
	latency      time.Duration
	mu           sync.Mutex
	cond         sync.Cond
	data         []piece
	size         int
	ended        bool      // the writer closed the stream
	endsAt       time.Time // time when the reader sees the end
	readerClosed bool      // the reader closed the connection
	reader       deadline
	writer       deadline
}

type piece struct {
	at    time.Time
	bytes []byte
}

func newStream(latency time.Duration) *stream {
	s := &stream{latency: latency}
	s.cond.L = &s.mu
	return s
}

// deadline is a read or write deadline. It wakes waiting goroutines when it passes.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (l *deadline) set(mu *sync.Mutex, cond *sync.Cond, t time.Time) {
	mu.Lock()
	defer mu.Unlock()
	l.stop()
	l.at = t
	if d := time.Until(t); !t.IsZero() && d > 0 {
		l.timer = time.AfterFunc(d, cond.Broadcast)
	}
	cond.Broadcast()
}

func (l *deadline) stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

func (l *deadline) passed() bool { return !l.at.IsZero() && !time.Now().Before(l.at) }

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case s.readerClosed:
			return 0, net.ErrClosed
		case s.reader.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(s.data) > 0 && !now.Before(s.data[0].at):
			n := copy(b, s.data[0].bytes)
			if s.data[0].bytes = s.data[0].bytes[n:]; len(s.data[0].bytes) == 0 {
				s.data = s.data[1:]
			}
			s.size -= n
			s.cond.Broadcast()
			return n, nil
		case len(s.data) == 0 && s.ended && !now.Before(s.endsAt):
			return 0, io.EOF
		case len(s.data) > 0:
			s.sleep(s.data[0].at.Sub(now))
		case s.ended:
			s.sleep(s.endsAt.Sub(now))
		default:
			s.cond.Wait()
		}
	}
}

// sleep waits up to d, or until any event on the stream.
func (s *stream) sleep(d time.Duration) {
	t := time.AfterFunc(d, s.cond.Broadcast)
	s.cond.Wait()
	t.Stop()
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := 0
	for {
		switch {
		case s.ended:
			return done, net.ErrClosed
		case s.readerClosed:
			return done, os.NewSyscallError("write", syscall.EPIPE)
		case s.writer.passed():
			return done, os.ErrDeadlineExceeded
		case done == len(b):
			return done, nil
		case s.size == window:
			s.cond.Wait()
			continue
		}
		n := min(window-s.size, len(b)-done)
		s.data = append(s.data, piece{time.Now().Add(s.latency), append([]byte(nil), b[done:done+n]...)})
		s.size += n
		done += n
		s.cond.Broadcast()
	}
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.endsAt = true, time.Now().Add(s.latency)
		s.writer.stop()
		s.cond.Broadcast()
	}
}

func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readerClosed = true
	s.data, s.size = nil, 0
	s.reader.stop()
	s.cond.Broadcast()
}
