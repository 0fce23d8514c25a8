package powertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"cloudburst/lab/crashtest"
)

const database = "cloudburst.db"

// harness is a data folder whose power can be cut.
type harness struct {
	t     *testing.T
	dir   string // where it is for processes
	disk  *Disk
	notes string // where a process notes what SQLite writes; "": the folder is the disk
	rng   *rand.Rand
	fail  func(Op) Failure // what is wrong with the disk

	strike  bool // lives may end at an operation of the disk
	unmount func() error
	keeper  *keeper
	cuts    int
	lost    int // names and files that were not as they had been before a cut
	broken  []string
}

// newHarness mounts an empty disk. If this is not possible, processes record the writes of
// SQLite, and the disk is derived from the record.
func newHarness(t *testing.T, seed uint64) *harness {
	t.Helper()
	if *notesFlag {
		return newNoted(t, seed)
	}
	w := &harness{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 11)), disk: NewDisk()}
	var err error
	if w.unmount, err = mount(w.disk, w.dir); err != nil {
		t.Logf("the disk cannot be mounted (%v), which needs Linux, root and /dev/fuse (modprobe fuse, or packaging/setup-tests.sh). "+
			"The power is cut under SQLite's database and journal only: nothing is shown of other files, of names, and of disks that fail.", err)
		return newNoted(t, seed)
	}
	t.Cleanup(func() {
		if w.keeper != nil {
			w.keeper.rest()
		}
		if w.unmount == nil {
			return
		}
		if err := w.unmount(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// from has the disk fail from now on, as f says, after each cut too.
func (w *harness) from(f func(Op) Failure) {
	w.fail = f
	w.disk.Fail(f)
}

// next chooses how the next life ends: at an operation of the disk, or by the clock.
func (w *harness) next() <-chan struct{} {
	if w.rng.IntN(4) == 0 {
		return nil
	}
	if w.notes != "" {
		return soon(time.Duration(w.rng.IntN(400)) * time.Millisecond)
	}
	most := 40 // while it starts, mostly
	if w.rng.IntN(3) > 0 {
		most = 1500
	}
	return w.disk.StopAfter(1 + w.rng.IntN(most))
}

// cut is the power cut, and what is found afterwards.
func (w *harness) cut() error {
	if w.keeper != nil {
		w.keeper.rest()
	}
	if err := w.take(); err != nil {
		return err
	}
	w.cuts++
	before := w.disk
	w.disk = before.Cut(w.rng)
	w.lost += differences(before, w.disk)
	if broken, err := w.integrity(); err != nil {
		return err
	} else if broken != "" {
		w.broken = append(w.broken, fmt.Sprintf("damaged after cut %d: %s; the disk did last: %q", w.cuts, broken, before.Recent()))
	}
	w.disk.Fail(w.fail)
	return w.give()
}

// lostSomething reports whether a cut changed anything. Whether it does is chance: often
// everything is synced at that moment.
func (w *harness) lostSomething() bool { return w.lost > 0 }

// take takes the disk from a dead process.
func (w *harness) take() error {
	if w.notes != "" {
		return w.read()
	}
	if err := w.unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	w.unmount = nil
	return nil
}

// give gives the next process what is left.
func (w *harness) give() (err error) {
	if w.notes != "" {
		return w.write()
	}
	w.unmount, err = mount(w.disk, w.dir)
	return err
}

// differences is how many files a cut changed.
func differences(before, after *Disk) (n int) {
	for _, name := range before.Files() {
		a, _ := before.ReadFile(name)
		if b, err := after.ReadFile(name); err != nil || string(a) != string(b) {
			n++
		}
	}
	return n
}

// integrity is what SQLite says of the database that was found; "" is that it is whole.
func (w *harness) integrity() (string, error) {
	dir, err := os.MkdirTemp(w.t.TempDir(), "found")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for _, end := range []string{"", "-wal"} {
		b, err := w.disk.ReadFile("data/" + database + end)
		if errors.Is(err, fs.ErrNotExist) && end == "" {
			return "", nil // nothing was begun
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, database+end), b, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return whole(filepath.Join(dir, database))
}

// whole has SQLite look over a database.
func whole(file string) (string, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil {
		return err.Error(), nil
	}
	if verdict == "ok" {
		verdict = ""
	}
	return verdict, nil
}

// options are those of crashtest on this disk.
func (w *harness) options(o crashtest.Options) crashtest.Options {
	o.Dir, o.Data = w.t.TempDir(), filepath.Join(w.dir, "data")
	o.Dead = w.cut
	o.Alive = func(ctx context.Context, base, admin string) error { return w.keeper.live(ctx, base, admin) }
	if w.notes != "" {
		o.Env = append(slices.Clone(o.Env), "CLOUDBURSTWRITES="+w.notes)
	}
	if w.strike {
		o.Strike = w.next
	}
	return o
}
