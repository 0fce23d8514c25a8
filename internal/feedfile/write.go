package feedfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cloudburst/feed"
)

// maxAttempts limits how often a file is read again after another program changed it.
const maxAttempts = 5

// lockPoll is the interval between attempts to take a lock.
const lockPoll = 20 * time.Millisecond

// Write adds an item to the feed in a file, or creates the feed described by Options.New. When it
// returns nil, the complete file is on disk; otherwise the file is unchanged.
//
// The file keeps its mode and owner, and a symbolic link stays a link. Processes that write to one
// folder are serialized, so no item is lost.
//
// Errors: an [*Error] with a sentence, or the error of ctx.
func Write(ctx context.Context, name string, it *feed.Item, o Options) (Added, error) {
	path, err := target(name)
	if err != nil {
		return Added{}, err
	}
	unlock, err := lock(ctx, filepath.Dir(path))
	if err != nil {
		return Added{}, err
	}
	defer unlock()
	for range maxAttempts {
		old, info, err := readFile(path)
		if err != nil {
			return Added{}, err
		}
		if info == nil && o.New == nil {
			return Added{}, refuse("there is no file %s", name)
		}
		out, added, err := Add(old, it, o)
		if err != nil {
			return Added{}, err
		}
		done, err := replace(path, out, info)
		if done || err != nil {
			return added, err
		}
	}
	return Added{}, refuse("%s is constantly changed by another program and was not changed: try again later", name)
}

// target resolves the symbolic links of a name.
func target(name string) (string, error) {
	path, err := filepath.EvalSymlinks(name)
	if err == nil {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			return "", refuse("%s is not a file", name)
		}
		return path, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// A regular file was created by another program in the meantime.
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", refuse("%s is a link to a file that is not there", name)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return "", refuse("there is no folder %s", filepath.Dir(name))
	}
	return filepath.Join(dir, filepath.Base(name)), nil
}

// readFile returns the content and state of a file; nil: it does not exist. A file without write
// permission is an error, although it could be replaced.
func readFile(path string) ([]byte, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, &Error{Msg: fmt.Sprintf("%s cannot be written: %v", path, pathCause(err)), Err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, nil, &Error{Msg: fmt.Sprintf("%s cannot be read: %v", path, pathCause(err)), Err: err}
	}
	if len(b) == 0 {
		return nil, nil, refuse("%s is empty: remove it to create a new feed", path)
	}
	return b, info, nil
}

func pathCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// replace atomically replaces the file. done is false if the file changed since it was read.
func replace(path string, content []byte, old os.FileInfo) (done bool, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*.tmp")
	if err != nil {
		return false, &Error{Msg: fmt.Sprintf("nothing can be written to the folder %s: %v", dir, pathCause(err)), Err: err}
	}
	defer os.Remove(f.Name()) // fails after the rename, which is fine
	_, err = f.Write(content)
	if err == nil {
		err = copyModeAndOwner(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return false, &Error{Msg: fmt.Sprintf("%s could not be written: %v", path, pathCause(err)), Err: err}
	}
	if !unchanged(path, old) {
		return false, nil
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return false, &Error{Msg: fmt.Sprintf("%s could not be written: %v", path, err), Err: err}
	}
	return true, syncDir(dir)
}

// newMode is the mode of a created feed: readable by all users.
const newMode = 0o644

// copyModeAndOwner gives f the mode and owner of old.
func copyModeAndOwner(f *os.File, old os.FileInfo) error {
	if old == nil {
		return f.Chmod(newMode)
	}
	if err := copyOwner(f, old); err != nil {
		return fmt.Errorf("its owner cannot be preserved (%w)", pathCause(err))
	}
	return f.Chmod(old.Mode().Perm())
}

// unchanged reports whether a file is still in the old state, or still missing.
func unchanged(path string, old os.FileInfo) bool {
	now, err := os.Stat(path)
	if old == nil || err != nil {
		return old == nil && errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(now, old) && now.Size() == old.Size() && now.ModTime().Equal(old.ModTime())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // the file is in place; a failed sync is no reason to undo that
	}
	defer d.Close()
	_ = d.Sync() // some systems cannot sync folders
	return nil
}

// waitForLock calls try until it takes the lock or ctx ends.
func waitForLock(ctx context.Context, dir string, try func() (bool, error)) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		free, err := try()
		if err != nil {
			return &Error{Msg: fmt.Sprintf("the folder %s cannot be locked: %v", dir, pathCause(err)), Err: err}
		}
		if free {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
