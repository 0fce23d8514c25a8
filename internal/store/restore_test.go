package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
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

func closeStore(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// writeEvents writes events until stop is called and counts the acknowledged ones.
func writeEvents(t *testing.T, s store.Store) (acknowledged *atomic.Int64, stop func()) {
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
			t.Fatal("no event was written")
		}
	}
}

// TestBackupUnderLoadContainsAcknowledgedWrites makes backups of both databases, and restores each
// backup to both databases.
func TestBackupUnderLoadContainsAcknowledgedWrites(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]store.Options{"SQLite": {Dir: t.TempDir()}, "PostgreSQL": {DatabaseURL: storetest.Postgres(t)}} {
		s := open(t, o)
		n, stop := writeEvents(t, s)
		await(t, n, 50)
		file := filepath.Join(t.TempDir(), "copy.db")
		before := n.Load()
		if err := s.Backup(t.Context(), file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stop()
		closeStore(t, s)
		for _, to := range []string{filepath.Join(t.TempDir(), "data"), storetest.Postgres(t)} {
			var held int64
			_, err := store.Restore(t.Context(), store.RestoreOptions{File: file, To: to, Now: moment, Found: func(e *store.Examined) error {
				if held = e.Rows["event"]; held < before || held > n.Load()+1 {
					t.Errorf("%s: want %d to %d events, got %d", name, before, n.Load(), held)
				}
				if want := moment.Add(time.Duration(held) * time.Millisecond); !e.Newest.Equal(want) {
					t.Errorf("%s: the newest event is from %v, want %v", name, e.Newest, want)
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
			closeStore(t, back)
		}
	}
}

func optionsOf(place string) store.Options {
	if store.IsDatabaseURL(place) {
		return store.Options{DatabaseURL: place}
	}
	return store.Options{Dir: place}
}

// backupWithKey returns a valid backup with its key in a file next to it.
func backupWithKey(t *testing.T) string {
	t.Helper()
	dir, file := fullFolder(t, 40), filepath.Join(t.TempDir(), "copy.db")
	write(t, filepath.Join(dir, store.KeyFile), "the key\n")
	s := open(t, store.Options{Dir: dir})
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if _, err := store.BackupKey(dir, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestInvalidBackupChangesNothing(t *testing.T) {
	t.Parallel()
	text := read(t, backupWithKey(t))
	newer := filepath.Join(t.TempDir(), "newer.db")
	w, err := sqlite.Create(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`), w.Settle(t.Context()), w.Close()); err != nil {
		t.Fatal(err)
	}
	flipped := []byte(text)
	for i := len(flipped) / 2; i < len(flipped)/2+4096; i++ {
		flipped[i] ^= 0x5a
	}
	for name, tt := range map[string]struct{ text, want string }{
		"truncated": {text[:len(text)/2], "damaged"},
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
			t.Errorf("%s: the folder was created", name)
		}
	}
	live := filepath.Join(t.TempDir(), "live.db")
	write(t, live, text)
	write(t, live+"-wal", "journal")
	if _, err := store.Restore(t.Context(), store.RestoreOptions{File: live, To: t.TempDir(), Now: moment}); err == nil || !strings.Contains(err.Error(), "journal") {
		t.Error(err)
	}
}

// damages returns copies of a backup, each damaged in another way. seed selects the damaged bytes.
func damages(good []byte, seed uint64) map[string][]byte {
	random := rand.New(rand.NewPCG(seed, 1))
	inverted := bytes.Clone(good)
	for at, i := random.IntN(len(good)-16), 0; i < 16; i++ {
		inverted[at+i] ^= 0xff
	}
	letter := bytes.Clone(good)
	letter[bytes.Index(good, []byte("followed by many"))] ^= 0x20
	bit := bytes.Clone(good)
	bit[random.IntN(len(good))] ^= 1 << random.IntN(8)
	junk := make([]byte, 1+random.IntN(10_000))
	return map[string][]byte{
		"16 bytes inverted": inverted, "a letter changed": letter, "a bit changed": bit,
		"truncated": good[:1+random.IntN(len(good)-1)], "a byte less": good[:len(good)-1], "without its last line": good[:bytes.LastIndexByte(good[:len(good)-1], '\n')],
		"appended to": append(bytes.Clone(good), junk...), "a page appended": append(bytes.Clone(good), make([]byte, 4096)...), "twice": append(bytes.Clone(good), good...),
	}
}

func TestEveryDamagedBackupIsRejected(t *testing.T) {
	t.Parallel()
	for engine, o := range map[string]store.Options{"SQLite": {Dir: t.TempDir()}, "PostgreSQL": {DatabaseURL: storetest.Postgres(t)}} {
		s := open(t, o)
		if err := s.AppendEvents(t.Context(), []event.Event{{Node: 7, Seq: 1, At: moment, Kind: "ping", Text: "followed by many"}}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "copy.db")
		if err := s.Backup(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		if _, err := store.Restore(t.Context(), store.RestoreOptions{File: file, To: filepath.Join(t.TempDir(), "to"), Now: moment, Found: func(e *store.Examined) error {
			if sum, err := store.VerifyBackup(t.Context(), file); err != nil || len(sum) != 64 || e.SHA256 != sum {
				t.Errorf("%s: a valid backup has the sum %q, but %q was compared: %v", engine, sum, e.SHA256, err)
			}
			return nil
		}}); err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		good := []byte(read(t, file))
		for seed := range uint64(30) {
			for what, text := range damages(good, seed) {
				bad, to := filepath.Join(t.TempDir(), "bad.db"), filepath.Join(t.TempDir(), "to")
				write(t, bad, string(text))
				_, err := store.Restore(t.Context(), store.RestoreOptions{File: bad, To: to, Now: moment})
				if err == nil || !strings.Contains(err.Error(), bad) || fault.CodeOf(err) == fault.Internal || len(text) > 1000 && !strings.Contains(err.Error(), "damaged") {
					t.Errorf("%s, %s (seed %d): %v", engine, what, seed, err)
				}
				if _, err := os.Stat(to); err == nil {
					t.Errorf("%s, %s (seed %d): the folder was created", engine, what, seed)
				}
			}
		}
	}
}

// TestOtherToolsCanVerifyABackup follows the instructions for "head" and "sha256sum" in
// docs/guides/backup.md.
func TestOtherToolsCanVerifyABackup(t *testing.T) {
	t.Parallel()
	text := read(t, backupWithKey(t))
	lines := strings.Split(text, "\n")
	_, carried, _ := strings.Cut(lines[len(lines)-2], ": ")
	if sum := sha256.Sum256([]byte(text[:len(text)-117])); hex.EncodeToString(sum[:]) != carried {
		t.Errorf("the last line is %q, but the SHA-256 is %x", lines[len(lines)-2], sum)
	}
}

// TestBackupOfAnEarlierVersionIsRestoredUnverified uses the format without SHA-256.
func TestBackupOfAnEarlierVersionIsRestoredUnverified(t *testing.T) {
	t.Parallel()
	good := read(t, backupWithKey(t))
	old := []byte(good[:strings.LastIndexByte(good[:len(good)-1], '\n')])
	copy(old[68:72], "\x00\x00\x00\x00")
	file := filepath.Join(t.TempDir(), "old.db")
	write(t, file, string(old))
	dir := filepath.Join(t.TempDir(), "to")
	_, err := store.Restore(t.Context(), store.RestoreOptions{File: file, To: dir, Now: moment, Found: func(e *store.Examined) error {
		if e.SHA256 != "" {
			t.Errorf("%q was compared", e.SHA256)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(allRows(t, dir)["topic"]); n != 40 {
		t.Errorf("%d topics were restored", n)
	}
}

// TestDatabaseOfAStoppedServerIsRestored checks that a database that was restored and then used is
// not mistaken for a truncated backup.
func TestDatabaseOfAStoppedServerIsRestored(t *testing.T) {
	t.Parallel()
	dir, to := filepath.Join(t.TempDir(), "dir"), filepath.Join(t.TempDir(), "to")
	if _, err := store.Restore(t.Context(), store.RestoreOptions{File: backupWithKey(t), To: dir, Now: moment}); err != nil {
		t.Fatal(err)
	}
	s := open(t, store.Options{Dir: dir})
	var many []event.Event
	for seq := range int64(5000) {
		many = append(many, event.Event{Node: 7, Seq: seq + 1, At: moment, Kind: "ping", Text: strings.Repeat("x", 100)})
	}
	if err := s.AppendEvents(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	_, err := store.Restore(t.Context(), store.RestoreOptions{File: filepath.Join(dir, sqlite.File), To: to, Now: moment, Found: func(e *store.Examined) error {
		if e.Rows["event"] != 5040 {
			t.Errorf("%d events", e.Rows["event"])
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(allRows(t, to)["topic"]); n != 40 {
		t.Errorf("%d topics", n)
	}
}

func TestInterruptedRestoreKeepsOldDatabase(t *testing.T) {
	t.Parallel()
	file, dir := backupWithKey(t), fullFolder(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	o := store.RestoreOptions{File: file, To: dir, Replace: true, Now: moment, Found: func(*store.Examined) error { cancel(); return nil }}
	if _, err := store.Restore(ctx, o); err == nil {
		t.Fatal("the restore was not interrupted")
	}
	if n := len(allRows(t, dir)["topic"]); n != 2 {
		t.Errorf("%d topics are left of the old database", n)
	}
	// Open must reject an incomplete restore; the next restore deletes it.
	write(t, filepath.Join(dir, sqlite.Incomplete), "half")
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Error(err)
	}
	o.Found = nil
	r, err := store.Restore(t.Context(), o)
	if err != nil || r.Aside == "" || r.Key != filepath.Join(dir, store.KeyFile) || read(t, r.Key) != "the key\n" {
		t.Errorf("%+v %v", r, err)
	}
	if n := len(allRows(t, dir)["topic"]); n != 40 {
		t.Errorf("%d topics were restored", n)
	}
}
