package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
)

func TestMain(m *testing.M) {
	code := storetest.Main(m)
	os.RemoveAll(binary.dir)
	os.Exit(code)
}

// binary is the compiled program, which is built once for all tests of this package.
var binary struct {
	sync.Once
	dir, file string
	err       error
}

func program(t *testing.T) string {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	binary.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "cloudburst-test-"); binary.err != nil {
			return
		}
		binary.file = filepath.Join(binary.dir, "cloudburst")
		cmd := exec.Command("go", "build", "-o", binary.file, "cloudburst/cmd/cloudburst")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.file
}

// command returns a command that runs the program with these arguments on a free port. The
// command does not inherit the environment of the test.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	loop := "127.0.0.0/8"
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", dir,
		"--egress.allow-fetch", loop, "--egress.allow-callback", loop, "--hub.ping-interval", "10ms", "--log.level", "warn"}, args...)
	cmd := exec.Command(program(t), args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "CLOUDBURST_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}

// process is the program that runs as a separate process.
type process struct {
	running
	cmd   *exec.Cmd
	ended chan struct{}
}

// spawn starts the program with the data folder dir and waits until it is ready.
func spawn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return spawnWith(t, dir, nil, args...)
}

// spawnWith is like spawn with additional environment variables NAME=value.
func spawnWith(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	_ = os.Remove(filepath.Join(dir, "listen.addr")) // a killed process may have left the file
	_ = os.Remove(filepath.Join(dir, "admin.addr"))
	p := &process{cmd: command(t, dir, args...), ended: make(chan struct{})}
	p.t = t
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = t.Output()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }() // the result is in ProcessState
	t.Cleanup(p.kill)
	p.base, p.admin = p.addr(dir, "listen.addr"), p.addr(dir, "admin.addr")
	wait(t, "the program is ready", func() bool { code, _ := tryGet(p.base + "/readyz"); return code == http.StatusOK })
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // the error is ignored, because the process may have ended
	<-p.ended
}

func (p *process) signal(s os.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// exit waits for the end of the process. It returns the exit status, or the negative number of
// the signal that killed the process.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(maxWait):
		p.t.Fatal("it does not end")
	}
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// maxWait is the maximum time that a test waits for a condition. It is so long that only a broken
// program reaches it, even on a busy machine.
const maxWait = 5 * time.Minute

// wait waits until done returns true. After maxWait it fails the test.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(maxWait)
	defer deadline.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("timeout waiting for: %s", what)
		}
	}
}

// tryGet is like get, but returns the status 0 if the server does not answer.
func tryGet(url string) (int, string) {
	res, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(body)
}

// remains returns the amount of pending work that the program reports.
func (r *running) remains() (pending, shards, checks int64) {
	r.t.Helper()
	code, body := get(r.t, r.admin+"/v1/status")
	var status struct {
		Counts struct {
			Owed      int64 `json:"owed"`
			ShardsDue int64 `json:"parts_due"`
			ChecksDue int64 `json:"checks_due"`
		} `json:"counts"`
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil || code != http.StatusOK {
		r.t.Fatalf("status: %d %s", code, body)
	}
	return status.Counts.Owed, status.Counts.ShardsDue, status.Counts.ChecksDue
}

func (r *running) idle() bool {
	pending, shards, checks := r.remains()
	return pending+shards+checks == 0
}

// manyCallbacks is a set of callbacks on a few addresses. It counts their notifications.
type manyCallbacks struct {
	bases []string
	// answer is called for each notification and may block. n counts the calls of the callback
	// from 1.
	answer func(r *http.Request, path string, n int)

	mu       sync.Mutex
	came     map[string]int // key: path of the callback; value: number of calls
	notified map[string]int // key: path of the callback; value: number of calls whose sender waited for the response
}

func newCallbacks(t *testing.T, addresses int, answer func(r *http.Request, path string, n int)) *manyCallbacks {
	t.Helper()
	c := &manyCallbacks{answer: answer, came: map[string]int{}, notified: map[string]int{}}
	for i := range addresses {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:0", i+1))
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
		go func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}()
		t.Cleanup(func() { srv.Close() })
		c.bases = append(c.bases, "http://"+l.Addr().String())
	}
	return c
}

func (c *manyCallbacks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	c.mu.Lock()
	c.came[r.URL.Path]++
	n := c.came[r.URL.Path]
	c.mu.Unlock()
	c.answer(r, r.URL.Path, n)
	if r.Context().Err() == nil {
		c.mu.Lock()
		c.notified[r.URL.Path]++
		c.mu.Unlock()
	}
}

// follow imports n callbacks in one request, as a move from another hub does.
func (c *manyCallbacks) follow(t *testing.T, r *running, feed string, n int) {
	t.Helper()
	var list bytes.Buffer
	for i := range n {
		fmt.Fprintf(&list, `{"topic":%q,"protocol":"http-post","callback":"%s/%d","expires_at":%q}`+"\n",
			feed, c.bases[i%len(c.bases)], i, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}
	res, err := http.Post(r.admin+"/v1/subscriptions/import", "application/x-ndjson", &list)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("import: %d %s %v", res.StatusCode, body, err)
	}
}

// count returns the number of notified callbacks, the number of their calls, and the highest number
// of calls of one callback. It counts only calls whose sender waited for the response.
func (c *manyCallbacks) count() (callbacks, calls, maxCalls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notified {
		callbacks++
		calls += n
		maxCalls = max(maxCalls, n)
	}
	return callbacks, calls, maxCalls
}

// notifiedTwice returns the callbacks that received more than one notification, sorted.
func (c *manyCallbacks) notifiedTwice() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for path, n := range c.notified {
		if n > 1 {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// accepted sends a ping and reports whether the hub acknowledged it.
func accepted(base, feed string) bool {
	res, err := http.PostForm(base+"/rsscloud/ping", map[string][]string{"url": {feed}})
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && res.StatusCode == http.StatusOK && strings.Contains(string(body), `success="true"`)
}
