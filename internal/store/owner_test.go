//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"cloudburst/internal/store"
)

// nobody is the user of the server in this test.
const nobody = 65534

// foreignFolder returns a folder of another user. The test needs root for it.
func foreignFolder(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Skip(err)
	}
	return dir
}

// wantOwner verifies that all files in a folder belong to its owner.
func wantOwner(t *testing.T, dir string, least int) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody {
			t.Errorf("%s belongs to %d:%d", name, s.Uid, s.Gid)
		}
		n++
		return nil
	})
	if err != nil || n < least {
		t.Errorf("%d files, %v", n, err)
	}
}

func TestFilesThatRootCreatesBelongToTheOwnerOfTheFolder(t *testing.T) {
	t.Parallel()
	opened := foreignFolder(t)
	s := open(t, store.Options{Dir: opened})
	wantOwner(t, opened, 4) // with the journal
	closeStore(t, s)

	restored := foreignFolder(t)
	o := store.RestoreOptions{File: backupWithKey(t), To: restored, Replace: true, Now: moment}
	for range 2 {
		if _, err := store.Restore(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		wantOwner(t, restored, 4)
	}

	moved := foreignFolder(t)
	move(t, fullFolder(t, 1), moved)
	wantOwner(t, moved, 3)
}

func TestRootGivesAwayNoFileBehindASymbolicLink(t *testing.T) {
	t.Parallel()
	dir, other := foreignFolder(t), filepath.Join(t.TempDir(), "other")
	write(t, other, "")
	if err := os.Symlink(other, filepath.Join(dir, "cloudburst.lock")); err != nil {
		t.Fatal(err)
	}
	closeStore(t, open(t, store.Options{Dir: dir}))
	info, err := os.Stat(other)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestKeyNextToABackupIsNotForTheOwnerOfItsFolder(t *testing.T) {
	t.Parallel()
	data, to := t.TempDir(), foreignFolder(t)
	if err := os.WriteFile(filepath.Join(data, store.KeyFile), []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	name, err := store.BackupKey(data, filepath.Join(to, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the key belongs to %d and has the mode %s", s.Uid, info.Mode())
	}
}
