package app

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

func newOwnSocket(t *testing.T) ownSocket {
	t.Helper()
	l, err := listen(t.Context(), "listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(ownSocket)
}

// connect opens a connection that waits until the program accepts it.
func connect(t *testing.T, s ownSocket) {
	t.Helper()
	client, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
}

func TestClosingSocketWaitsForConnectionsThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	s := newOwnSocket(t)
	connect(t, s)
	empty := make(chan struct{})
	go func() { s.empty(t.Context()); close(empty) }()
	select {
	case <-empty:
		t.Fatal("the socket is reported as empty, but nobody has accepted its connection")
	case <-time.After(5 * emptyTick):
	}
	conn, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	<-empty
}

func TestClosingSocketDoesNotWaitForConnectionsAfterItsTimeout(t *testing.T) {
	t.Parallel()
	s := newOwnSocket(t)
	connect(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.empty(ctx)
}

func TestConnectionToClosingSocketIsRefused(t *testing.T) {
	t.Parallel()
	s := newOwnSocket(t)
	s.empty(t.Context())
	failed := make(chan error)
	go func() {
		client, err := net.Dial("tcp", s.Addr().String())
		if err == nil {
			client.Close()
		}
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond) // without it, the socket could close before the connection begins, and any socket would refuse it then
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connecting to a closing socket: %v, want %v", err, syscall.ECONNREFUSED)
	}
}
