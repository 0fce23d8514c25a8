package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// holdFolder is an environment variable. It makes the test binary a second process that locks the
// folder until its input ends.
const holdFolder = "CLOUDBURST_TEST_HOLD_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdFolder); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

func hold(dir string) int {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := s.RecordPing(context.Background(), feed, moment(), moment(), nil); err != nil {
		fmt.Println(err)
		return 1
	}
	defer runtime.KeepAlive(s) // closing the file would release the lock
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the other side closes it or kills this process
	return 0
}

// second starts the second process and waits until it has locked the folder.
func second(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdFolder+"="+dir)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // a killed process has already ended
	})
	said := make([]byte, 4096)
	n, _ := out.Read(said)
	if got := string(said[:n]); got != "held\n" {
		t.Fatalf("the second process printed %q", got)
	}
	return cmd
}

func TestSecondProcessCannotOpenTheDatabaseFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	second(t, dir)
	_, err := Open(t.Context(), Options{Dir: dir})
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(fault.Message(err), dir) {
		t.Fatalf("got %v, want an error that names %s", err, dir)
	}
}

func TestProcessCannotOpenTheSameDatabaseTwice(t *testing.T) {
	t.Parallel()
	s := open(t, Options{})
	_, err := Open(t.Context(), Options{Dir: filepath.Dir(s.file)})
	if fault.CodeOf(err) != fault.Conflict {
		t.Fatalf("got %v", err)
	}
}

func TestKilledProcessLosesNoAcknowledgedWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := second(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed by the test
	s := open(t, Options{Dir: dir})
	topic, err := s.Topic(t.Context(), hub.TopicID(feed))
	if err != nil || !topic.PingedAt.Equal(moment()) {
		t.Fatalf("topic after the crash: %+v, %v", topic, err)
	}
}

func TestRecoverReleasesClaimsOfEarlierRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now, until := moment(), moment().Add(time.Hour)
	s := open(t, Options{Dir: dir})
	pending := subscription(1)
	pending.NextAt = now
	retried := hub.TopicID(feed)
	steps := []error{
		s.Subscribe(t.Context(), []string{feed}, []hub.Subscription{pending}, nil),
		s.RecordPing(t.Context(), feed+"2", now, now, nil),
		s.RecordPing(t.Context(), feed+"3", now, until, nil), // a check of the earlier run was reading this feed
		s.RecordPing(t.Context(), feed+"4", now, until, nil), // this feed cannot be read, so it keeps its own due time
		s.Request(t.Context(), []hub.Intent{{TopicID: 1, ID: 1, DueAt: now}, {TopicID: 1, ID: 2, DueAt: now.Add(time.Minute)}}, nil),
	}
	if _, err := s.ClaimIntents(t.Context(), now, until, 10, 5); err != nil {
		t.Fatal(err)
	}
	_, err1 := s.CommitCheck(t.Context(), hub.Check{TopicID: retried, URL: feed, StartedAt: now, Now: now, Changed: true, Node: 1, ClaimShards: 1, ClaimUntil: until})
	_, err4 := s.CommitCheck(t.Context(), hub.Check{TopicID: hub.TopicID(feed + "4"), URL: feed + "4", StartedAt: now, Now: now, Err: "gone", Retry: until})
	_, err2 := s.ClaimRetries(t.Context(), now, until, 10, 5)
	checks, err3 := s.ClaimChecks(t.Context(), now, until, 10)
	if err := errors.Join(append(steps, err1, err2, err3, err4, s.Close())...); err != nil || len(checks) != 1 {
		t.Fatal(err, checks)
	}
	s = open(t, Options{Dir: dir})
	if shards, err := s.ClaimShards(t.Context(), 2, now, until, 10); err != nil || len(shards) != 0 {
		t.Fatalf("before Recover: %v, %v", shards, err)
	}
	if err := s.Recover(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	shards, err1 := s.ClaimShards(t.Context(), 2, now, until, 10)
	retries, err2 := s.ClaimRetries(t.Context(), now, until, 10, 6)
	checks, err3 = s.ClaimChecks(t.Context(), now, until, 10)
	if err := errors.Join(err1, err2, err3); err != nil || len(shards) != 1 || len(retries) != 1 || len(checks) != 2 {
		t.Fatalf("due after Recover: %d shards, %d retries, %d checks (%v), want 1, 1 and 2", len(shards), len(retries), len(checks), err)
	}
	if intents, err := s.ClaimIntents(t.Context(), now, until, 10, 6); err != nil || len(intents) != 1 || intents[0].ID != 1 {
		t.Errorf("requests due after Recover: %+v, %v, want the claimed one", intents, err)
	}
	if shards[0].Epoch != 2 {
		t.Errorf("the new owner has epoch %d, want 2", shards[0].Epoch)
	}
}

// fillDisk writes subscriptions until the disk is full and returns how many were acknowledged.
func fillDisk(t *testing.T, s *Store, from int) int {
	t.Helper()
	for n := from; n < from+1_000_000; n += 50 {
		subs := make([]hub.Subscription, 50)
		for i := range subs {
			subs[i] = subscription(n + i)
		}
		err := s.Subscribe(t.Context(), []string{feed}, subs, nil)
		if err == nil {
			continue
		}
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), "is full") {
			t.Fatalf("a full disk causes %v", err)
		}
		if fault.RetryAfter(err) <= 0 {
			t.Error("the fault of a full disk has no RetryAfter")
		}
		return n
	}
	t.Fatal("the disk is never full")
	return 0
}

// stored counts the unexpired subscriptions.
func stored(t *testing.T, s *Store) int {
	t.Helper()
	counts, err := s.Counts(t.Context(), moment())
	if err != nil {
		t.Fatal(err)
	}
	return int(counts.Subscriptions)
}

func TestFullDatabaseReturnsErrorAndRecovers(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	fulltest.Long(t)
	s := open(t, Options{MaxPages: 400})
	n := fillDisk(t, s, 0)
	if got := stored(t, s); got != n {
		t.Fatalf("%d are stored, %d were acknowledged", got, n)
	}
	if _, err := s.writer.conn.ExecContext(t.Context(), "PRAGMA max_page_count = 1000"); err != nil {
		t.Fatal(err)
	}
	more := fillDisk(t, s, n)
	if got := stored(t, s); got != more || more == n {
		t.Fatalf("%d are stored, %d were acknowledged, %d before there was more space", got, more, n)
	}
}

func TestAcknowledgedChangesAreCountedOnFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, Options{MaxPages: 400})
	good := 0
	for ; ; good++ {
		list := []hub.Change{{Node: 1, Seq: int64(good + 1), At: moment(), Name: strings.Repeat("x", 4000)}}
		if err := s.Announce(t.Context(), list, []string{fmt.Sprint(feed, good)}, moment(), moment(), nil); err != nil {
			if fault.CodeOf(err) != fault.Unavailable {
				t.Fatal(err)
			}
			break
		}
	}
	n, err1 := s.CountChanges(t.Context())
	list, err2 := s.Changes(t.Context(), hub.ChangeQuery{Limit: 10_000})
	counts, err3 := s.Counts(t.Context(), moment())
	if err := errors.Join(err1, err2, err3); err != nil || n != int64(good) || len(list) != good || counts.Topics != n {
		t.Errorf("%d were acknowledged; %d counted, %d listed, %d pinged (%v)", good, n, len(list), counts.Topics, err)
	}
}

func TestOperationOnFullDiskDoesNotAffectOthersInItsBatch(t *testing.T) {
	t.Parallel()
	s := open(t, Options{MaxPages: 400})
	n := fillDisk(t, s, 0)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			if i%2 == 0 { // these fail because the disk is full
				subs := make([]hub.Subscription, 500)
				for j := range subs {
					subs[j] = subscription(10_000_000 + i*1000 + j)
				}
				if err := s.Subscribe(t.Context(), []string{feed}, subs, nil); fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("adding 500 to a full database: %v", err)
				}
				return
			}
			if _, err := s.Unsubscribe(t.Context(), []hub.Key{subscription(i).Key()}, nil); err != nil {
				t.Errorf("removing one from a full database: %v", err)
			}
		})
	}
	group.Wait()
	if got := stored(t, s); got != n-32 {
		t.Errorf("%d are stored, want %d", got, n-32)
	}
}

// tmpfs mounts a small file system; this requires root.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Log("mounting requires root: only PRAGMA max_page_count simulates a full disk")
		return ""
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("mounting failed (%v): only PRAGMA max_page_count simulates a full disk", err)
		return ""
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullFileSystemReturnsErrorAndRecovers(t *testing.T) {
	t.Parallel()
	dir := tmpfs(t, "4m")
	if dir == "" {
		return
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Dir: dir})
	n := fillDisk(t, s, 0)
	if got := stored(t, s); got != n {
		t.Fatalf("%d are stored, %d were acknowledged", got, n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Fatalf("Ping after space was freed: %v", err)
	}
	more := fillDisk(t, s, n)
	if more == n {
		t.Fatal("nothing could be stored after space was freed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, open(t, Options{Dir: dir})); got != more {
		t.Errorf("%d are stored after a restart, %d were acknowledged", got, more)
	}
}

func TestOpenOnFullDiskReportsFullDisk(t *testing.T) {
	t.Parallel()
	dir := tmpfs(t, "64k")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 60<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	if fault.CodeOf(err) != fault.Unavailable {
		t.Fatalf("got %v", err)
	}
}

func TestReadOnlyDatabaseFolderIsRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Getuid() == 0 { // root ignores file modes
		if dir = tmpfs(t, "4m"); dir == "" {
			t.Fatal("root cannot test a read-only folder without mounting; run the tests as another user or with CAP_SYS_ADMIN")
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "below")} {
		_, err := Open(t.Context(), Options{Dir: d})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), d) {
			t.Errorf("got %v, want an error that names %s", err, d)
		}
	}
}

// closed creates a store with some rows and returns its folder and the bytes of the file.
func closed(t *testing.T, n int) (dir string, content []byte) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Options{Dir: dir})
	fill(t, s, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	return dir, content
}

func TestDamagedDatabaseFileIsRejectedUnchanged(t *testing.T) {
	t.Parallel()
	dir, good := closed(t, 3000)
	rng := rand.New(rand.NewPCG(1, 2))
	flip := func(from, to, n int) []byte {
		bad := bytes.Clone(good)
		for range n {
			bad[from+rng.IntN(to-from)] ^= 1 << rng.IntN(8)
		}
		return bad
	}
	for name, bad := range map[string][]byte{
		"empty":                   {},
		"truncated header":        good[:60],
		"truncated to a page":     good[:4096],
		"truncated in the middle": good[:len(good)/2],
		"truncated in a page":     good[:len(good)-1000],
		"another file":            bytes.Repeat([]byte("not a database\n"), 1000),
		"header flipped":          flip(0, 16, 3),
		"pages flipped":           flip(4096, len(good), len(good)/20),
		"zeroes from the middle":  append(bytes.Clone(good[:len(good)/2]), make([]byte, len(good)/2)...),
	} {
		if err := os.WriteFile(filepath.Join(dir, File), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), Options{Dir: dir})
		if err == nil {
			s.Close()
			t.Errorf("%s: the store was opened", name)
			continue
		}
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), "damaged") || !strings.Contains(fault.Message(err), dir) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(filepath.Join(dir, File)); err != nil || !bytes.Equal(after, bad) {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, File), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, open(t, Options{Dir: dir})); got != 3000 {
		t.Errorf("%d are stored after the good file was put back", got)
	}
}

func TestJournalWithoutDatabaseIsRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wal := filepath.Join(dir, File+"-wal")
	if err := os.WriteFile(wal, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), wal) {
		t.Fatalf("got %v", err)
	}
	if after, err := os.ReadFile(wal); err != nil || string(after) != "something" {
		t.Errorf("the journal was changed: %q, %v", after, err)
	}
}

func TestNewerSchemaIsRejectedUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	if _, err := s.writer.conn.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err1 := os.ReadFile(s.file)
	_, err := Open(t.Context(), Options{Dir: dir})
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(fault.Message(err), "9999") {
		t.Fatalf("got %v, want an error that names schema 9999", err)
	}
	after, err2 := os.ReadFile(s.file)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestDatabaseFolderAndFilesAreAccessibleToOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, Options{Dir: dir})
	fill(t, s, 1)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestBackupCanBeOpened(t *testing.T) {
	t.Parallel()
	s := open(t, Options{})
	fill(t, s, 1000)
	dir := t.TempDir()
	if err := s.Backup(t.Context(), filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 2000)
	if got := stored(t, open(t, Options{Dir: dir})); got != 1000 {
		t.Errorf("the copy has %d subscriptions, want 1000", got)
	}
}

func TestNormalOperationLogsNothing(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, 10)
	if err := s.Close(); err != nil || log.Len() > 0 {
		t.Errorf("%v, %s", err, log.String())
	}
}
