package abusetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
)

var forFlag = flag.Duration("abuse.for", 0, "how long each attack lasts (0: a few seconds)")

const (
	startsIn = 2 * time.Minute
	soon     = 2 * time.Minute // what has to happen does by then, on the slowest machine
	descrs   = 4096            // that the program may have, where a test says nothing else
)

// lasts is how long an attack goes on.
func lasts(short time.Duration) time.Duration {
	if *forFlag > 0 {
		return *forFlag
	}
	return short
}

// program is a running one.
type program struct {
	t           *testing.T
	cmd         *exec.Cmd
	data        string
	base, admin string
	peaks       *peaks
}

var binary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// build makes the program, once for all tests.
func build(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "abusetest"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "cloudburst")
		cmd := exec.Command("go", "build", "-o", binary.path, "cloudburst/cmd/cloudburst")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir) // in the folder for temporary files
	}
	os.Exit(code)
}

// start runs the program on a folder of its own, with so many descriptors, and ends it
// with the test. It may read feeds and call back everywhere on 127.0.0.0/9: what is above
// stands for addresses that it must not call.
func start(t *testing.T, files int, args ...string) *program {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	p := &program{t: t, data: filepath.Join(t.TempDir(), "data")}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", p.data,
		"--egress.allow-fetch", internet, "--egress.allow-callback", internet, "--hub.ping-interval", "50ms", "--log.level", "error"}, args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files), build(t)}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already, which is said below
		var err error
		select {
		case err = <-ended:
		case <-time.After(soon):
			err = errors.New("it goes on after SIGTERM")
		}
		cancel()
		if text, _ := os.ReadFile(log.Name()); err != nil || strings.Contains(string(text), "panic") {
			t.Errorf("the program: %v; its last words: %s", err, text[max(0, len(text)-4000):])
		}
		log.Close()
	})
	eventually(t, startsIn, "the program is ready", func() bool {
		p.base, p.admin = address(p.data, "listen.addr"), address(p.data, "admin.addr")
		return p.base != "" && p.admin != "" && status(p.base+"/readyz") == http.StatusOK
	})
	p.peaks = watch(t, p.cmd.Process.Pid, p.admin)
	return p
}

// operator is the program's own API.
func (p *program) operator() *client.Client { return &client.Client{Base: p.admin} }

func address(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}

func status(url string) int {
	res, err := impatient.Get(url)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the status is all
	return res.StatusCode
}

// eventually waits for what has to come.
func eventually(t *testing.T, within time.Duration, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !there(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s it is not so that %s", within, what)
		}
	}
}

// size is how many bytes a folder takes.
func size(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil // a file of the moment
		}
		n += info.Size()
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}
