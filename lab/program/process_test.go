package program

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The first operation of Start on the disk is the removal of an old file. A simulated power cut
// can already occur at this operation.
func TestPowerCutBeforeTheProgramRunsIsReportedAsCrash(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "listen.addr", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	close(stopped)
	c := Command{Dir: t.TempDir(), Data: data}
	if _, err := c.start(t.Context()); err == nil || errors.Is(err, ErrCrashed) {
		t.Errorf("without a power cut: %v", err)
	}
	c.CrashSignal = stopped
	if _, err := c.start(t.Context()); !errors.Is(err, ErrCrashed) {
		t.Errorf("with a power cut: %v", err)
	}
}
