//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f for this process; free is false if another process holds the lock. The system
// releases the lock when the process ends for any reason.
func tryLock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock of f, including copies of f in other processes.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
