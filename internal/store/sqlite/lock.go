package sqlite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
)

// lockName is the file whose lock marks the folder as used by a process. The file is never deleted:
// otherwise two processes could lock different files of that name.
const lockName = "cloudburst.lock"

// markText, in the lock file, records that a database was created in the folder.
const markText = "This folder belongs to cloudburst; its database is cloudburst.db.\n"

type folderLock struct{ *os.File }

// lockFolder gives this process exclusive use of the folder until the lock is closed.
func lockFolder(dir string) (*folderLock, error) {
	name := filepath.Join(dir, lockName)
	f, err := newFile(name)
	if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(name, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, folderFault(err, dir)
	}
	free, err := tryLock(f)
	if free && err == nil {
		return &folderLock{f}, nil
	}
	f.Close()
	if err == nil {
		return nil, fault.New(fault.Conflict, "Another cloudburst process uses the data folder %s. Stop it, connect to its admin listener with --server, or name another folder with --data.", dir)
	}
	return nil, folderFault(err, dir)
}

// Close unlocks the folder explicitly. Closing the file is not sufficient: a child process that is
// being started holds a copy of the open file for a moment.
func (l *folderLock) Close() error { return errors.Join(unlock(l.File), l.File.Close()) }

// mark records that the folder contains a database from now on.
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

// marked reports whether a database was ever created in the folder.
func marked(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1))
	return len(b) > 0, err
}
