package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
)

// lockName is the file whose lock says that a process uses the folder. It is
// never removed: a removed lock file could be locked twice.
const lockName = "cloudburst.lock"

// markText in the lock file says that a database was made in the folder once.
const markText = "This folder belongs to cloudburst; its database is cloudburst.db.\n"

type folderLock struct{ *os.File }

// lockFolder makes this process the only one on the folder until the lock is closed.
func lockFolder(dir string) (*folderLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, folderFault(err, dir)
	}
	free, err := tryLock(f)
	if free && err == nil {
		return &folderLock{f}, nil
	}
	f.Close()
	if err == nil {
		return nil, fault.New(fault.Conflict, "Another cloudburst uses the data folder %s. Stop it first, talk to it through its admin listener, or give another folder with --data.", dir)
	}
	return nil, folderFault(err, dir)
}

// Close unlocks the folder. It does not leave that to the closing of the file, because a
// child process that this process starts at the same time has a copy of the file for a moment.
func (l *folderLock) Close() error { return errors.Join(unlock(l.File), l.File.Close()) }

// mark notes that the folder holds a database from now on.
func (l *folderLock) mark() error {
	info, err := l.Stat()
	if err != nil || info.Size() > 0 {
		return err
	}
	if _, err := l.WriteString(markText); err != nil {
		return err
	}
	return syncFile(l.File, filepath.Dir(l.Name()))
}

// marked reports whether a database was made in the folder once.
func marked(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1))
	return len(b) > 0, err
}
