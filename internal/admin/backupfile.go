package admin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// maxKept is the maximum number of dated backups in a folder.
const maxKept = 10_000

// NewBackupFile returns the path of a new backup: file, or a dated name in folder, in which the
// keep newest backups are to remain; 0: all. Errors: fault.Invalid: not one of file and folder, a
// path that is not absolute, a folder that does not exist, or a keep that is out of range;
// Conflict: the file exists.
func NewBackupFile(file, folder string, keep int, now time.Time) (string, error) {
	switch {
	case (file == "") == (folder == ""):
		return "", fault.New(fault.Invalid, "A backup needs either file or folder.")
	case keep < 0 || keep > maxKept || keep > 0 && folder == "":
		return "", fault.New(fault.Invalid, "keep is %d: with a folder it may be a number up to %d, and 0 keeps all.", keep, maxKept)
	}
	if folder != "" {
		file = filepath.Join(folder, now.UTC().Format(backupLayout))
	}
	if !filepath.IsAbs(file) || strings.ContainsRune(file, 0) {
		return "", fault.New(fault.Invalid, "file is %q: it must be the absolute path of a file that does not exist yet.", text.Clip(file, 200))
	}
	if _, err := os.Lstat(file); err == nil {
		return "", fault.New(fault.Conflict, "%s already exists; a backup never overwrites a file: choose another name.", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fault.Wrap(fault.Invalid, err, "%s cannot be written", file)
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return "", fault.New(fault.Invalid, "The folder %s does not exist on the server: make it first.", filepath.Dir(file))
	}
	return file, nil
}

// RemoveOldBackups deletes the oldest dated backups in dir, with their key files, until only keep
// backups remain. newest is always one of the backups that remain. Other files are not touched.
func RemoveOldBackups(dir, newest string, keep int) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var old []string
	for _, e := range entries {
		if _, dated := backupTime(e.Name()); dated && e.Type().IsRegular() && filepath.Join(dir, e.Name()) != newest {
			old = append(old, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(old)
	for len(old) > keep-1 {
		if err := removeBackup(old[0]); err != nil {
			return removed, err
		}
		removed, old = append(removed, old[0]), old[1:]
	}
	return removed, nil
}

// removeBackup deletes a backup and the key next to it, if there is one.
func removeBackup(file string) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	if err := os.Remove(file + ".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
