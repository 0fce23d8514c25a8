package account_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/argon2"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
)

// TestManyLogInsAtOnceTakeTheMemoryOfAFew makes real hashes, of 19 MiB each.
func TestManyLogInsAtOnceTakeTheMemoryOfAFew(t *testing.T) {
	t.Parallel()
	const all, atOnce, size = 500, 8, 19 << 20
	var running, most, peak, before atomic.Int64
	highest := func(of *atomic.Int64, n int64) {
		for old := of.Load(); n > old && !of.CompareAndSwap(old, n); old = of.Load() {
		}
	}
	memory := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	must(t, err)
	defer store.Close()
	a := &account.Accounts{Store: store, Options: account.Options{Hashes: atOnce, Waiting: all, Passes: 1, Limits: account.Limits{Minute: 2 * all},
		Hash: func(password, salt []byte, passes, memoryKiB uint32) []byte {
			highest(&most, running.Add(1))
			defer running.Add(-1)
			sum := argon2.IDKey(password, salt, passes, memoryKiB, 1, 32)
			highest(&peak, memory())
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
				name = fmt.Sprint("user", i) // most are refused, and take as much
			}
			if _, err := a.Check(t.Context(), name, password, source(i)); err == nil {
				in.Add(1)
			} else if fault.CodeOf(err) != fault.Refused && fault.CodeOf(err) != fault.TooMany {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most.Load() > atOnce || in.Load() == 0 {
		t.Errorf("%d hashes at once, %d log-ins", most.Load(), in.Load())
	}
	// What is in use, as much again that the collector has not come to, and some.
	if grown := peak.Load() - before.Load(); grown > 3*atOnce*size {
		t.Errorf("%d log-ins at once took %d MiB", all, grown>>20)
	}
}

func TestThoseWhoWaitToBeHashedAreFew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, ctx: t.Context(), dir: dir}
		var closed atomic.Bool
		hold := make(chan struct{})
		w.start(account.Options{Hashes: 3, Waiting: 7, Hash: func(password, salt []byte, passes, memory uint32) []byte {
			if closed.Load() {
				<-hold
			}
			return w.hash(password, salt, passes, memory)
		}})
		defer w.stop()
		w.add("alice")
		closed.Store(true)
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
		closed.Store(false)
		close(hold)
		group.Wait()
		if refused.Load()+in.Load() != 10 || busy.Load() != 20 {
			t.Errorf("%d refused, %d let in, %d sent away", refused.Load(), in.Load(), busy.Load())
		}
		// Those who were sent away did nothing wrong.
		w.try("alice", right, source(29), ok)
	})
}
