package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder makes a folder (0700), and those above it, if they do not exist. What it made
// is on disk: a database that is synced is still lost when its folder's name is.
func MakeFolder(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o700) // which says what is wrong with one that is there
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
	if err := syncFolder(above); !errors.Is(err, fs.ErrPermission) { // one that only takes names
		return err
	}
	return nil
}
