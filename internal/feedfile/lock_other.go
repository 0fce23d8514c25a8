//go:build !unix

package feedfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// lock keeps other processes from writing feeds in a folder, by a file that is there as
// long as the lock holds. One that a process left which was killed has to be removed.
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

// copyOwner: files here belong to whoever the folder says.
func copyOwner(*os.File, os.FileInfo) error { return nil }
