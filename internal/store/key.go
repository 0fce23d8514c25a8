package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
)

// keyEnd makes the name of the key beside a backup.
const keySuffix = ".key"

// BackupKey copies the key of the readers' secrets of a data folder beside a backup, where
// [Restore] finds it. It returns the copy's name; "" when the folder has no key. Whoever has
// both can read the secrets.
func BackupKey(dir, file string) (string, error) {
	key, err := os.ReadFile(filepath.Join(dir, KeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = writeNew(file+keySuffix, key)
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "The key %s could not be copied beside the backup.", filepath.Join(dir, KeyFile))
	}
	return file + keySuffix, nil
}

// sameKey refuses two folders with different keys, before anything is done.
func sameFolderKey(from, to string) error {
	if IsDatabaseURL(from) || IsDatabaseURL(to) {
		return nil
	}
	return compareKeys(filepath.Join(from, KeyFile), filepath.Join(to, KeyFile))
}

// differ refuses two keys that are not the same; a missing one is no other.
func compareKeys(from, to string) error {
	a, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	b, other := os.ReadFile(to)
	if errors.Is(other, fs.ErrNotExist) && err == nil {
		return nil
	}
	if err = errors.Join(err, other); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The keys %s and %s cannot be compared.", from, to)
	}
	if !bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) {
		return fault.New(fault.Conflict, "%s is another key than %s, and the secrets of private feeds can only be read with the one that they were made with: put the wrong one of the two away.", to, from)
	}
	return nil
}

// copyKey copies a key, if there is one, into a folder that has none. It returns the
// name of the copy.
func copyKey(from, dir string) (string, error) {
	key, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	to := filepath.Join(dir, KeyFile)
	if err == nil {
		if err = writeNew(to, key); errors.Is(err, fs.ErrExist) { // it is the same, see differ
			return "", nil
		}
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "The data is in its place, but the key %s could not be copied to %s: copy it by hand.", from, to)
	}
	return to, nil
}

// writeNew writes a file that must not exist yet, whole or not at all.
func writeNew(name string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+"-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return fs.ErrExist
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
