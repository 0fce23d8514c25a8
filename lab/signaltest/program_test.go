package signaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// within is how long anything may take before a test gives it up. It is no limit of
// speed: the machine may be busy with other tests.
const within = 2 * time.Minute

// build makes the program.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cloudburst")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "cloudburst/cmd/cloudburst")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// program is a running server.
type program struct {
	t           *testing.T
	bin, data   string
	base, admin string
}

// serve starts a server and ends it with the test.
func serve(t *testing.T, bin string, more ...string) *program {
	t.Helper()
	p := &program{t: t, bin: bin, data: t.TempDir()}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", p.data,
		"--egress.allow-fetch", "127.0.0.0/8", "--egress.allow-callback", "127.0.0.0/8", "--hub.ping-interval", "1ms",
		"--hub.source-rate", "0", "--hub.host-rate", "0", "--river.own-hosts", "127.0.0.1", "--log.level", "warn"}, more...)
	cmd := exec.Command(bin, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // how it ended is looked at below
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
		select {
		case <-ended:
		case <-time.After(within):
			_ = cmd.Process.Kill()
			<-ended
		}
		if !cmd.ProcessState.Success() || t.Failed() {
			t.Logf("the server ended with %s and said:\n%s", cmd.ProcessState, log.String())
		}
	})
	until(t, "the server is ready", func() bool {
		select {
		case <-ended:
			t.Fatalf("the server ended at once: %s", log.String())
		default:
		}
		p.base, p.admin = address(p.data, "listen.addr"), address(p.data, "admin.addr")
		return p.base != "" && p.admin != "" && status(p.base+"/readyz") == http.StatusOK
	})
	return p
}

func address(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}

func status(url string) int {
	res, err := http.Get(url)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// until waits for something to become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

// command runs the program's command line against the server.
func (p *program) command(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.bin, append(args, "--data", p.data)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("cloudburst %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// doors are those by which the log says that news of a topic came.
func (p *program) doors(t *testing.T, topic string) []string {
	t.Helper()
	var page struct {
		Events []struct{ Kind, Topic, Door string }
	}
	res, err := http.Get(p.admin + "/v1/log?kind=ping&limit=1000&text=" + strings.ReplaceAll(topic, ":", "%3A"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	var doors []string
	for _, e := range page.Events {
		if e.Topic == topic {
			doors = append(doors, e.Door)
		}
	}
	return doors
}
