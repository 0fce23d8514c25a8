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

// newRecorded returns a harness that does not mount a disk. The program of lab/planted records
// the system calls of SQLite for the database and its journal. After a power cut, the harness
// repeats them on a simulated disk, and writes the surviving data to the folder.
func newRecorded(t *testing.T, seed uint64) *harness {
	t.Helper()
	w := &harness{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 11)), disk: NewDisk(), record: filepath.Join(t.TempDir(), "notes")}
	if _, errno := w.disk.make(w.disk.root, "data", true, 0o700); errno != 0 {
		t.Fatal(errno)
	}
	w.disk.sync(w.disk.root)
	t.Cleanup(func() {
		if w.keeper != nil {
			w.keeper.finish()
		}
	})
	return w
}

// program returns the package of the program that this harness needs.
func (w *harness) program() string {
	if w.record != "" {
		return program.Planted
	}
	return program.Real
}

// soon returns a channel that is closed after d.
func soon(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// replayRecord repeats the operations of a crashed process on the simulated disk. The last line
// of the record can be incomplete; the program did not acknowledge its operation.
func (w *harness) replayRecord() error {
	notes, err := os.ReadFile(w.record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for in := bytes.NewReader(notes); ; {
		what, name, at, data, err := line(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.Join(w.adopt(), os.RemoveAll(w.record))
		}
		if err == nil {
			err = w.disk.replay(what, filepath.Base(name), at, data)
		}
		if err != nil {
			return fmt.Errorf("%c of %s: %w", what, name, err)
		}
	}
}

// adopt copies the database to the simulated disk if the disk does not have it. It is called
// after a crash: a process that crashed before it recorded the opening of the database has not
// written to the database.
func (w *harness) adopt() error {
	text, err := os.ReadFile(filepath.Join(w.dir, "data", database))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return w.disk.replay('o', database, 0, text)
}

// line reads one operation in the format of lab/planted. It returns io.EOF at the end, and
// io.ErrUnexpectedEOF for an incomplete line.
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

// replay repeats one operation of SQLite. A new file survives every power cut, because the record
// does not contain syncs of its folder. A deletion can be lost.
func (d *Disk) replay(what byte, name string, at int64, data []byte) error {
	dir := d.root.names["data"]
	n := dir.names[name]
	errno := syscall.Errno(0)
	switch {
	case what == 'o' && n == nil:
		if n, errno = d.make(dir, name, false, 0o600); errno == 0 {
			n.data, n.durable = data, slices.Clone(data) // an earlier process stored this data and ended normally
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
		return errors.New("unknown operation")
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// writeDatabase writes the surviving database files to the folder.
func (w *harness) writeDatabase() error {
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

// A process that crashes before it opens the database, or while it records this, must not lose
// data.
func TestCrashBeforeTheDatabaseIsOpenLosesNoData(t *testing.T) {
	t.Parallel()
	for what, record := range map[string]string{"no record": "", "an incomplete record": "o\x00\x04/a/c\x00"} {
		w := newRecorded(t, 1)
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
		if record != "" {
			if err := os.WriteFile(w.record, []byte(record), 0o600); err != nil {
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

// The test simulates a power cut without a mounted disk, and checks that the harness detects the
// lost data.
func TestPowerTestDetectsDataLossOnARecordedDisk(t *testing.T) {
	t.Parallel()
	s := seed(t)
	bin := build(t, program.Planted)
	t.Run("nothing is lost", func(t *testing.T) {
		t.Parallel()
		w := newRecorded(t, s)
		w.crashAtOperation = true
		r, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 6, Enough: w.lostSomething, Seed: s})
		outside.Fail(t, broken)
		if w.cuts < 6 || w.lost == 0 || r.Registered == 0 || w.keeper.checked == 0 {
			t.Errorf("%d cuts that changed %d files, %s: too few events to prove anything", w.cuts, w.lost, r)
		}
	})
	t.Run("unsynced writes are lost", func(t *testing.T) {
		t.Parallel()
		for try := range uint64(5) {
			w := newRecorded(t, s+try)
			w.crashAtOperation = true
			w.failFromNowOn(func(o Op) Failure { return Failure{Ignore: o.Kind == "sync" && o.Path != "data"} })
			if _, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 4, TargetEvery: 3, Settle: 10 * time.Second, Seed: s + try}); len(broken) > 0 {
				t.Log(broken[0])
				return
			}
		}
		t.Error("no loss in five runs")
	})
}
