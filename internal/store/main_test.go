package store_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
)

// crashStage is an environment variable. If it is set, this process runs a move and waits at the
// named stage until the test kills it.
const crashStage = "CLOUDBURST_STORE_TEST_CRASH_STAGE"

func TestMain(m *testing.M) {
	if stage := os.Getenv(crashStage); stage != "" {
		_, err := store.Move(context.Background(), store.MoveOptions{From: os.Args[1], To: os.Args[2], Replace: true, Now: time.Now(), OnProgress: func(p store.Progress) {
			if p.Stage == stage {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // wait for the kill
			}
		}})
		fmt.Fprintln(os.Stderr, "the process was not killed:", err)
		os.Exit(3)
	}
	os.Exit(storetest.Main(m))
}
