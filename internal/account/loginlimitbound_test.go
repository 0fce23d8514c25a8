package account_test

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
)

func TestNumberOfCachedFailedSignInsIsBounded(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t)
	withHarness(t, account.Options{Limits: account.Limits{Keys: 50, Minute: 1 << 30}}, func(t *testing.T, w *harness) {
		w.add("alice")
		for i := range 2000 {
			w.signIn(fmt.Sprint("user", i), wrong, source(i), fault.Refused)
			if i%5 == 0 { // repeated attempts prevent the eviction of the row of alice
				_, _ = w.Check(w.ctx, "alice", wrong, w.withFailures(source(10_000+i)))
			}
		}
		w.signIn("alice", right, w.withFailures(at(home)), fault.TooMany)
	})
}

func TestStoredFailedSignInsAreBoundedAndExpire(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, account.Options{Limits: account.Limits{Keys: 64, Minute: 1 << 30}}, func(t *testing.T, w *harness) {
		w.add("alice")
		n, _ := untilTooMany(t, 100, func(i int) error { _, err := w.Check(w.ctx, "alice", wrong, w.withFailures(source(i))); return err })
		for i := range 1000 {
			w.signIn(fmt.Sprint("user", i), wrong, source(i), fault.Refused)
		}
		w.restart()
		w.wait(time.Second)
		w.signIn("alice", right, w.withFailures(at(home)), fault.TooMany) // the row of a name that must wait is not evicted
		if n != 10 {
			t.Errorf("%d guesses", n)
		}
		rows := func() (all int64) {
			for _, kind := range []byte("noprsz") {
				kept, err := w.store.TrimTallies(w.ctx, kind, time.Now().Add(24*time.Hour), 0, 100_000)
				must(t, err)
				all += kept
			}
			return all
		}
		if kept := rows(); kept > 2*(64+64/16)+20 {
			t.Errorf("%d rows", kept)
		}
		w.signIn("user", wrong, at(home), fault.Refused)
		w.wait(7 * time.Hour)
		must(t, w.Sweep(w.ctx))
		if kept := rows(); kept != 0 {
			t.Errorf("%d rows after the sweep", kept)
		}
	})
}
