package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
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

// newFile creates a file (0600) that must not exist yet. It follows no symbolic link: root must not
// give the file behind a link to the owner of the folder.
func newFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		KeepOwner(f)
	}
	return f, err
}

// seize locks the destination folder and deletes leftovers of an earlier attempt.
func seize(dir string, replace bool) (*folderLock, error) {
	if err := MakeFolder(dir); err != nil {
		return nil, folderFault(err, dir)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	if used, err := occupied(dir); err != nil || used && !replace {
		if err == nil {
			err = fault.New(fault.Conflict, "The data folder %s already has a database: name another folder, or use --replace, which keeps the old database next to the new one.", dir)
		}
		return nil, errors.Join(err, lock.Close())
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(filepath.Join(dir, Incomplete) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(folderFault(err, dir), lock.Close())
		}
	}
	return lock, nil
}

// occupied reports whether a folder has a database that is not empty.
func occupied(dir string) (bool, error) {
	for _, name := range []string{File, File + "-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Size() > 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, folderFault(err, dir)
		}
	}
	return false, nil
}

// present returns a fault.NotFound if there is no database file.
func present(file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return fault.New(fault.NotFound, "There is no database %s.", file)
	}
	if err != nil {
		return folderFault(err, filepath.Dir(file))
	}
	return nil
}

// complete rejects a folder with an incomplete database.
func complete(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, Incomplete)); err == nil {
		return fault.New(fault.Unavailable, "A migrate or restore into %s was interrupted: run the same command again. To continue with the previous data, delete the file %s.",
			dir, filepath.Join(dir, Incomplete))
	}
	return nil
}
