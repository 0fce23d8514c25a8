package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder creates a folder (0700) and its parents, if they do not exist. It syncs the new
// folders: otherwise a power failure could delete the folder with a synced database.
func MakeFolder(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o700) // MkdirAll returns the error if a path is not a folder
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := MakeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(above); !errors.Is(err, fs.ErrPermission) { // a parent that is writable but not readable
		return err
	}
	return nil
}
