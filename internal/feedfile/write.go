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

// attempts is how often a file is read anew that another program changed meanwhile.
const maxAttempts = 5

// lockLook is how often it is looked whether another process is done.
const lockPoll = 20 * time.Millisecond

// Write adds an item to the feed in a file, or makes one where Options.New says what it is
// to be. When it returns nil the file is on disk, whole; otherwise it is as it was.
//
// The file keeps its mode and owner, and a link stays a link. Two processes that write to
// one folder do so one after the other, so that the items of both are there.
//
// Errors: an [*Error] with a sentence; what the context says.
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
	return Added{}, refuse("%s is changed by another program all the time, and was not touched", name)
}

// target is the file that a name stands for, behind its links.
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
	// A regular file is one that another program has made since.
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", refuse("%s is a link to a file that is not there", name)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return "", refuse("there is no folder %s", filepath.Dir(name))
	}
	return filepath.Join(dir, filepath.Base(name)), nil
}

// readFile reads a file and says what it is like; nil: there is none. One that may not be
// written is an error, though it could be replaced.
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
		return nil, nil, refuse("%s is empty: remove it, and a new feed is made", path)
	}
	return b, info, nil
}

func pathCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// replace puts a new file in the place of the old one, all at once. done is false when the
// old one is not any more what was read.
func replace(path string, content []byte, old os.FileInfo) (done bool, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*.tmp")
	if err != nil {
		return false, &Error{Msg: fmt.Sprintf("nothing can be written to the folder %s: %v", dir, pathCause(err)), Err: err}
	}
	defer os.Remove(f.Name()) // when it has its place there is none of this name
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

// newMode is that of a feed that is made: everybody may read it.
const newMode = 0o644

// dress gives a new file the mode and the owner of the old one.
func copyModeAndOwner(f *os.File, old os.FileInfo) error {
	if old == nil {
		return f.Chmod(newMode)
	}
	if err := copyOwner(f, old); err != nil {
		return fmt.Errorf("it belongs to somebody else, whose it would not be any more (%w)", pathCause(err))
	}
	return f.Chmod(old.Mode().Perm())
}

// unchanged reports that a file is still what it was, or still not there.
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
		return nil // it has its place; that this cannot be forced to disk is nothing to undo it for
	}
	defer d.Close()
	_ = d.Sync() // some systems do not know this of folders
	return nil
}

// waitTurn waits until try takes a lock.
func waitForLock(ctx context.Context, dir string, try func() (bool, error)) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		free, err := try()
		if err != nil {
			return &Error{Msg: fmt.Sprintf("the folder %s cannot be kept from others for a moment: %v", dir, pathCause(err)), Err: err}
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
