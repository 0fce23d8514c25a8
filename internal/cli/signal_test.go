//go:build unix

package cli

import (
	"context"
	"os/signal"
	"syscall"
	"testing"

	"cloudburst/internal/cli/shell"
)

func TestSIGHUPStopsTheProgramCleanly(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored")
	}
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	RunProcess(&shell.Shell{}, func(ctx context.Context, _ *shell.Shell, _ []string) int {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		// A terminal that closes may send SIGHUP again, which must not end the process.
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		return 0
	})
}
