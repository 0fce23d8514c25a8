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
	soon   = 2 * time.Minute // timeout of every wait, long enough for a slow machine
	descrs = 4096            // default limit of the program
)

// lasts returns the duration of an attack.
func lasts(short time.Duration) time.Duration {
	if *forFlag > 0 {
		return *forFlag
	}
	return short
}

// running is a running program.
type running struct {
	*program.Process
	t     *testing.T
	data  string
	peaks *peaks
}

// built contains the built program.
var built program.Builds

// build builds the program.
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
	_ = built.Remove() // in the folder for temporary files
	os.Exit(code)
}

// start runs the program on its own folder with a limit of descriptors, and stops it at the
// end of the test. The program may call 127.0.0.0/9; the addresses above represent those
// that it must not call.
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
			return nil // a temporary file
		}
		n += info.Size()
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}
