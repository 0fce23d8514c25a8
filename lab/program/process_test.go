package program

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The disk may stop at the first operation after a power cut, which is the removal of an old file
// before the program starts.
func TestADiskThatStopsBeforeTheProgramRunsIsNoFailedStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "listen.addr", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	close(stopped)
	c := Command{Dir: t.TempDir(), Data: data}
	if _, err := c.start(t.Context()); err == nil || errors.Is(err, ErrStruck) {
		t.Errorf("without a power cut: %v", err)
	}
	c.Strike = stopped
	if _, err := c.start(t.Context()); !errors.Is(err, ErrStruck) {
		t.Errorf("with a power cut: %v", err)
	}
}
