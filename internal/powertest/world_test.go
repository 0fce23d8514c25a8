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
	"testing"

	_ "modernc.org/sqlite"

	"cloudburst/internal/crashtest"
)

const database = "cloudburst.db"

// world is a folder whose power can be cut.
type world struct {
	t    *testing.T
	dir  string // where it is for processes
	disk *Disk  // nil: the folder's own file system, which cannot forget
	why  error  // there is no disk
	rng  *rand.Rand
	fail func(Op) Failure // what is wrong with the disk

	strike  bool // lives may end at an operation of the disk
	unmount func() error
	keeper  *keeper
	cuts    int
	lost    int // names and files that were not as they had been before a cut
	broken  []string
}

// newWorld mounts an empty disk.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 11)), disk: NewDisk()}
	if w.unmount, w.why = mount(w.disk, w.dir); w.why != nil {
		t.Logf("NO POWER IS CUT here, only processes die: the disk cannot be mounted (%v); this needs Linux, root and /dev/fuse", w.why)
		w.disk, w.unmount = nil, nil
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
func (w *world) from(f func(Op) Failure) {
	if w.fail = f; w.disk != nil {
		w.disk.Fail(f)
	}
}

// next chooses how the next life ends: at an operation of the disk, or by the clock.
func (w *world) next() <-chan struct{} {
	if w.disk == nil || w.rng.IntN(4) == 0 {
		return nil
	}
	most := 40 // while it starts, mostly
	if w.rng.IntN(3) > 0 {
		most = 1500
	}
	return w.disk.StopAfter(1 + w.rng.IntN(most))
}

// cut is the power cut, and what is found afterwards.
func (w *world) cut() error {
	if w.keeper != nil {
		w.keeper.rest()
	}
	if w.disk == nil {
		return nil
	}
	if err := w.unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	w.unmount = nil
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
	var err error
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
func (w *world) integrity() (string, error) {
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
func (w *world) options(o crashtest.Options) crashtest.Options {
	o.Dir, o.Data = w.t.TempDir(), filepath.Join(w.dir, "data")
	o.Dead = w.cut
	o.Alive = func(ctx context.Context, base, admin string) error { return w.keeper.live(ctx, base, admin) }
	if w.strike {
		o.Strike = w.next
	}
	return o
}
