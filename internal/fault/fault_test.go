package fault_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"cloudburst/internal/fault"
)

func TestErrorJoinsMessageAndCause(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"The feed names port 1.":   "The feed names port 1: cause",
		"The database is not here": "The database is not here: cause",
	} {
		if got := fault.Wrap(fault.Refused, errors.New("cause"), "%s", msg).Error(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

func TestErrorsOfTemporaryFilesNameAFullDisk(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]string{syscall.ENOSPC: fault.DiskFull, syscall.EDQUOT: fault.DiskFull, syscall.EIO: "The upload cannot be stored."} {
		err := fault.Unstored(&fs.PathError{Op: "write", Path: "/tmp/x", Err: errno}, "The upload cannot be stored.")
		if fault.Message(err) != want || fault.CodeOf(err) != fault.Unavailable || fault.RetryAfter(err) == 0 || !errors.Is(err, errno) {
			t.Errorf("%v: %+v", errno, err)
		}
	}
}
