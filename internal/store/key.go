package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
)

// KeySuffix is appended to the name of a backup to name the copy of its key.
const KeySuffix = ".key"

// BackupKey copies the key of the readers' secrets from a data folder to a file next to the backup,
// where [Restore] finds it. It returns the name of the copy, or "" if the folder has no key. Anyone
// with both files can read the secrets.
func BackupKey(dir, file string) (string, error) {
	key, err := os.ReadFile(filepath.Join(dir, KeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = writeNew(file+KeySuffix, key, func(*os.File) {}) // not for the owner of the folder
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "The key %s could not be copied next to the backup.", filepath.Join(dir, KeyFile))
	}
	return file + KeySuffix, nil
}

// sameFolderKey rejects two folders with different keys before anything is changed.
func sameFolderKey(from, to string) error {
	if IsDatabaseURL(from) || IsDatabaseURL(to) {
		return nil
	}
	return compareKeys(filepath.Join(from, KeyFile), filepath.Join(to, KeyFile))
}

// compareKeys returns a fault.Conflict if both key files exist and differ.
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
		return fault.New(fault.Conflict, "%s differs from %s. The secrets of private feeds can only be read with the key that encrypted them: move the wrong key away.", to, from)
	}
	return nil
}

// copyKey copies a key file into a folder, unless the folder has the key already. It returns the name
// of the key in the folder, or "" if there is no key to copy.
func copyKey(from, dir string) (string, error) {
	key, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	to := filepath.Join(dir, KeyFile)
	if err == nil {
		if err = WriteNew(to, key); errors.Is(err, fs.ErrExist) { // compareKeys has verified that the existing key is identical
			return to, nil
		}
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "The data was copied, but the key %s could not be copied to %s: copy it manually.", from, to)
	}
	return to, nil
}

// WriteNew writes a file (0600) atomically; the file must not exist yet (fs.ErrExist). If this
// process is root, the file gets the owner of its folder.
func WriteNew(name string, text []byte) error { return writeNew(name, text, sqlite.KeepOwner) }

func writeNew(name string, text []byte, own func(*os.File)) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+"-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	own(f)
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil { // the link fails if another process has created the file first
		if _, there := os.Lstat(name); !errors.Is(there, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(f.Name(), name); err != nil { // some file systems have no hard links
			return err
		}
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
