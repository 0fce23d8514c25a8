package signaltest

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/lab/program"
)

// within is the timeout for each wait. It is long because other tests can slow the machine down.
const within = 2 * time.Minute

// build builds the program and returns the path of the executable.
func build(t *testing.T) string {
	t.Helper()
	var built program.Builds
	t.Cleanup(func() { _ = built.Remove() }) // the folder is temporary, so an error has no consequence
	bin, err := built.Build(t.Context(), program.Real)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// server is a running server.
type server struct {
	*program.Process
	t         *testing.T
	bin, data string
}

// serve starts a server with additional arguments, and stops it at the end of the test.
func serve(t *testing.T, bin string, more ...string) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t, bin: bin, data: filepath.Join(dir, program.DataFolder)}
	var err error
	s.Process, err = program.Start(context.WithoutCancel(t.Context()), program.Command{Binary: bin, Dir: dir, Args: append([]string{
		"--hub.ping-interval", "1ms", "--hub.client-rate", "0", "--hub.host-rate", "0", "--river.unpaced-hosts", "127.0.0.1", "--log.level", "warn"}, more...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := s.Stop()
		if err != nil {
			s.Kill()
		}
		if err != nil || t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, program.LogFile)) // the log is only shown to help, and can be incomplete
			t.Logf("the log of the server (%v):\n%s", err, log)
		}
	})
	return s
}

// command runs a command of the program against the server, and returns its output.
func (p *server) command(t *testing.T, args ...string) string {
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

// endpoints returns the endpoints that the log names for a topic: the values of via.
func (p *server) endpoints(t *testing.T, topic string) []string {
	t.Helper()
	var page struct {
		Events []struct {
			Kind, Topic string
			Via         string `json:"door"`
		}
	}
	res, err := http.Get(p.Admin + "/v1/log?kind=ping&limit=1000&text=" + strings.ReplaceAll(topic, ":", "%3A"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	var endpoints []string
	for _, e := range page.Events {
		if e.Topic == topic {
			endpoints = append(endpoints, e.Via)
		}
	}
	return endpoints
}
