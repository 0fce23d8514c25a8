//go:build unix

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// tryLock locks f for this process; free is false if another process holds the lock. The system
// releases the lock when the process ends for any reason.
func tryLock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock of f, including copies of f in other processes.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// KeepOwner gives a file that this process has just created to the owner of its folder, if this
// process is root. Otherwise the server, which is another user, could not open the files that a
// command of root created. It ignores failures: some file systems have no owners.
func KeepOwner(f *os.File) {
	dir, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if owner, ok := dir.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// foreignFile returns the first of the named files that belongs to another user than its folder,
// which belongs to the user uid; "": there is none.
func foreignFile(uid int, dir string, names ...string) string {
	owner := func(name string) int {
		if info, err := os.Lstat(name); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				return int(s.Uid)
			}
		}
		return uid
	}
	for _, name := range names {
		if name = filepath.Join(dir, name); owner(dir) == uid && owner(name) != uid {
			return name
		}
	}
	return ""
}
