//go:build !unix

package feedfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// lock prevents other processes from writing feeds in a folder. It creates a lock file. If a process
// is killed, its lock file must be removed by hand.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	name := filepath.Join(dir, ".cloudburst-publish.lock")
	err = waitForLock(ctx, dir, func() (bool, error) {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, f.Close()
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(name) }, nil
}

// copyOwner does nothing, because the operating system assigns the owner.
func copyOwner(*os.File, os.FileInfo) error { return nil }
