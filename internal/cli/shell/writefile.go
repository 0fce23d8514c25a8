package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ReplaceFile replaces a regular file atomically by renaming a temporary file. It writes to other
// files, such as pipes and links, directly.
func ReplaceFile(name string, doc []byte) error {
	mode := os.FileMode(0o644)
	switch info, err := os.Lstat(name); {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(name, doc, mode)
	case err == nil:
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".convert-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(doc)
	for _, step := range []func() error{
		func() error { return tmp.Chmod(mode) },
		tmp.Close,
		func() error { return os.Rename(tmp.Name(), name) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		_ = tmp.Close()           // ignore the error: the first error is returned
		_ = os.Remove(tmp.Name()) // ignore the error, as above
	}
	return err
}

// WriteWhole writes a file atomically. An existing file stays until the new file is complete and
// synced to disk.
func WriteWhole[N int | int64](name string, write func(io.Writer) (N, error)) (n N, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return 0, fmt.Errorf("the export cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if n, err = write(f); err != nil {
		return n, err
	}
	if err = f.Sync(); err != nil {
		return n, fmt.Errorf("the export cannot be written: %w", err)
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return n, fmt.Errorf("the export cannot be put in its place: %w", err)
	}
	return n, f.Close()
}
