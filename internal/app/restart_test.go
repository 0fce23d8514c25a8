package app_test

import (
	"cloudburst/internal/app"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// supervisor imitates a service manager. It holds the sockets, passes them to the program by
// LISTEN_FDS, and receives the notifications of the program.
type supervisor struct {
	t             *testing.T
	dir           string
	public, admin *net.TCPListener
	plain         *net.TCPListener // socket of the plain HTTP listener
	states        *net.UnixConn
	cmd           *exec.Cmd
}

func newSupervisor(t *testing.T) *supervisor {
	t.Helper()
	s := &supervisor{t: t, dir: t.TempDir()}
	for _, l := range []**net.TCPListener{&s.public, &s.admin, &s.plain} {
		open, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { open.Close() })
		*l = open
	}
	// The path must be short, because the system allows at most 107 bytes in the name of a
	// socket.
	dir, err := os.MkdirTemp("", "cb-notify-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s.states, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.states.Close() })
	return s
}

// start runs the program with the sockets. A shell sets LISTEN_PID, because its value must be the
// ID of the program's process.
func (s *supervisor) start(args ...string) {
	s.t.Helper()
	prog := command(s.t, s.dir, args...)
	s.cmd = exec.Command("/bin/sh", append([]string{"-c", `LISTEN_PID=$$ exec "$@"`, "sh"}, prog.Args...)...)
	s.cmd.Env = append(prog.Env, "LISTEN_FDS=3", "LISTEN_FDNAMES=admin:public:http", "NOTIFY_SOCKET="+s.states.LocalAddr().String(), "WATCHDOG_USEC=2000000")
	s.cmd.Stderr = s.t.Output()
	for _, l := range []*net.TCPListener{s.admin, s.public, s.plain} {
		f, err := l.File()
		if err != nil {
			s.t.Fatal(err)
		}
		defer f.Close()
		s.cmd.ExtraFiles = append(s.cmd.ExtraFiles, f)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // the error is ignored, because the process may have ended
}

// awaitState waits until the program reports a state.
func (s *supervisor) awaitState(state string) {
	s.t.Helper()
	if err := s.states.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
	buf := make([]byte, 1000)
	for {
		n, err := s.states.Read(buf)
		if err != nil {
			s.t.Fatalf("the program does not say %s: %v", state, err)
		}
		if strings.Contains("\n"+string(buf[:n])+"\n", "\n"+state+"\n") {
			return
		}
	}
}

func (s *supervisor) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	s.awaitState("STOPPING=1")
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the program ended with %v", err)
	}
}

func TestRestartByServiceManagerFailsNoRequest(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	s.start()
	s.awaitState("READY=1")
	base := "http://" + s.public.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var done, failed atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}, Timeout: time.Minute}
			for ctx.Err() == nil {
				if err := askOnce(client, base, i); err != nil {
					failed.Add(1)
					t.Errorf("client %d: %v", i, err)
				}
				done.Add(1)
			}
		})
	}
	more := func() { // wait until the clients have sent more than 80 further requests
		from := done.Load()
		wait(t, "the clients go on", func() bool { return done.Load() > from+80 })
	}
	more()
	const restarts = 2
	for range restarts {
		s.stop()
		s.start()
		s.awaitState("READY=1")
		more()
	}
	s.awaitState("WATCHDOG=1")
	cancel()
	group.Wait()
	s.stop()
	t.Logf("%d requests of 8 clients over %d restarts, %d failed", done.Load(), restarts, failed.Load())
}

// askOnce sends one request of the client with the number i. Clients with an odd number request
// /healthz and reuse connections. Clients with an even number send pings over new connections,
// because clients do not repeat a POST request after they lose the connection.
func askOnce(client *http.Client, base string, i int) error {
	var res *http.Response
	var err error
	if i%2 == 0 {
		res, err = client.PostForm(base+"/ping", url.Values{"url": {base + "/test/rss.xml"}})
	} else {
		res, err = client.Get(base + "/healthz")
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", res.Status, body)
	}
	return err
}

func TestStartingServerDeletesOldTemporaryFiles(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	left := filepath.Join(cfg.Data, app.TemporaryFolder, "left")
	if err := errors.Join(os.Mkdir(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	start(t, cfg)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a file of an earlier run is still there: %v", err)
	}
}
