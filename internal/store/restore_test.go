package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/storetest"
)

func open(t *testing.T, o store.Options) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// busy writes one event after the other, of which it counts those that were acknowledged,
// until stop.
func busy(t *testing.T, s store.Store) (acknowledged *atomic.Int64, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	acknowledged = &atomic.Int64{}
	go func() {
		for seq := int64(1); ; seq++ {
			err := s.AppendEvents(ctx, []event.Event{{Node: 7, Seq: seq, At: moment.Add(time.Duration(seq) * time.Millisecond), Kind: "ping", Text: fmt.Sprint(seq)}})
			if err != nil {
				if ctx.Err() != nil {
					err = nil
				}
				done <- err
				return
			}
			acknowledged.Store(seq)
		}
	}()
	return acknowledged, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func await(t *testing.T, n *atomic.Int64, least int64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n.Load() < least {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("nothing is written")
		}
	}
}

// TestABackupUnderLoadHasAllThatWasAcknowledgedBefore holds for both databases, and that
// the copy of either can be restored to either.
func TestABackupUnderLoadHasAllThatWasAcknowledgedBefore(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]store.Options{"SQLite": {Dir: t.TempDir()}, "PostgreSQL": {DatabaseURL: storetest.Postgres(t)}} {
		s := open(t, o)
		n, stop := busy(t, s)
		await(t, n, 50)
		file := filepath.Join(t.TempDir(), "copy.db")
		before := n.Load()
		if err := s.Backup(t.Context(), file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stop()
		shut(t, s)
		for _, to := range []string{filepath.Join(t.TempDir(), "data"), storetest.Postgres(t)} {
			var held int64
			_, err := store.Restore(t.Context(), store.RestoreOptions{File: file, To: to, Now: moment, Found: func(e *store.Examined) error {
				if held = e.Rows["event"]; held < before || held > n.Load()+1 {
					t.Errorf("%s: of %d to %d events it holds %d", name, before, n.Load(), held)
				}
				if want := moment.Add(time.Duration(held) * time.Millisecond); !e.Newest.Equal(want) {
					t.Errorf("%s: the newest is of %v, not %v", name, e.Newest, want)
				}
				return nil
			}})
			if err != nil {
				t.Fatalf("%s to %s: %v", name, to, err)
			}
			back := open(t, optionsOf(to))
			list, err := back.Events(t.Context(), hub.EventQuery{Limit: 1})
			if err != nil || len(list) != 1 || list[0].Text != fmt.Sprint(held) {
				t.Errorf("%s to %s: the newest event is %+v, %v", name, to, list, err)
			}
			if err := back.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			shut(t, back)
		}
	}
}

func optionsOf(place string) store.Options {
	if store.IsAddress(place) {
		return store.Options{DatabaseURL: place}
	}
	return store.Options{Dir: place}
}

// aBackup is a good one with the key beside it.
func aBackup(t *testing.T) string {
	t.Helper()
	dir, file := fullFolder(t, 40), filepath.Join(t.TempDir(), "copy.db")
	write(t, filepath.Join(dir, store.KeyFile), "the key\n")
	s := open(t, store.Options{Dir: dir})
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	if _, err := store.BackupKey(dir, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWhatIsNoGoodBackupChangesNothing(t *testing.T) {
	t.Parallel()
	good := aBackup(t)
	bytes := read(t, good)
	newer := filepath.Join(t.TempDir(), "newer.db")
	w, err := sqlite.Create(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`), w.Settle(t.Context()), w.Close()); err != nil {
		t.Fatal(err)
	}
	flipped := []byte(bytes)
	for i := len(flipped) / 2; i < len(flipped)/2+4096; i++ {
		flipped[i] ^= 0x5a
	}
	for name, tt := range map[string]struct{ text, want string }{
		"truncated": {bytes[:len(bytes)/2], "damaged"},
		"flipped":   {string(flipped), "damaged"},
		"empty":     {"", "empty"},
		"text":      {strings.Repeat("hello ", 1000), "not an SQLite database"},
		"newer":     {read(t, newer), "newer cloudburst"},
	} {
		file, to := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "to")
		write(t, file, tt.text)
		_, err := store.Restore(t.Context(), store.RestoreOptions{File: file, To: to, Replace: true, Now: moment})
		if err == nil || !strings.Contains(err.Error(), tt.want) || fault.CodeOf(err) == fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s: the folder was made", name)
		}
	}
	live := filepath.Join(t.TempDir(), "live.db")
	write(t, live, bytes)
	write(t, live+"-wal", "journal")
	if _, err := store.Restore(t.Context(), store.RestoreOptions{File: live, To: t.TempDir(), Now: moment}); err == nil || !strings.Contains(err.Error(), "journal") {
		t.Error(err)
	}
}

func TestARestoringThatIsBrokenOffKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	file, dir := aBackup(t), fullFolder(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	o := store.RestoreOptions{File: file, To: dir, Replace: true, Now: moment, Found: func(*store.Examined) error { cancel(); return nil }}
	if _, err := store.Restore(ctx, o); err == nil {
		t.Fatal("it was not broken off")
	}
	if n := len(everything(t, dir)["topic"]); n != 2 {
		t.Errorf("%d topics are left of what was there", n)
	}
	// What a death in the middle leaves is not opened, and the next restoring takes it away.
	write(t, filepath.Join(dir, sqlite.Incomplete), "half")
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "broken off") {
		t.Error(err)
	}
	o.Found = nil
	r, err := store.Restore(t.Context(), o)
	if err != nil || r.Aside == "" || r.Key != filepath.Join(dir, store.KeyFile) || read(t, r.Key) != "the key\n" {
		t.Errorf("%+v %v", r, err)
	}
	if n := len(everything(t, dir)["topic"]); n != 40 {
		t.Errorf("%d topics were restored", n)
	}
}

func TestBothDatabasesSayHowTheyAre(t *testing.T) {
	t.Parallel()
	for engine, o := range map[string]store.Options{"SQLite": {Dir: t.TempDir()}, "PostgreSQL": {DatabaseURL: storetest.Postgres(t)}} {
		s := open(t, o)
		feed := "http://feeds.example/late.xml"
		if err := s.RecordPing(t.Context(), feed, moment, moment, []event.Event{{Node: 1, Seq: 1, At: moment, Kind: "ping"}, {Node: 1, Seq: 2, At: moment, Kind: "ping", OK: true}}); err != nil {
			t.Fatal(err)
		}
		d, err := s.(examiner).Checkup(t.Context(), moment.Add(30*time.Minute))
		if err != nil || d.Engine != engine || d.Schema != d.Newest || d.Schema == 0 || d.Took <= 0 || !d.LastEvent.Equal(moment) {
			t.Errorf("%+v %v", d, err)
		}
		// A server of the tests may do without fsync, and says so.
		told := func(knob string) bool { return d.Knobs[knob] == "on" || d.Knobs[knob] == "off" }
		if engine == "PostgreSQL" && (!told("fsync") || !told("full_page_writes") || d.Knobs["synchronous_commit"] != "on" || d.Clock.Abs() > time.Minute) {
			t.Errorf("%+v", d)
		}
		if len(d.Hour) != 1 || d.Hour[0].N != 2 || d.Hour[0].Failed != 1 {
			t.Errorf("%s: the last hour: %+v", engine, d.Hour)
		}
		late := int64(0)
		for _, l := range d.Late {
			late += l.N
		}
		if late != 1 {
			t.Errorf("%s: late: %+v", engine, d.Late)
		}
		shut(t, s)
	}
}
