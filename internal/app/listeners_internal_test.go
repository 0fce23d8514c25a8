package app

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"cloudburst/internal/config"
	"cloudburst/internal/systemd"
)

func TestListenErrorSuggestsTheActualCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cause syscall.Errno
		want  string
	}{
		{syscall.EADDRINUSE, "Cannot listen on :80 (listen); is another server running there?: "},
		{syscall.EACCES, "Cannot listen on :80 (listen); a port below 1024 needs root, the capability CAP_NET_BIND_SERVICE or a socket of systemd: "},
		{syscall.EADDRNOTAVAIL, "Cannot listen on :80 (listen): "},
	} {
		err := listenFault(&net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", tt.cause)}, "listen", ":80")
		if want := tt.want + "listen tcp: bind: " + tt.cause.Error(); err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	if _, err := listen(t.Context(), "listen", used.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "is another server") {
		t.Error(err)
	}
}

func TestUnusedSocketForPlainHTTPIsNotCalledUnknown(t *testing.T) {
	t.Parallel()
	given := map[string]net.Listener{}
	for _, name := range []string{"public", "admin", "http", "other"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		given[name] = l
	}
	var log bytes.Buffer
	a := New(config.Default(), slog.New(slog.NewTextHandler(&log, nil)))
	a.Service = &systemd.Service{Listeners: given}
	l, err := process{a}.openListeners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.close()
	if text := log.String(); strings.Count(text, "unknown name") != 1 || !strings.Contains(text, "name=other") || !strings.Contains(text, "the socket http of the service manager is not used: it needs TLS") {
		t.Error(text)
	}
}
