package account_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// lockOut reaches the limit of a name with failures from four networks, at most six from each
// network.
func (w *harness) lockOut(name string) {
	for i := range 24 {
		_, _ = w.Check(w.ctx, name, wrong, source(9000+i%4))
	}
}

func TestOwnerSignsInFromANewAddressDuringAnAttack(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.lockOut("alice")
		w.restart()
		before := time.Now()
		w.signIn("alice", right, at(home), ok)
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("the log-in took %v", took)
		}
		w.signIn("alice", right, at(home), ok) // from now on, the address is known for alice
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("two log-ins took %v", took)
		}
		w.signIn("alice", right, w.withFailures(at(away)), fault.TooMany) // the network has many failures
	})
}

// TestPasswordGuessesForOneNameAreLimited simulates an attack of two hours from many networks.
func TestPasswordGuessesForOneNameAreLimited(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alice", "nobody"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
				w.add("alice")
				start, before := time.Now(), w.hashes.Load()
				for i := 0; time.Since(start) < 2*time.Hour; i++ {
					_, err := w.Check(w.ctx, name, wrong, source(i))
					if fault.CodeOf(err) == fault.TooMany {
						w.wait(fault.RetryAfter(err))
					}
				}
				// Expect one slot every 10 s, the limit of the name, and two attempts after each wait
				// of a minute or more.
				if n := w.hashes.Load() - before; n < 600 || n > 2*360+10+2*12 {
					t.Errorf("%d guesses in two hours", n)
				}
			})
		})
	}
}

func TestWaitingSignInAttemptsForOneNameAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.lockOut("alice")
		before, start := w.hashes.Load(), time.Now()
		var group sync.WaitGroup
		var tooMany atomic.Int64
		for i := range 200 {
			group.Go(func() {
				_, err := w.Check(w.ctx, "alice", wrong, source(i))
				if fault.CodeOf(err) == fault.TooMany {
					tooMany.Add(1)
					if time.Since(start) > 0 || fault.RetryAfter(err) < time.Second || fault.RetryAfter(err) > paceStep {
						t.Errorf("after %v: %v, retry after %v", time.Since(start), err, fault.RetryAfter(err))
					}
				}
			})
		}
		group.Wait()
		if n := w.hashes.Load() - before; n < 2 || n > 3 || n+tooMany.Load() != 200 || time.Since(start) != 2*paceStep {
			t.Errorf("%d were tried within %v, %d were refused", n, time.Since(start), tooMany.Load())
		}
	})
}

const paceStep = 10 * time.Second

func TestSignInRateOfANameSurvivesARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.lockOut("alice")
		w.wait(20 * time.Second)
		w.signIn("alice", wrong, source(1), fault.Refused)
		w.restart()
		before := time.Now()
		w.signIn("alice", right, at(home), ok)
		if took := time.Since(before); took != paceStep {
			t.Errorf("the log-in took %v", took)
		}
	})
}

// TestNumberOfWaitingSignInAttemptsIsBounded simulates an attack on many names, first from one
// network and then from many networks.
func TestNumberOfWaitingSignInAttemptsIsBounded(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Waiting: 40, Limits: account.Limits{Minute: 1 << 30}}, func(t *testing.T, w *harness) {
		const names = 30
		for n := range names {
			for i := range 10 {
				_, _ = w.Check(w.ctx, fmt.Sprint("user", n), wrong, source(n*16+i))
			}
			_, _ = w.Check(w.ctx, fmt.Sprint("user", n), wrong, source(7000+n)) // takes the free slot of the name
		}
		attack := func(from func(i int) account.Caller) (left int64) {
			ctx, cancel := context.WithCancel(w.ctx)
			defer cancel()
			var ended atomic.Int64
			var group sync.WaitGroup
			for i := range 3 * names {
				group.Go(func() {
					_, _ = w.Check(ctx, fmt.Sprint("user", i%names), wrong, from(i))
					ended.Add(1)
				})
			}
			synctest.Wait()
			left = 3*names - ended.Load()
			cancel()
			group.Wait()
			return left
		}
		if n := attack(func(int) account.Caller { return at(home) }); n > 5 {
			t.Errorf("%d from one network wait", n)
		}
		if n := attack(func(i int) account.Caller { return source(8000 + i) }); n == 0 || n > 10 {
			t.Errorf("%d wait, want at most a quarter of 40", n)
		}
		// Other names are not affected, and no attempt is waiting any more.
		w.add("alice")
		w.signIn("alice", right, at(away), ok)
		w.wait(time.Hour)
		if n := attack(func(i int) account.Caller { return source(9000 + i) }); n != 0 {
			t.Errorf("an hour later %d wait", n)
		}
	})
}

func TestClockSetBackDoesNotBlockSignIns(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		var back time.Duration
		w.Now = func() time.Time { return time.Now().Add(-back) }
		w.lockOut("alice")
		back = 24 * time.Hour
		before := time.Now()
		w.signIn("alice", right, at(home), ok)
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("the log-in took %v", took)
		}
	})
}
