package powertest

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"cloudburst/lab/crashtest"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

// newNoted is a harness without its own file system. A process of lab/planted records the system
// calls of SQLite for its database and journal. A simulated disk repeats them, and the rest after
// a cut is written to the folder.
func newNoted(t *testing.T, seed uint64) *harness {
	t.Helper()
	w := &harness{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 11)), disk: NewDisk(), notes: filepath.Join(t.TempDir(), "notes")}
	if _, errno := w.disk.make(w.disk.root, "data", true, 0o700); errno != 0 {
		t.Fatal(errno)
	}
	w.disk.sync(w.disk.root)
	t.Cleanup(func() {
		if w.keeper != nil {
			w.keeper.rest()
		}
	})
	return w
}

// program is the package of the program for this harness.
func (w *harness) program() string {
	if w.notes != "" {
		return program.Planted
	}
	return program.Real
}

// soon is closed after d.
func soon(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// read does to the disk what a dead process did. What it was about to note when it died
// was not acknowledged by anybody.
func (w *harness) read() error {
	notes, err := os.ReadFile(w.notes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for in := bytes.NewReader(notes); ; {
		what, name, at, data, err := line(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.Join(w.adopt(), os.RemoveAll(w.notes))
		}
		if err == nil {
			err = w.disk.replay(what, filepath.Base(name), at, data)
		}
		if err != nil {
			return fmt.Errorf("%c of %s: %w", what, name, err)
		}
	}
}

// adopt copies the database to a disk without it. A process that crashed before it recorded the
// opening has not written to the database.
func (w *harness) adopt() error {
	text, err := os.ReadFile(filepath.Join(w.dir, "data", database))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return w.disk.replay('o', database, 0, text)
}

// line reads one note, as lab/planted writes it.
func line(in io.Reader) (what byte, name string, at int64, data []byte, err error) {
	head := make([]byte, 3)
	if _, err = io.ReadFull(in, head); err != nil {
		return
	}
	rest := make([]byte, int(binary.BigEndian.Uint16(head[1:]))+12)
	if _, err = io.ReadFull(in, rest); err != nil {
		return
	}
	n := len(rest) - 12
	data = make([]byte, binary.BigEndian.Uint32(rest[n+8:]))
	_, err = io.ReadFull(in, data)
	return head[0], string(rest[:n]), int64(binary.BigEndian.Uint64(rest[n:])), data, err
}

// replay does one thing that SQLite did. That a file is there outlives every cut: who
// synced its folder is not noted. That it is gone may be lost.
func (d *Disk) replay(what byte, name string, at int64, data []byte) error {
	dir := d.root.names["data"]
	n := dir.names[name]
	errno := syscall.Errno(0)
	switch {
	case what == 'o' && n == nil:
		if n, errno = d.make(dir, name, false, 0o600); errno == 0 {
			n.data, n.durable = data, slices.Clone(data) // an earlier process ended well
			errno = d.sync(dir)
		}
	case what == 'o':
	case n == nil:
		errno = syscall.ENOENT
	case what == 'w':
		errno = d.write(n, data, at)
	case what == 't':
		errno = d.truncate(n, at)
	case what == 's':
		errno = d.sync(n)
	case what == 'd':
		errno = d.remove(dir, name)
	case what == 'D':
		if errno = d.remove(dir, name); errno == 0 {
			errno = d.sync(dir)
		}
	default:
		return errors.New("it is not known what this is")
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// write puts what is left of the database into the folder.
func (w *harness) write() error {
	data := filepath.Join(w.dir, "data")
	old, err := filepath.Glob(filepath.Join(data, database+"*"))
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	for _, name := range w.disk.Files() {
		text, e := w.disk.ReadFile(name)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(w.dir, name), text, 0o600))
	}
	return err
}

// A process that crashes before opening the database, or while recording this, loses nothing.
func TestCrashBeforeTheDatabaseIsOpenLosesNothing(t *testing.T) {
	t.Parallel()
	for what, notes := range map[string]string{"no notes": "", "half a note": "o\x00\x04/a/c\x00"} {
		w := newNoted(t, 1)
		data := filepath.Join(w.dir, "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", filepath.Join(data, database))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('ann')"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if notes != "" {
			if err := os.WriteFile(w.notes, []byte(notes), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := w.cut(); err != nil {
				t.Fatal(err)
			}
		}
		if db, err = sql.Open("sqlite", filepath.Join(data, database)); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var name string
		if err := db.QueryRow("SELECT name FROM people").Scan(&name); err != nil || name != "ann" {
			t.Errorf("%s: found %q after two cuts (%v)", what, name, err)
		}
	}
}

// Where no disk can be mounted the power is cut all the same, and what is lost is seen.
func TestPowerIsCutWithoutADiskOfOurOwn(t *testing.T) {
	t.Parallel()
	s := seed(t)
	bin := build(t, program.Planted)
	t.Run("nothing is lost", func(t *testing.T) {
		t.Parallel()
		w := newNoted(t, s)
		w.strike = true
		r, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 6, Enough: w.lostSomething, Seed: s})
		outside.Fail(t, broken)
		if w.cuts < 6 || w.lost == 0 || r.Registered == 0 || w.keeper.checked == 0 {
			t.Errorf("%d cuts that changed %d files, %s: too little to prove anything", w.cuts, w.lost, r)
		}
	})
	t.Run("what is not synced", func(t *testing.T) {
		t.Parallel()
		for try := range uint64(5) {
			w := newNoted(t, s+try)
			w.strike = true
			w.from(func(o Op) Failure { return Failure{Ignore: o.Kind == "sync" && o.Path != "data"} })
			if _, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 4, Ordeal: 3, Settle: 10 * time.Second, Seed: s + try}); len(broken) > 0 {
				t.Log(broken[0])
				return
			}
		}
		t.Error("not seen in five runs")
	})
}
