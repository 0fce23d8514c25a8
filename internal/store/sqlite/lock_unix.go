//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f for this process; free is false when another one has it. The
// system takes the lock back when the process ends, however it ends.
func tryLock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock ends the lock of f, also for copies of f in other processes.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
