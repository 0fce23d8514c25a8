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

// harness is a data folder on a disk, with simulated power cuts.
type harness struct {
	t      *testing.T
	dir    string // mount point of the disk, or the folder with the files if the disk is not mounted
	disk   *Disk
	record string // file in which a process records the writes of SQLite; "" if the disk is mounted
	rng    *rand.Rand
	fail   func(Op) Failure // decides the failures of the disk; nil for no failures

	crashAtOperation bool // a process may crash at any operation of the disk
	unmount          func() error
	keeper           *keeper
	cuts             int
	lost             int // number of files that power cuts changed
	broken           []string
}

// newHarness mounts an empty disk. If this is not possible, the harness records SQLite's system
// calls instead, and repeats them on a simulated disk; see newRecorded.
func newHarness(t *testing.T, seed uint64) *harness {
	t.Helper()
	if *notesFlag {
		return newRecorded(t, seed)
	}
	w := &harness{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 11)), disk: NewDisk()}
	var err error
	if w.unmount, err = mount(w.disk, w.dir); err != nil {
		t.Logf("the disk cannot be mounted (%v), which needs Linux, root and /dev/fuse (modprobe fuse, or packaging/setup-tests.sh). "+
			"This run cuts the power for SQLite's database and journal only. It does not test other files, names, or failing disks.", err)
		return newRecorded(t, seed)
	}
	t.Cleanup(func() {
		if w.keeper != nil {
			w.keeper.finish()
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

// failFromNowOn sets the failures of the disk. They continue after each power cut.
func (w *harness) failFromNowOn(f func(Op) Failure) {
	w.fail = f
	w.disk.Fail(f)
}

// nextCrash chooses when the next process crashes. The returned channel is closed when the
// process must crash. A nil channel selects a random time.
func (w *harness) nextCrash() <-chan struct{} {
	if w.rng.IntN(4) == 0 {
		return nil
	}
	if w.record != "" {
		return soon(time.Duration(w.rng.IntN(400)) * time.Millisecond)
	}
	most := 40 // these operations are mostly during the start
	if w.rng.IntN(3) > 0 {
		most = 1500
	}
	return w.disk.StopAfter(1 + w.rng.IntN(most))
}

// cut simulates a power cut. It replaces the disk by the surviving data, and checks the database
// in this data.
func (w *harness) cut() error {
	if w.keeper != nil {
		w.keeper.finish()
	}
	if err := w.detach(); err != nil {
		return err
	}
	w.cuts++
	before := w.disk
	w.disk = before.Cut(w.rng)
	w.lost += differences(before, w.disk)
	if broken, err := w.integrity(); err != nil {
		return err
	} else if broken != "" {
		w.broken = append(w.broken, fmt.Sprintf("damaged after cut %d: %s; last operations of the disk: %q", w.cuts, broken, before.Recent()))
	}
	w.disk.Fail(w.fail)
	return w.attach()
}

// lostSomething reports whether any power cut changed a file. Many power cuts change none,
// because all data was synced.
func (w *harness) lostSomething() bool { return w.lost > 0 }

// detach gets the disk from a crashed process.
func (w *harness) detach() error {
	if w.record != "" {
		return w.replayRecord()
	}
	if err := w.unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	w.unmount = nil
	return nil
}

// attach provides the surviving data to the next process.
func (w *harness) attach() (err error) {
	if w.record != "" {
		return w.writeDatabase()
	}
	w.unmount, err = mount(w.disk, w.dir)
	return err
}

// differences returns the number of files that differ after a power cut.
func differences(before, after *Disk) (n int) {
	for _, name := range before.Files() {
		a, _ := before.ReadFile(name)
		if b, err := after.ReadFile(name); err != nil || string(a) != string(b) {
			n++
		}
	}
	return n
}

// integrity returns the damage that SQLite finds in the surviving database, or "" if there is
// none.
func (w *harness) integrity() (string, error) {
	dir, err := os.MkdirTemp(w.t.TempDir(), "found")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for _, end := range []string{"", "-wal"} {
		b, err := w.disk.ReadFile("data/" + database + end)
		if errors.Is(err, fs.ErrNotExist) && end == "" {
			return "", nil // the process crashed before it created the database
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, database+end), b, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return integrityOf(filepath.Join(dir, database))
}

// integrityOf returns the damage that SQLite's integrity check finds in a database, or "" if
// there is none.
func integrityOf(file string) (string, error) {
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

// options returns o with the data folder on this disk, and with the hooks that simulate power
// cuts.
func (w *harness) options(o crashtest.Options) crashtest.Options {
	o.Dir, o.Data = w.t.TempDir(), filepath.Join(w.dir, "data")
	o.AfterCrash = w.cut
	o.AfterStart = func(ctx context.Context, base, admin string) error { return w.keeper.start(ctx, base, admin) }
	if w.record != "" {
		o.Env = append(slices.Clone(o.Env), "CLOUDBURSTWRITES="+w.record)
	}
	if w.crashAtOperation {
		o.CrashSignal = w.nextCrash
	}
	return o
}
