package systemd_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"cloudburst/internal/systemd"
)

const pid = 4711

// manager listens as the notification socket of a service manager; next returns its next message.
func manager(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return path, func() string {
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1000)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestCallsWithoutServiceManagerDoNothing(t *testing.T) {
	t.Parallel()
	s, err := systemd.FromEnviron([]string{"PATH=/bin"}, pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*systemd.Service{s, {}, nil} {
		if err := s.Notify("READY=1"); err != nil {
			t.Error(err)
		}
		if l := s.Take("public"); l != nil {
			t.Errorf("a listener without a manager: %v", l)
		}
		s.Watch(t.Context(), func(context.Context) error { t.Error("Watch calls alive"); return nil }, nil)
	}
}

func TestNotifySendsTheStateToSystemd(t *testing.T) {
	t.Parallel()
	path, next := manager(t)
	s, err := systemd.FromEnviron([]string{"NOTIFY_SOCKET=" + path}, pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"READY=1\nSTATUS=Serving", "STOPPING=1"} {
		if err := s.Notify(state); err != nil {
			t.Fatal(err)
		}
		if got := next(); got != state {
			t.Errorf("the manager received %q, want %q", got, state)
		}
	}
}

func TestNotifyWithoutASocketFails(t *testing.T) {
	t.Parallel()
	s, err := systemd.FromEnviron([]string{"NOTIFY_SOCKET=" + filepath.Join(t.TempDir(), "none")}, pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Notify("READY=1"); err == nil {
		t.Error("notifying a missing socket succeeds")
	}
}

func TestWatchdogStopsWhenTheProgramIsNotAlive(t *testing.T) {
	t.Parallel()
	path, next := manager(t)
	s, err := systemd.FromEnviron([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=20000", "WATCHDOG_PID=" + strconv.Itoa(pid)}, pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dead := errors.New("no answer")
	calls, reported := 0, make(chan error, 100)
	alive := func(context.Context) error {
		if calls++; calls <= 2 {
			return nil
		}
		return dead
	}
	go s.Watch(ctx, alive, func(err error) { reported <- err })
	for range 2 {
		if got := next(); got != "WATCHDOG=1" {
			t.Errorf("the manager received %q", got)
		}
	}
	if err := <-reported; !errors.Is(err, dead) {
		t.Errorf("reported %v, want %v", err, dead)
	}
}

func TestSystemdVariablesOfAnotherProcessAreIgnored(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{
		{"LISTEN_FDS=1", "LISTEN_PID=1"},
		{"LISTEN_FDS=1"},
		{"LISTEN_FDS=x", "LISTEN_PID=1"},
		{"WATCHDOG_USEC=1000", "WATCHDOG_PID=1"},
		{"WATCHDOG_USEC=-5"},
	} {
		s, err := systemd.FromEnviron(env, pid)
		if err != nil || len(s.Listeners) > 0 || s.Watchdog != 0 {
			t.Errorf("%v gives %+v and %v", env, s, err)
		}
	}
}

func TestInvalidSocketCountIsRejected(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"x", "-1", "1000000"} {
		if _, err := systemd.FromEnviron([]string{"LISTEN_FDS=" + n, "LISTEN_PID=" + strconv.Itoa(pid)}, pid); err == nil {
			t.Errorf("LISTEN_FDS=%s is accepted", n)
		}
	}
}
