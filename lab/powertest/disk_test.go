package powertest

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// after returns the possible contents of a file after a power cut, found with many seeds. "-"
// means that the file does not exist.
func after(d *Disk, name string) map[string]bool {
	all := map[string]bool{}
	for seed := range uint64(200) {
		b, err := d.Cut(rand.New(rand.NewPCG(seed, 1))).ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			b = []byte("-")
		}
		all[string(b)] = true
	}
	return all
}

func only(t *testing.T, got map[string]bool, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d outcomes, want %q", len(got), want)
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("never %.20q", w)
		}
	}
}

func TestSyncedDataSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	d := NewDisk()
	n, _ := d.make(d.root, "a", false, 0o600)
	d.write(n, []byte("one"), 0)
	d.sync(n)
	if got := after(d, "a"); !got["-"] || !got["one"] || got[""] {
		t.Errorf("file with an unsynced name: %v", got)
	}
	d.sync(d.root)
	only(t, after(d, "a"), "one")
	d.write(n, []byte("two"), 0)
	only(t, after(d, "a"), "one", "two")
	d.sync(n)
	only(t, after(d, "a"), "two")
	b, _ := d.make(d.root, "b", false, 0o600)
	d.write(b, []byte("new"), 0)
	d.rename(d.root, "b", d.root, "a")
	got := after(d, "a")
	if !got["two"] || !got["new"] || !got[""] {
		t.Errorf("file without a sync before its rename: %v", got)
	}
}

func TestUnsyncedWriteIsTornAtSectorBoundaries(t *testing.T) {
	t.Parallel()
	d := NewDisk()
	n, _ := d.make(d.root, "a", false, 0o600)
	d.sync(d.root)
	d.write(n, []byte(strings.Repeat("a", 1024)), 0)
	d.sync(n)
	d.write(n, []byte(strings.Repeat("b", 1024)), 0)
	a, b := strings.Repeat("a", 512), strings.Repeat("b", 512)
	only(t, after(d, "a"), a+a, a+b, b+a, b+b)
}

func TestFailedSyncDiscardsUnsyncedChanges(t *testing.T) {
	t.Parallel()
	d := NewDisk()
	n, _ := d.make(d.root, "a", false, 0o600)
	d.sync(d.root)
	d.write(n, []byte("one"), 0)
	d.Fail(func(o Op) Failure { return Failure{Errno: syscall.EIO} })
	if errno := d.sync(n); errno != syscall.EIO {
		t.Error(errno)
	}
	d.Fail(nil)
	if errno := d.sync(n); errno != 0 {
		t.Error(errno)
	}
	only(t, after(d, "a"), "")
	if b, _ := d.ReadFile("a"); string(b) != "one" {
		t.Errorf("current content is %q", b)
	}
}

func TestFullDiskRejectsWritesAndStoppedDiskRejectsAllOperations(t *testing.T) {
	t.Parallel()
	d := NewDisk()
	n, _ := d.make(d.root, "a", false, 0o600)
	d.LimitSpace(3)
	if errno := d.write(n, []byte("four"), 0); errno != syscall.ENOSPC {
		t.Error(errno)
	}
	d.LimitSpace(0)
	stopped := d.StopAfter(1)
	if errno := d.write(n, []byte("four"), 0); errno != 0 {
		t.Error(errno)
	}
	if errno := d.sync(n); errno == 0 {
		t.Error("the disk did not stop")
	}
	<-stopped
}
