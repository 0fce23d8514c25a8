package fetch

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/nettest"
)

// withSimulatedPeer runs f in a synctest bubble with a sender. handle serves the sender's
// connections to peer.example.
func withSimulatedPeer(t *testing.T, o SenderOptions, handle func(net.Conn), f func(t *testing.T, s *Sender)) {
	synctest.Test(t, func(t *testing.T) {
		n := &nettest.Internet{}
		l, err := n.Listen("peer.example:80")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		defer wg.Wait() // the bubble's clock stops when this function returns
		defer l.Close()
		wg.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				wg.Go(func() { defer c.Close(); handle(c) })
			}
		})
		o.Dial = n.Dial
		s := NewSender(o)
		defer s.Close()
		f(t, s)
	})
}

// waitSecond waits a second on the bubble's clock.
func waitSecond() { <-time.After(time.Second) }

func TestSlowPeerTimesOutAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	trickle := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			readRequest(bufio.NewReader(c))
			for _, b := range []byte(text) {
				waitSecond()
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
			}
			io.Copy(io.Discard, c)
		}
	}
	for name, handle := range map[string]func(net.Conn){
		"silent":          func(c net.Conn) { io.Copy(io.Discard, c) },
		"never reads":     func(c net.Conn) { <-time.After(time.Hour) },
		"a byte a second": trickle("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100)),
		"endless hints":   trickle(strings.Repeat("HTTP/1.1 100 C\r\n\r\n", 10)),
	} {
		withSimulatedPeer(t, SenderOptions{}, handle, func(t *testing.T, s *Sender) {
			start := time.Now()
			r := s.Send(t.Context(), &Message{URL: "http://peer.example/", Body: make([]byte, 200<<10)})
			if !r.Timeout || r.NotTried || KindOf(r.Err) != TimedOut || time.Since(start) != 15*time.Second || r.Took != 15*time.Second {
				t.Errorf("%s: %+v after %v", name, r, time.Since(start))
			}
		})
	}
}

func TestStatusIsAcceptedEvenIfTheBodyIsIncomplete(t *testing.T) {
	t.Parallel()
	handle := func(c net.Conn) {
		readRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		io.Copy(io.Discard, c)
	}
	withSimulatedPeer(t, SenderOptions{}, handle, func(t *testing.T, s *Sender) {
		start := time.Now()
		if r := s.Send(t.Context(), &Message{URL: "http://peer.example/"}); !r.OK() || r.Took != 0 || time.Since(start) != lingerFor || s.Idle() != 0 {
			t.Errorf("without WantBody: %+v after %v", r, time.Since(start))
		}
		start = time.Now()
		r := s.Send(t.Context(), &Message{URL: "http://peer.example/", WantBody: true})
		if !r.OK() || !r.Partial || string(r.Body) != "half" || time.Since(start) != 15*time.Second {
			t.Errorf("with WantBody: %+v after %v", r, time.Since(start))
		}
	})
}

func TestDeadlineOfTheCallerIsReportedAsTimeout(t *testing.T) {
	t.Parallel()
	withSimulatedPeer(t, SenderOptions{}, func(c net.Conn) { io.Copy(io.Discard, c) }, func(t *testing.T, s *Sender) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if r := s.Send(ctx, &Message{URL: "http://peer.example/"}); !r.Timeout || r.NotTried || r.Took != 2*time.Second {
			t.Errorf("%+v", r)
		}
	})
}

// lateConn reports deadlines late, as happens in a suspended process.
type lateConn struct {
	net.Conn
	by time.Duration
}

func (c lateConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && isTimeout(err) {
		<-time.After(c.by)
	}
	return n, err
}

func TestDelayedTimeoutIsNotCountedAgainstThePeer(t *testing.T) {
	t.Parallel()
	for by, ours := range map[time.Duration]bool{time.Second: false, time.Minute: true} {
		synctest.Test(t, func(t *testing.T) {
			s := NewSender(SenderOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, far) }() // copies until near is closed
				return lateConn{near, by}, nil
			}})
			defer s.Close()
			r := s.Send(t.Context(), &Message{URL: "http://peer.example/"})
			if r.Err == nil || r.NotTried != ours || r.Timeout == ours {
				t.Errorf("noticed %s too late: %+v", by, r)
			}
		})
	}
}

func TestWaitForAConnectionSlotIsNotCountedAgainstThePeer(t *testing.T) {
	t.Parallel()
	slow := func(c net.Conn) {
		r := bufio.NewReader(c)
		for readRequestOK(r) {
			<-time.After(10 * time.Second)
			io.WriteString(c, ok204)
		}
	}
	withSimulatedPeer(t, SenderOptions{MaxConns: 1}, slow, func(t *testing.T, s *Sender) {
		var wg sync.WaitGroup
		start := time.Now()
		for range 4 {
			wg.Go(func() {
				if r := s.Send(t.Context(), &Message{URL: "http://peer.example/"}); !r.OK() || r.Took != 10*time.Second {
					t.Errorf("%+v", r)
				}
			})
		}
		wg.Wait()
		if d := time.Since(start); d != 40*time.Second {
			t.Errorf("four sendings one after another took %v", d)
		}
	})
}

func TestIdleConnectionsExpire(t *testing.T) {
	t.Parallel()
	var closed atomic.Int64
	says := ok204
	handle := func(c net.Conn) {
		r := bufio.NewReader(c)
		for readRequestOK(r) {
			io.WriteString(c, says)
		}
		closed.Add(1)
	}
	withSimulatedPeer(t, SenderOptions{}, handle, func(t *testing.T, s *Sender) {
		s.Send(t.Context(), &Message{URL: "http://peer.example/"})
		<-time.After(29 * time.Second)
		if r := s.Send(t.Context(), &Message{URL: "http://peer.example/"}); r.Dialled {
			t.Error("a connection was not kept for 29 s")
		}
		<-time.After(40 * time.Second)
		synctest.Wait()
		if s.Idle() != 0 || closed.Load() != 1 {
			t.Errorf("after 40 s %d are kept, %d closed", s.Idle(), closed.Load())
		}
		says = "HTTP/1.1 204 No\r\nKeep-Alive: timeout=5\r\n\r\n"
		s.Send(t.Context(), &Message{URL: "http://peer.example/"})
		<-time.After(4500 * time.Millisecond)
		if r := s.Send(t.Context(), &Message{URL: "http://peer.example/"}); !r.Dialled {
			t.Error("a connection was used although the peer was about to close it")
		}
	})
}

func TestFailureTimesAreRoundedUpTo250Milliseconds(t *testing.T) {
	t.Parallel()
	withSimulatedPeer(t, SenderOptions{}, func(c net.Conn) { <-time.After(300 * time.Millisecond) }, func(t *testing.T, s *Sender) {
		for url, want := range map[string]time.Duration{
			"http://127.0.0.1/":           250 * time.Millisecond, // the connection is refused
			"http://nowhere.example/":     250 * time.Millisecond, // the name does not exist
			"http://peer.example:8080/":   250 * time.Millisecond, // the port is closed
			"http://peer.example/":        500 * time.Millisecond, // the peer closes the connection after 300 ms
			"http://peer.example:22/":     0,                      // the URL itself is refused, so there is no delay
			"http://peer.example:80\x00/": 0,
		} {
			start := time.Now()
			if r := s.Send(t.Context(), &Message{URL: url, Padded: true}); r.Err == nil || time.Since(start) != want {
				t.Errorf("%q: after %v, want %v (%v)", url, time.Since(start), want, r.Err)
			}
		}
		start := time.Now()
		s.Send(t.Context(), &Message{URL: "http://127.0.0.1/"})
		if time.Since(start) != 0 {
			t.Error("held back unasked")
		}
	})
}
