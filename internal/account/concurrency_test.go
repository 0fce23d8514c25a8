package account_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/argon2"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

func TestPasswordsAreHashedByArgon2id(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	must(t, err)
	defer store.Close()
	a := &account.Accounts{Store: store}
	_, err = a.Add(t.Context(), "alice", right)
	must(t, err)
	_, hash, err := store.User(t.Context(), "alice")
	must(t, err)
	part := strings.Split(hash, "$") // the hash has the form $argon2id$v=19$m=19456,t=2,p=1$salt$sum
	if len(part) != 6 || strings.Join(part[:4], "$") != "$argon2id$v=19$m=19456,t=2,p=1" {
		t.Fatalf("stored as %s", hash)
	}
	salt, err := base64.RawStdEncoding.DecodeString(part[4])
	must(t, err)
	want := base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(right), salt, 2, 19<<10, 1, 32))
	if len(salt) != 16 || part[5] != want {
		t.Errorf("%d bytes of salt, the sum is %s, want %s", len(salt), part[5], want)
	}
	_, err = a.Check(t.Context(), "alice", wrong, at(home))
	wantFault(t, err, fault.Refused)
	_, err = a.Check(t.Context(), "alice", right, at(home))
	must(t, err)
}

// TestConcurrentSignInsUseBoundedMemory computes hashes that use as much memory as argon2id hashes.
func TestConcurrentSignInsUseBoundedMemory(t *testing.T) {
	t.Parallel()
	const atOnce, size = 8, 19 << 20
	all := fulltest.Size(500, 100)
	var running, maxRunning, peak, before atomic.Int64
	highest := func(of *atomic.Int64, n int64) {
		for old := of.Load(); n > old && !of.CompareAndSwap(old, n); old = of.Load() {
		}
	}
	memory := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	must(t, err)
	defer store.Close()
	a := &account.Accounts{Store: store, Options: account.Options{Hashes: atOnce, Waiting: all, Passes: 1, Limits: account.Limits{Minute: 2 * all},
		Hash: func(password, salt []byte, passes, memoryKiB uint32) []byte {
			highest(&maxRunning, running.Add(1))
			defer running.Add(-1)
			taken := make([]byte, memoryKiB<<10)
			for i := 0; i < len(taken); i += 4096 {
				taken[i] = 1
			}
			sum := argon2.IDKey(password, salt, passes, 8, 1, 32)
			highest(&peak, memory())
			runtime.KeepAlive(taken)
			return sum
		}}}
	_, err = a.Add(t.Context(), "alice", right)
	must(t, err)
	runtime.GC()
	before.Store(memory())
	var group sync.WaitGroup
	var in atomic.Int64
	for i := range all {
		group.Go(func() {
			name, password := "alice", right
			if i%10 != 0 {
				name = fmt.Sprint("user", i) // most log-ins fail, but their hashes use the same memory
			}
			if _, err := a.Check(t.Context(), name, password, source(i)); err == nil {
				in.Add(1)
			} else if fault.CodeOf(err) != fault.Refused && fault.CodeOf(err) != fault.TooMany {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if maxRunning.Load() > atOnce || in.Load() == 0 {
		t.Errorf("%d hashes at once, %d log-ins", maxRunning.Load(), in.Load())
	}
	// The limit allows for the memory of the hashes in use, the same amount of garbage that is not
	// collected yet, and a margin.
	if grown := peak.Load() - before.Load(); grown > 3*atOnce*size {
		t.Errorf("%d log-ins at once took %d MiB", all, grown>>20)
	}
}

func TestQueuedPasswordHashesAreLimited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &harness{t: t, ctx: t.Context(), dir: dir}
		var blocked atomic.Bool
		hold := make(chan struct{})
		w.start(account.Options{Hashes: 3, Waiting: 7, Hash: func(password, salt []byte, passes, memory uint32) []byte {
			if blocked.Load() {
				<-hold
			}
			return w.hash(password, salt, passes, memory)
		}})
		defer w.stop()
		w.add("alice")
		blocked.Store(true)
		var refused, in, busy atomic.Int64
		var group sync.WaitGroup
		for i := range 30 {
			group.Go(func() {
				name := "alice"
				if i%2 == 1 {
					name = fmt.Sprint("user", i)
				}
				_, err := w.Check(w.ctx, name, right, source(i))
				switch fault.CodeOf(err) {
				case fault.Refused:
					refused.Add(1)
				case fault.TooMany:
					busy.Add(1)
				default:
					must(t, err)
					in.Add(1)
				}
			})
		}
		synctest.Wait()
		blocked.Store(false)
		close(hold)
		group.Wait()
		if refused.Load()+in.Load() != 10 || busy.Load() != 20 {
			t.Errorf("%d refused, %d signed in, %d rejected as too many", refused.Load(), in.Load(), busy.Load())
		}
		// Rejected attempts are not counted as failures.
		w.signIn("alice", right, source(29), ok)
	})
}
