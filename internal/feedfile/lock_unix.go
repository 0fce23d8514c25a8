//go:build unix

package feedfile

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// lock prevents other processes from writing feeds in a folder. It creates no file. The operating
// system releases the lock when the process ends.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, &Error{Msg: "the folder " + dir + " cannot be opened: " + pathCause(err).Error(), Err: err}
	}
	err = waitForLock(ctx, dir, func() (bool, error) {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		d.Close()
		return nil, err
	}
	return func() { d.Close() }, nil
}

// copyOwner sets the owner and group of f to those of old, if they differ.
func copyOwner(f *os.File, old os.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok1 := info.Sys().(*syscall.Stat_t)
	was, ok2 := old.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || now.Uid == was.Uid && now.Gid == was.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}
