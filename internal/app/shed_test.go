package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// limitedServer starts a server with limited connections and bodies, and returns its address.
func limitedServer(t *testing.T, total, perAddr int, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := func(netip.Addr) bool { return false }
	on := newConnLimiter(l, total, perAddr, nobody)
	srv := &http.Server{Handler: newBodies(h, nobody), ConnState: on.state, ConnContext: withConn, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(on) }() // Serve returns when the server is closed
	t.Cleanup(func() { _ = srv.Close() })
	return l.Addr().String()
}

// from connects to a server from the local address addr and sends text.
func from(t *testing.T, addr, to, text string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	conn, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answered returns the status of the next response, or 0 if the connection was closed.
func answered(conn net.Conn) int {
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

const getOne = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func TestIdleConnectionsAreClosedAtTheLimit(t *testing.T) {
	t.Parallel()
	to := limitedServer(t, 3, 3, http.NotFoundHandler())
	waiting := []net.Conn{from(t, "127.1.0.1", to, getOne), from(t, "127.1.0.1", to, ""), from(t, "127.1.0.1", to, "GET / HTTP/1.1\r\nX: ")}
	if got := answered(waiting[0]); got != http.StatusNotFound {
		t.Fatalf("answered %d", got)
	}
	eventuallyFull(t, to)
	if got := answered(from(t, "127.2.0.1", to, getOne)); got != http.StatusNotFound {
		t.Errorf("another address gets %d", got)
	}
	if got := answered(from(t, "127.1.0.1", to, getOne)); got != http.StatusServiceUnavailable {
		t.Errorf("one more connection of the same address gets %d", got)
	}
}

// A client that sends its request late can still read the response. The server closes the
// connection in a way that does not discard the response, even if it has not read all request
// data.
func TestRefusedClientReceivesTheResponseAfterItsRequest(t *testing.T) {
	t.Parallel()
	to := limitedServer(t, 3, 1, http.NotFoundHandler())
	if got := answered(from(t, "127.1.0.1", to, getOne)); got != http.StatusNotFound {
		t.Fatalf("answered %d", got)
	}
	eventuallyFull(t, to)
	conn := from(t, "127.1.0.1", to, "")
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("answered before the request: %d, %v", n, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"+strings.Repeat("x", 60000)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // wait until the response and the request data are in transit, both unread
	if got := answered(conn); got != http.StatusServiceUnavailable {
		t.Errorf("answered %d", got)
	}
	if got := answered(from(t, "127.1.0.1", to, "\x16\x03\x01 a handshake")); got != 0 {
		t.Errorf("a handshake is answered %d", got)
	}
}

// eventuallyFull waits until the server refuses connections from 127.1.0.1.
func eventuallyFull(t *testing.T, to string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); answered(from(t, "127.1.0.1", to, getOne)) != http.StatusServiceUnavailable; {
		if time.Now().After(end) {
			t.Fatal("no connection is refused")
		}
	}
}

func TestConnectionWithRunningRequestIsNotClosed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{}, 2)
	to := limitedServer(t, 2, 2, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-ctx.Done()
	}))
	busy := []net.Conn{from(t, "127.1.0.1", to, getOne), from(t, "127.1.0.1", to, getOne)}
	<-begun
	<-begun
	if got := answered(from(t, "127.2.0.1", to, getOne)); got != http.StatusServiceUnavailable {
		t.Errorf("another address gets %d", got)
	}
	cancel()
	for _, conn := range busy {
		if got := answered(conn); got != http.StatusOK {
			t.Errorf("answered %d", got)
		}
	}
}

// The server keeps a connection open for half a second after its last response. Neither these
// connections nor new request bodies may cause refusals for other addresses.
func TestFinishedConnectionsAreClosedAtTheLimit(t *testing.T) {
	t.Parallel()
	to := limitedServer(t, 64, 64, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.ReadAll(r.Body)
	}))
	for name, request := range map[string]string{
		"last answers": "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		"fresh bodies": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				for ctx.Err() == nil {
					d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.1.0.1")}}
					conn, err := d.DialContext(ctx, "tcp", to)
					if err != nil {
						continue
					}
					stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
					_, _ = io.WriteString(conn, request)
					_, _ = io.Copy(io.Discard, conn) // wait until the server closes the connection
					_ = conn.Close()
					stop()
				}
			})
		}
		eventuallyFull(t, to)
		for range 100 {
			if got := answered(from(t, "127.2.0.1", to, getOne)); got != http.StatusOK {
				t.Errorf("%s: another address is answered %d", name, got)
			}
		}
		cancel()
		group.Wait()
	}
}

func TestIPv6AddressesWithOnePrefixCountAsOneClient(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]string{"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3::4": "2001:db8:1:2::", "2001:db8:1:2:ffff::": "2001:db8:1:2::"} {
		if got := clientPrefix(netip.MustParseAddr(a)); got != netip.MustParseAddr(want) {
			t.Errorf("%s counts as %s", a, got)
		}
	}
}

func TestLargeRequestBodiesPerClientAddressAreLimited(t *testing.T) {
	t.Parallel()
	to := limitedServer(t, 1000, 1000, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	const large = "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 65000\r\n\r\n"
	const chunked = "POST /ping HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	for range bodiesEach {
		from(t, "127.1.0.1", to, large)
	}
	eventuallyRefused := func(head string) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); ; {
			conn := from(t, "127.1.0.1", to, head)
			got := answered(conn)
			_ = conn.Close() // close it, because otherwise the connection limit would apply
			if got == http.StatusServiceUnavailable {
				return
			}
			if time.Now().After(end) {
				t.Fatal("one more is never refused")
			}
			from(t, "127.1.0.1", to, large) // replace the upload whose slot the last request may have taken
		}
	}
	eventuallyRefused(large + strings.Repeat("x", 65000))
	eventuallyRefused(chunked + "5000\r\n" + strings.Repeat("x", 0x5000) + "\r\n0\r\n\r\n")
	if got := answered(from(t, "127.1.0.1", to, chunked+"5\r\nhello\r\n0\r\n\r\n")); got != http.StatusOK {
		t.Errorf("a small one is answered %d", got)
	}
	if got := answered(from(t, "127.2.0.1", to, large+strings.Repeat("x", 65000))); got != http.StatusOK {
		t.Errorf("another address gets %d", got)
	}
}

func TestSlowUploadIsAbortedToAdmitAnotherClient(t *testing.T) {
	t.Parallel()
	all := newBodies(nil, func(netip.Addr) bool { return false })
	now := time.Now()
	body := func(addr string) *pendingBody {
		one, other := net.Pipe()
		t.Cleanup(func() { _ = other.Close() })
		return &pendingBody{all: all, conn: &limitedConn{Conn: one, addr: netip.MustParseAddr(addr), end: func() {}}}
	}
	var first *pendingBody
	for i := range maxBodies {
		b := body(netip.AddrFrom4([4]byte{127, 0, byte(i / bodiesEach), 1}).String())
		if !b.acquire(now) {
			t.Fatalf("number %d has no place", i)
		}
		if first == nil {
			first = b
		}
	}
	late := body("127.9.0.1")
	if late.acquire(now) {
		t.Error("one that has just begun made room")
	}
	if !late.acquire(now.Add(2 * bodyLongFor)) {
		t.Error("none made room")
	}
	if len(all.held) != maxBodies || all.from[late.conn.addr] != 1 {
		t.Errorf("%d places are taken, of the late one %d", len(all.held), all.from[late.conn.addr])
	}
	late.release()
	first.release()
	first.release() // releasing a body that was evicted has no effect
	if n := len(all.held); n > maxBodies-1 {
		t.Errorf("%d places are taken", n)
	}
}
