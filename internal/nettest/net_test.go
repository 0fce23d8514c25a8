package nettest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestServerIsReachableByNameAndSeesTheClientAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Internet{Latency: 10 * time.Millisecond}
		l, err := n.Listen("hub.example:80")
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) })}
		go srv.Serve(l)
		defer srv.Close()
		tr := &http.Transport{DialContext: n.Dialer(netip.MustParseAddr("50.1.2.3"), nil)}
		defer tr.CloseIdleConnections()
		start := time.Now()
		res, err := (&http.Client{Transport: tr}).Get("http://hub.example/")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.HasPrefix(string(body), "50.1.2.3:") {
			t.Errorf("the server saw %s, want 50.1.2.3", body)
		}
		if d := time.Since(start); d != 40*time.Millisecond {
			t.Errorf("took %v on the bubble's clock, want 40ms: 2 latencies to connect and 2 for the request", d)
		}
		if n.Dials() != 1 {
			t.Errorf("%d dials, want 1", n.Dials())
		}
	})
}

func TestDialingAClosedPortOrAnUnknownNameFails(t *testing.T) {
	t.Parallel()
	n := &Internet{}
	n.Host("empty.example")
	if _, err := n.Dial(t.Context(), "tcp", "empty.example:80"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, want ECONNREFUSED", err)
	}
	var d *net.DNSError
	if _, err := n.Dial(t.Context(), "tcp", "nowhere.example:80"); !errors.As(err, &d) || !d.IsNotFound {
		t.Errorf("%v, want a DNSError not found", err)
	}
}

func TestControlIsCalledBeforeEachConnection(t *testing.T) {
	t.Parallel()
	n := &Internet{}
	n.Host("two.example", netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("50.9.9.9"))
	l, _ := n.Listen("50.9.9.9:80")
	defer l.Close()
	var seen []string
	dial := n.Dialer(netip.MustParseAddr("50.1.1.1"), func(network, address string, _ syscall.RawConn) error {
		seen = append(seen, network+" "+address)
		if strings.HasPrefix(address, "10.") {
			return errors.New("private")
		}
		return nil
	})
	c, err := dial(t.Context(), "tcp", "two.example:80")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if got := strings.Join(seen, ","); got != "tcp4 10.0.0.1:80,tcp4 50.9.9.9:80" {
		t.Errorf("control saw %s", got)
	}
}

// connectedPair returns both ends of a connection.
func connectedPair(t *testing.T, latency time.Duration) (net.Conn, net.Conn) {
	t.Helper()
	n := &Internet{Latency: latency}
	l, err := n.Listen("a.example:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := n.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func TestDeadlinesEndReadsAndCanBeChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := connectedPair(t, 0)
		start := time.Now()
		a.SetReadDeadline(start.Add(time.Hour))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		a.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Minute, func() { b.Write([]byte("x")) })
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("after removing the deadline: %d, %v", n, err)
		}
		time.AfterFunc(time.Second, func() { a.SetDeadline(time.Unix(1, 0)) })
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline in the past does not wake a reader: %v", err)
		}
		a.Close()
		b.Close()
	})
}

func TestWritesBlockWhenTheWindowIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := connectedPair(t, time.Millisecond)
		a.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := a.Write(make([]byte, 3*window))
		if n != window || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d, %v", n, err)
		}
		a.SetWriteDeadline(time.Time{})
		go func() {
			a.Write(make([]byte, 2*window))
			a.Close()
		}()
		got, err := io.Copy(io.Discard, b)
		if got != 3*window || err != nil {
			t.Errorf("read %d, %v", got, err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed peer: %v", err)
		}
		b.Close()
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
	})
}

func TestClosingAListenerEndsAcceptAndFreesTheAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Internet{}
		l, _ := n.Listen("a.example:80")
		if _, err := n.Listen("a.example:80"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("second listener: %v", err)
		}
		time.AfterFunc(time.Second, func() { l.Close() })
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: %v", err)
		}
		l, err := n.Listen("a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
}

func TestCancelledDialEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &Internet{Latency: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := n.Dial(ctx, "tcp", "50.0.0.9:80")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
