//go:build unix

package sqlite

import (
	"os"
	"syscall"
	"testing"
)

// A child process holds copies of all open files until it executes its own program.
func TestUnlockReleasesTheFolderEvenIfAChildProcessHasTheFileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	copied := os.NewFile(uintptr(fd), "copy")
	defer copied.Close()
	if _, err := lockFolder(dir); err == nil {
		t.Fatal("the folder was locked twice")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockFolder(dir)
	if err != nil {
		t.Fatalf("the lock was not released: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
