package abusetest

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
	"cloudburst/lab/program"
)

var forFlag = flag.Duration("abuse.for", 0, "how long each attack lasts (0: a few seconds)")

const (
	soon   = 2 * time.Minute // timeout for every wait; long enough for a slow machine
	descrs = 4096            // default limit of open files of the program
)

// lasts returns the duration of an attack: -abuse.for, or short if the flag is not set.
func lasts(short time.Duration) time.Duration {
	if *forFlag > 0 {
		return *forFlag
	}
	return short
}

// running is a running program with its data folder and its resource usage.
type running struct {
	*program.Process
	t     *testing.T
	data  string
	peaks *peaks
}

// built caches the program's executable for all tests.
var built program.Builds

// build builds the program once and returns the path of the executable.
func build(t *testing.T) string {
	t.Helper()
	bin, err := built.Build(t.Context(), program.Real)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = built.Remove() // the folder is temporary, so an error has no consequence
	os.Exit(code)
}

// start runs the program with its own data folder and a limit of open files, and stops it at the
// end of the test. The program may call addresses in 127.0.0.0/9. Higher loopback addresses
// represent internal hosts, which it must not call.
func start(t *testing.T, files int, args ...string) *running {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	dir := t.TempDir()
	p, err := program.Start(context.WithoutCancel(t.Context()), program.Command{
		Binary: build(t), Dir: dir, Files: files, Reach: internet, Args: append([]string{"--hub.ping-interval", "50ms"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := p.Stop()
		if err != nil {
			p.Kill()
		}
		if text, _ := os.ReadFile(filepath.Join(dir, program.LogFile)); err != nil || strings.Contains(string(text), "panic") {
			t.Errorf("the program: %v; the end of its log: %s", err, text[max(0, len(text)-4000):])
		}
	})
	return &running{Process: p, t: t, data: filepath.Join(dir, program.DataFolder), peaks: watch(t, p.ID(), p.Admin)}
}

// operator returns a client of the admin API of the program.
func (p *running) operator() *client.Client { return &client.Client{Base: p.Admin} }

// size returns the size of a folder in bytes.
func size(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil // a temporary file no longer exists
		}
		n += info.Size()
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}
