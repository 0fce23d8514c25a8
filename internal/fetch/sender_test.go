package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestSenderSendsTheRequestByteForByte(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		for {
			req, err := readRequest(r)
			if err != nil {
				return
			}
			got <- req
			io.WriteString(c, ok204)
		}
	})
	s := newTestSender(t, SenderOptions{UserAgent: "Test/1 (+http://a.example/)"})
	big := strings.Repeat("b", 10000)
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{URL: "http://HOST/a%2fb/../c//d?x=%zz&y=é;'\"#frag", ContentType: "text/plain", Header: []string{"X-Hub-Hops", "1", "Link", "<a>; rel=\"b\""}, Body: []byte("url=x")},
			"POST /a%2fb/../c//d?x=%zz&y=é;'\" HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Test/1 (+http://a.example/)\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nX-Hub-Hops: 1\r\nLink: <a>; rel=\"b\"\r\n\r\nurl=x"},
		{Message{URL: "http://HOST"}, "POST / HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Test/1 (+http://a.example/)\r\nContent-Length: 0\r\n\r\n"},
		{Message{Method: "GET", URL: "http://HOST?q"}, "GET /?q HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Test/1 (+http://a.example/)\r\n\r\n"},
		{Message{URL: "http://HOST//x", Body: []byte(big)}, "POST //x HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Test/1 (+http://a.example/)\r\nContent-Length: 10000\r\n\r\n" + big},
		{Message{URL: "http://HOST/" + big[:5000]}, "POST /" + big[:5000] + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Test/1 (+http://a.example/)\r\nContent-Length: 0\r\n\r\n"},
	} {
		c.m.URL = strings.Replace(c.m.URL, "HOST", srv, 1)
		if r := s.Send(t.Context(), &c.m); !r.OK() {
			t.Errorf("%s: %v", c.m.URL, r.Err)
			continue
		}
		if req, want := <-got, strings.Replace(c.want, "HOST", srv, 1); req != want {
			t.Errorf("sent\n%q, want\n%q", req, want)
		}
	}
}

func TestMessageThatWouldCorruptTheRequestIsNotSent(t *testing.T) {
	t.Parallel()
	s := newTestSender(t, SenderOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, errors.New("no")
	}})
	for _, m := range []Message{
		{URL: "http://127.0.0.1:8080/a b"}, {URL: "http://127.0.0.1:8080/\r\nX: y"}, {URL: "http://127.0.0.1:8080/\x00"}, {URL: "http://u@127.0.0.1:8080/"},
		{URL: "http://127.0.0.1:8080/", Method: "GET /x"}, {URL: "http://127.0.0.1:8080/", ContentType: "a\r\nb: c"},
		{URL: "http://127.0.0.1:8080/", Header: []string{"A", "b\nc"}}, {URL: "http://127.0.0.1:8080/", Header: []string{"A:", "b"}}, {URL: "http://127.0.0.1:8080/", Header: []string{"A"}},
		{URL: "http://127.0.0.1:8080/", Header: []string{"content-length", "5"}}, {URL: "http://127.0.0.1:8080/", Header: []string{"Transfer-Encoding", "chunked"}},
		{URL: "http://127.0.0.1:8080/", Header: []string{"host", "x"}}, {URL: "http://127.0.0.1:8080/", Header: []string{"", "x"}},
	} {
		if r := s.Send(t.Context(), &m); r.Err == nil {
			t.Errorf("%+v was sent", m)
		}
	}
}

func TestSenderReusesConnections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response string
		conns    int64
	}{
		"length":                 {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 1},
		"no body":                {ok204, 1},
		"chunks":                 {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 1},
		"error status":           {"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nhi", 1},
		"Connection: close":      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", 3},
		"HTTP/1.0":               {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 3},
		"trailing garbage":       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 500 Poison\r\nContent-Length: 0\r\n\r\n", 3},
		"body too large to read": {"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int64
			handle := answering(c.response)
			srv := rawServer(t, "127.0.0.1:0", func(k net.Conn, n int) { conns.Add(1); handle(k, n) })
			s := newTestSender(t, SenderOptions{})
			for i := range 3 {
				r := s.Send(t.Context(), &Message{URL: "http://" + srv, Body: []byte("x")})
				if r.Err != nil || r.Status == 500 && name != "error status" {
					t.Fatalf("sending %d: %+v", i, r)
				}
				if r.Dialled != (i == 0 || c.conns > 1) {
					t.Errorf("sending %d: Dialled %v", i, r.Dialled)
				}
			}
			if n := conns.Load(); n != c.conns {
				t.Errorf("%d connections, want %d", n, c.conns)
			}
		})
	}
}

// Data that arrives on an idle connection was not requested, so it must not be read as the next
// response.
func TestUnrequestedResponseClosesTheConnection(t *testing.T) {
	t.Parallel()
	sent, first := make(chan bool), make(chan bool)
	srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) {
		r := bufio.NewReader(c)
		for readRequestOK(r) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			if n == 0 {
				<-first
				io.WriteString(c, "HTTP/1.1 500 Poison\r\nContent-Length: 0\r\n\r\n")
				close(sent)
			}
		}
	})
	s := newTestSender(t, SenderOptions{})
	if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); !r.OK() {
		t.Fatal(r.Err)
	}
	close(first)
	<-sent
	if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); !r.OK() || !r.Dialled {
		t.Errorf("%+v", r)
	}
}

func readRequestOK(r *bufio.Reader) bool { _, err := readRequest(r); return err == nil }

func TestReusedConnectionClosedByThePeerIsReplacedOnce(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(c net.Conn, r *bufio.Reader){
		"while idle":           func(net.Conn, *bufio.Reader) {},
		"as the request comes": func(_ net.Conn, r *bufio.Reader) { r.Peek(1) },
		"with a reset":         func(c net.Conn, r *bufio.Reader) { r.Peek(1); c.(*net.TCPConn).SetLinger(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests, conns atomic.Int64
			closed := make(chan bool)
			srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) {
				conns.Add(1)
				r := bufio.NewReader(c)
				for readRequestOK(r) {
					requests.Add(1)
					io.WriteString(c, ok204)
					if n == 0 {
						after(c, r)
						c.Close()
						close(closed)
						return
					}
				}
			})
			s := newTestSender(t, SenderOptions{})
			s.Send(t.Context(), &Message{URL: "http://" + srv})
			if name == "while idle" {
				<-closed
			}
			r := s.Send(t.Context(), &Message{URL: "http://" + srv})
			if !r.OK() || !r.Dialled {
				t.Errorf("%+v", r)
			}
			if requests.Load() != 2 || conns.Load() != 2 {
				t.Errorf("%d requests on %d connections, want 2 on 2", requests.Load(), conns.Load())
			}
		})
	}
}

func TestRequestOnBrokenNewConnectionIsNotRetried(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{"no answer": "", "half an answer": "HTTP/1.1 200 OK\r\nContent-"} {
		var conns atomic.Int64
		handle := once(response)
		srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) { conns.Add(1); handle(c, n) })
		s := newTestSender(t, SenderOptions{})
		r := s.Send(t.Context(), &Message{URL: "http://" + srv})
		if KindOf(r.Err) != Unreachable || r.Err == nil || r.NotTried || r.Timeout || Text(r.Err) != Neutral {
			t.Errorf("%s: %+v", name, r)
		}
		if conns.Load() != 1 {
			t.Errorf("%s: %d connections, want 1", name, conns.Load())
		}
	}
}

func TestRequestIsNotRetriedAfterPartialResponse(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) {
		r := bufio.NewReader(c)
		for readRequestOK(r) {
			if requests.Add(1) == 2 {
				io.WriteString(c, "HTTP/1.1 2")
				return
			}
			io.WriteString(c, ok204)
		}
	})
	s := newTestSender(t, SenderOptions{})
	s.Send(t.Context(), &Message{URL: "http://" + srv})
	if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); r.Err == nil || requests.Load() != 2 {
		t.Errorf("%+v after %d requests", r, requests.Load())
	}
}

func TestSenderReturnsBodyOnlyIfRequested(t *testing.T) {
	t.Parallel()
	srv := rawServer(t, "127.0.0.1:0", answering("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"))
	long := rawServer(t, "127.0.0.1:0", once("HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 1<<20)))
	s := newTestSender(t, SenderOptions{})
	if r := s.Send(t.Context(), &Message{Method: "GET", URL: "http://" + srv, WantBody: true}); string(r.Body) != "hello" || r.Partial || r.ContentType != "text/plain" {
		t.Errorf("%+v", r)
	}
	if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); r.Body != nil || r.Partial {
		t.Errorf("%+v", r)
	}
	if r := s.Send(t.Context(), &Message{URL: "http://" + long, WantBody: true}); len(r.Body) != 4096 || !r.Partial || !r.OK() {
		t.Errorf("%d bytes, %+v", len(r.Body), r.Err)
	}
}

func TestMaxBodyOptionRaisesTheBodyLimit(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	s := newTestSender(t, SenderOptions{})
	for name, c := range map[string]struct {
		response string
		want     int
		whole    bool
	}{
		"by its length": {"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("x", 60000), 60000, true},
		"to its end":    {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1<<20), limit, false},
		"in chunks":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("fa0\r\n"+strings.Repeat("x", 4000)+"\r\n", 16) + "0\r\n\r\n", 64000, true},
	} {
		srv := rawServer(t, "127.0.0.1:0", once(c.response))
		r := s.Send(t.Context(), &Message{Method: "GET", URL: "http://" + srv, WantBody: true, MaxBody: limit})
		if len(r.Body) != c.want || r.Partial == c.whole || !r.OK() {
			t.Errorf("%s: %d bytes, partial %v, %v", name, len(r.Body), r.Partial, r.Err)
		}
	}
}

func TestCancellationIsNotCountedAgainstThePeer(t *testing.T) {
	t.Parallel()
	got := make(chan bool, 1)
	srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
		if readRequestOK(bufio.NewReader(c)) {
			got <- true
			io.Copy(io.Discard, c) // no response
		}
	})
	s := newTestSender(t, SenderOptions{MaxConns: 1})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if r := s.Send(ctx, &Message{URL: "http://" + srv}); !r.NotTried || KindOf(r.Err) != Ours || r.Timeout {
			t.Errorf("under way: %+v", r)
		}
	})
	<-got
	wg.Go(func() { // this send waits until the other send releases its slot
		if r := s.Send(ctx, &Message{URL: "http://" + srv}); !r.NotTried || r.Dialled {
			t.Errorf("waiting: %+v", r)
		}
	})
	cancel()
	wg.Wait()
	if r := s.Send(ctx, &Message{URL: "http://" + srv}); !r.NotTried || r.Dialled {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestSocketExhaustionIsNotCountedAgainstThePeer(t *testing.T) {
	t.Parallel()
	srv := rawServer(t, "127.0.0.1:0", answering(ok204))
	other := rawServer(t, "127.0.0.1:0", answering(ok204))
	var full atomic.Int64
	var d net.Dialer
	s := newTestSender(t, SenderOptions{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if full.Add(-1) >= 0 {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
		}
		return d.DialContext(ctx, network, address)
	}})
	if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); !r.OK() || s.Idle() != 1 {
		t.Fatalf("%+v", r)
	}
	full.Store(1)
	if r := s.Send(t.Context(), &Message{URL: "http://" + other}); !r.OK() || s.Idle() != 1 {
		t.Errorf("a kept connection was not given up for a new one: %+v, %d idle", r, s.Idle())
	}
	for _, scheme := range []string{"http://", "https://"} {
		full.Store(2)
		if r := s.Send(t.Context(), &Message{URL: scheme + srv}); !r.NotTried || KindOf(r.Err) != Ours {
			t.Errorf("%s: %+v", scheme, r)
		}
	}
}

func TestIdleConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	s := newTestSender(t, SenderOptions{IdlePerOrigin: 2, IdleTotal: 5})
	var wg sync.WaitGroup
	for range 4 {
		var in sync.WaitGroup
		in.Add(3)
		srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) {
			if r := bufio.NewReader(c); readRequestOK(r) {
				in.Done()
				in.Wait() // wait until all three connections are open at the same time
				io.WriteString(c, ok204)
				io.Copy(io.Discard, c)
			}
		})
		for range 3 {
			wg.Go(func() {
				if r := s.Send(t.Context(), &Message{URL: "http://" + srv}); !r.OK() {
					t.Error(r.Err)
				}
			})
		}
	}
	wg.Wait()
	if n := s.Idle(); n != 5 {
		t.Errorf("%d kept, want 5 of the 8 that two an origin would be", n)
	}
	s.Close()
	if n := s.Idle(); n != 0 {
		t.Errorf("%d kept after Close", n)
	}
}

func TestSenderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	var hosts []string
	for i := range 20 {
		hosts = append(hosts, rawServer(t, fmt.Sprintf("127.0.2.%d:0", i+1), func(c net.Conn, n int) {
			r := bufio.NewReader(c)
			for k := 0; readRequestOK(r) && k < 5; k++ { // answers five requests and then closes the connection
				requests.Add(1)
				io.WriteString(c, ok204)
			}
		}))
	}
	s := newTestSender(t, SenderOptions{IdleTotal: 10, IdlePerOrigin: 2, MaxConns: 30})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for k := range 20 {
				if r := s.Send(t.Context(), &Message{URL: "http://" + hosts[(i+k)%20] + "/", Body: []byte("url=x")}); !r.OK() {
					t.Error(r.Err)
				}
			}
		})
	}
	wg.Wait()
	if n := requests.Load(); n != 1000 {
		t.Errorf("%d requests were answered, want 1000", n)
	}
	if s.Idle() > 10 || len(s.slots) != 0 {
		t.Errorf("%d idle, %d slots in use", s.Idle(), len(s.slots))
	}
}

func TestLocalPortExhaustionIsReportedAsLocalError(t *testing.T) {
	t.Parallel()
	for to, ours := range map[string]bool{"192.0.2.1": true, "::ffff:192.0.2.1": true, "2001:db8::1": false} {
		err := &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.ParseIP(to), Port: 80}, Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}
		if exhausted(err) != ours {
			t.Errorf("%v: ours is %v", err, !ours)
		}
	}
	if !exhausted(&net.OpError{Op: "dial", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}) {
		t.Error("a failed bind without a free port counts against the peer")
	}
	if exhausted(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)) {
		t.Error("an error without an address is classified as ours")
	}
}

// fullListener returns an address at which connecting neither succeeds nor fails, because the
// listener's queue is full.
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", sa.(*syscall.SockaddrInet4).Port)
	for range 64 {
		c, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this system's queues are never full")
	return ""
}

func TestConnectionAttemptTimesOutAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	address := fullListener(t)
	s := newTestSender(t, SenderOptions{Timeout: 50 * time.Millisecond, Resolver: nameServer(t, testNames)})
	_, port, _ := net.SplitHostPort(address)
	for _, url := range []string{"http://" + address, "https://" + address, "http://localhost:" + port} {
		if r := s.Send(t.Context(), &Message{URL: url}); !r.Timeout || r.NotTried || !r.Dialled {
			t.Errorf("%s: %+v", url, r)
		}
	}
	patient := newTestSender(t, SenderOptions{Timeout: time.Hour})
	for _, url := range []string{"http://" + address, "https://" + address} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if r := patient.Send(ctx, &Message{URL: url}); !r.NotTried || r.Timeout {
			t.Errorf("%s cancelled: %+v", url, r)
		}
	}
}
