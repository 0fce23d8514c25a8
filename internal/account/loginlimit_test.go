package account_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
)

// untilTooMany calls loginSource at most limit times, until the result is fault.TooMany. It returns
// the number of calls with other results, and the wait.
func untilTooMany(t *testing.T, limit int, loginSource func(i int) error) (n int, wait time.Duration) {
	t.Helper()
	for i := range limit {
		err := loginSource(i)
		if fault.CodeOf(err) == fault.TooMany {
			return i, fault.RetryAfter(err)
		}
		wantFault(t, err, fault.Refused)
	}
	return limit, 0
}

func TestFailedSignInsAtAllEndpointsCountTogether(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		endpoints := []func(from account.Caller, i int) error{
			func(from account.Caller, i int) error {
				_, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, from)
				return err
			},
			func(from account.Caller, i int) error {
				_, err := w.Token(w.ctx, fmt.Sprint("cb_", i), "read", from)
				return err
			},
			func(from account.Caller, i int) error {
				_, err := w.OpenByURL(w.ctx, "alice", private, fmt.Sprint(i), "x", from)
				return err
			},
			func(from account.Caller, i int) error {
				_, err := w.OpenByBasic(w.ctx, "alice", private, "alice", fmt.Sprint(i), from)
				return err
			},
			func(from account.Caller, i int) error {
				_, err := w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", fmt.Sprint(i)), from)
				return err
			},
			func(from account.Caller, _ int) error {
				_, err := w.AddFirst(w.ctx, "guess", "bob", right, from)
				return err
			},
		}
		names := []string{"page", "token", "url", "basic", "wsse", "setup"}
		n, wait := untilTooMany(t, 100, func(i int) error {
			from := at(fmt.Sprintf("192.0.2.%d", i)) // all addresses are in one network
			from.Via = names[i%len(names)]
			return endpoints[i%len(endpoints)](from, i)
		})
		if n != 20 || wait != time.Minute {
			t.Errorf("stopped after %d, for %v", n, wait)
		}
		for i, endpoint := range endpoints {
			if err := endpoint(at(home), i); fault.CodeOf(err) != fault.TooMany {
				t.Errorf("%s: %v", names[i], err)
			}
			if err := endpoint(at(away), i); fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s from elsewhere: %v", names[i], err)
			}
		}
		w.signIn("alice", right, at(home), fault.TooMany)
		w.wait(wait)
		w.signIn("alice", right, at(home), ok)
	})
}

func TestBlockedClientsCauseNoPasswordHashing(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		for i := range 20 {
			w.signIn("nobody"+fmt.Sprint(i), wrong, at(home), fault.Refused)
		}
		before := w.hashes.Load()
		texts := map[string]bool{}
		for _, name := range []string{"alice", "nobody1", "new", "ALICE"} {
			for _, password := range []string{right, wrong} {
				_, err := w.Check(w.ctx, name, password, at(home))
				wantFault(t, err, fault.TooMany)
				texts[fmt.Sprint(err, fault.RetryAfter(err))] = true
			}
		}
		if len(texts) != 1 || w.hashes.Load() != before {
			t.Errorf("%d hashes, messages %v", w.hashes.Load()-before, texts)
		}
	})
}

func TestDistributedGuessesOfOneUsersPasswordAreLimited(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alice", "nobody"} { // the limit is the same for existing and unknown names
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
				w.add("alice")
				w.signIn("alice", right, at(home), ok)
				w.withFailures(at(away))
				start, tried := time.Now(), 0
				var waits []time.Duration
				for time.Since(start) < 24*time.Hour {
					n, wait := untilTooMany(t, 100, func(int) error {
						tried++
						_, err := w.Check(w.ctx, name, wrong, w.withFailures(source(tried%5000)))
						return err
					})
					waits = append(waits, wait)
					if len(waits) == 1 && n != 10 || len(waits) > 1 && n != 2 {
						t.Fatalf("wait %d after %d failures, want 10 and then 2", len(waits), n)
					}
					w.signIn("alice", right, at(home), ok) // alice has logged in from this address before
					if name == "alice" {
						w.signIn("alice", right, w.withFailures(at(away)), fault.TooMany)
					}
					w.wait(wait)
				}
				if d := waits[:6]; d[0] != time.Minute || d[1] != 2*time.Minute || d[3] != 8*time.Minute || d[4] != 15*time.Minute || d[5] != 15*time.Minute {
					t.Errorf("waits %v", d)
				}
				if tried > 400 {
					t.Errorf("%d guesses in a day", tried)
				}
			})
		})
	}
}

func TestPasswordGuessesFromOneNetworkAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		start, tried := time.Now(), 0
		for time.Since(start) < 24*time.Hour {
			_, wait := untilTooMany(t, 100, func(int) error {
				tried++
				_, err := w.Check(w.ctx, fmt.Sprint("user", tried), wrong, at(fmt.Sprintf("2001:db8:0:%x::%x", tried%256, tried)))
				return err
			})
			w.wait(wait)
		}
		if tried > 250 {
			t.Errorf("%d guesses in a day", tried)
		}
		w.signIn("user", wrong, at("2001:db8:0:100::1"), fault.Refused) // this address is in another network
	})
}

func TestEquivalentClientAddressesShareOneSignInLimit(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"192.0.2.7", "192.0.2.255", "::ffff:192.0.2.7", "::ffff:c000:201"},
		{"2001:db8:0:0::1", "2001:db8:0:ff:ffff::", "2001:db8::%eth0"},
		{"fe80::1%eth0", "fe80::1%eth1", "fe80::2"},
	} {
		withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
			n, _ := untilTooMany(t, 100, func(i int) error {
				_, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, at(same[i%len(same)]))
				return err
			})
			if n != 20 {
				t.Errorf("%v: %d guesses", same, n)
			}
		})
	}
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) { // clients without an address are one source
		n, _ := untilTooMany(t, 100, func(i int) error {
			_, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, account.Caller{})
			return err
		})
		if n != 20 {
			t.Errorf("%d guesses", n)
		}
	})
}

func TestFailedSignInsOfAllClientsAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		w.signIn("alice", right, at(home), ok)
		n, wait := untilTooMany(t, 1000, func(i int) error {
			_, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, source(i))
			return err
		})
		if n != 300 || wait != time.Minute {
			t.Errorf("stopped after %d, for %v", n, wait)
		}
		w.signIn("bob", right, at(away), fault.TooMany)
		w.signIn("alice", right, at(home), ok) // alice has logged in from this address before
		w.wait(time.Minute)
		w.signIn("bob", right, at(away), ok)
	})
}

func TestKnownClientAddressIsNotLockedOut(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.signIn("alice", right, at(home), ok)
		w.restart() // the store has the address
		for i := range 40 {
			_, _ = w.Check(w.ctx, "alice", wrong, source(i))
			_, _ = w.Check(w.ctx, fmt.Sprint("user", i), wrong, at("192.0.2.99"))
		}
		w.signIn("bob", wrong, at(home), fault.TooMany)
		w.signIn("alice", right, at("192.0.2.8"), fault.TooMany) // this is another address in the same network
		w.signIn("alice", right, at(home), ok)
		// A password cannot be guessed without a limit from a known address either.
		n, _ := untilTooMany(t, 100, func(int) error { _, err := w.Check(w.ctx, "alice", wrong, at(home)); return err })
		if n != 10 {
			t.Errorf("%d guesses", n)
		}
		w.signIn("alice", right, at(home), fault.TooMany)
		w.wait(time.Minute)
		w.signIn("alice", right, at(home), ok)
	})
}

func TestSuccessfulSignInDoesNotResetFailedSignIns(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "mallory")
		n, _ := untilTooMany(t, 100, func(i int) error {
			_, err := w.Check(w.ctx, "mallory", right, at(home))
			must(t, err)
			_, err = w.Check(w.ctx, fmt.Sprint("user", i), wrong, at(home))
			return err
		})
		if n != 20 {
			t.Errorf("%d guesses", n)
		}
	})
}

func TestFailedSignInsExpire(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		for range 20 {
			n, _ := untilTooMany(t, 9, func(int) error { _, err := w.Check(w.ctx, "alice", wrong, at(home)); return err })
			if n != 9 {
				t.Fatalf("stopped after %d", n)
			}
			w.wait(15 * time.Minute)
		}
		guess := func(i int) error { _, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, at(home)); return err }
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute} {
			_, wait := untilTooMany(t, 100, guess)
			if wait != want {
				t.Errorf("wait %v, want %v", wait, want)
			}
			w.wait(wait)
		}
		w.wait(6 * time.Hour)
		if n, wait := untilTooMany(t, 100, guess); n != 20 || wait != time.Minute {
			t.Errorf("stopped after %d for %v", n, wait)
		}
	})
}

func TestConcurrentPasswordGuessesRespectTheLimit(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, account.Options{Waiting: 1000}, func(t *testing.T, w *harness) {
		w.add("alice")
		for i := range 500 {
			w.withFailures(source(i))
		}
		before := w.hashes.Load()
		var group sync.WaitGroup
		for i := range 500 {
			group.Go(func() { _, _ = w.Check(w.ctx, "alice", wrong, source(i)) })
		}
		group.Wait()
		if n := w.hashes.Load() - before; n > 10 {
			t.Errorf("%d passwords of one user were tried at the same time", n)
		}
		for i := range 500 {
			group.Go(func() { _, _ = w.Check(w.ctx, fmt.Sprint("user", i), wrong, at("203.0.113.5")) })
		}
		before = w.hashes.Load()
		group.Wait()
		if n := w.hashes.Load() - before; n > 20 {
			t.Errorf("%d passwords were tried from one network at the same time", n)
		}
	})
}

func TestStoreErrorIsNotCountedAsFailedSignIn(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		store := w.Store
		w.Store = unavailableStore{store}
		for range 100 {
			w.signIn("alice", wrong, at(home), fault.Unavailable)
			_, err := w.OpenByURL(w.ctx, "alice", private, "x", "y", at(home))
			wantFault(t, err, fault.Unavailable)
			_, err = w.Token(w.ctx, "cb_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "", at(home))
			wantFault(t, err, fault.Unavailable)
		}
		w.Store = store
		w.signIn("alice", right, at(home), ok)
	})
}

func TestFloodCannotEvictFailedSignInCounts(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Keys: 50}}, func(t *testing.T, w *harness) {
		w.add("alice", "mallory")
		if n, _ := untilTooMany(t, 100, func(i int) error { _, err := w.Check(w.ctx, "alice", wrong, w.withFailures(source(i))); return err }); n != 10 {
			t.Fatalf("%d guesses", n)
		}
		// Attempts with other names from a network that must wait evict no rows.
		_, _ = untilTooMany(t, 100, func(i int) error { _, err := w.Check(w.ctx, fmt.Sprint("user", i), wrong, at(away)); return err })
		for i := range 200 {
			w.signIn(fmt.Sprint("other", i), wrong, at(away), fault.TooMany)
		}
		// Successful log-ins from many networks evict no rows.
		for i := range 200 {
			w.signIn("mallory", right, source(1000+i), ok)
			w.signIn("mallory", right, source(1000+i), ok)
		}
		// Failures that count only for their source evict no rows.
		for i := range 200 {
			_, err := w.Token(w.ctx, "cb_x", "", source(2000+i))
			wantFault(t, err, fault.Refused)
		}
		w.wait(time.Second)
		w.signIn("alice", right, w.withFailures(at(home)), fault.TooMany)
	})
}

func TestClockSetBackDoesNotExtendSignInDelays(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		var back time.Duration
		w.Now = func() time.Time { return time.Now().Add(-back) }
		_, wait := untilTooMany(t, 100, func(i int) error { _, err := w.Check(w.ctx, "alice", wrong, at(home)); return err })
		if wait != time.Minute {
			t.Fatalf("a wait of %v", wait)
		}
		back = 24 * time.Hour
		w.signIn("alice", right, w.withFailures(at(away)), fault.TooMany)
		w.wait(15 * time.Minute) // longest wait of a name
		w.signIn("alice", right, at(away), ok)
	})
}

func TestConcurrentSignInsWithCorrectPasswordSucceed(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		var group sync.WaitGroup
		var in, sent atomic.Int64
		many := func(n int, password string) {
			for range n {
				group.Go(func() {
					_, err := w.Check(w.ctx, "alice", password, at(home))
					switch fault.CodeOf(err) {
					case fault.TooMany:
						sent.Add(1)
					case fault.Refused:
					default:
						must(t, err)
						in.Add(1)
					}
				})
			}
		}
		many(500, right)
		group.Wait()
		if in.Load() != 500 {
			t.Errorf("%d of 500 signed in, %d were rejected", in.Load(), sent.Load())
		}
		// Attempts that wait for earlier wrong attempts are rejected when the earlier attempts have
		// failed.
		before := w.hashes.Load()
		many(300, wrong)
		group.Wait()
		if n := w.hashes.Load() - before; n != 10 || sent.Load() != 290 {
			t.Errorf("%d were tried, %d rejected", n, sent.Load())
		}
	})
}

func TestFailedSignInsSurviveARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		n := 0
		guess := func(i int) error {
			_, err := w.Check(w.ctx, "alice", wrong, w.withFailures(source(n+i)))
			return err
		}
		for range 4 { // up to three failures in each process
			more, _ := untilTooMany(t, 3, guess)
			n += more
			w.restart()
		}
		if n != 10 {
			t.Errorf("%d guesses over restarts", n)
		}
		w.signIn("alice", right, w.withFailures(at(home)), fault.TooMany)
		w.restart()
		w.signIn("alice", right, at(home), fault.TooMany)
		if _, wait := untilTooMany(t, 1, guess); wait != time.Minute {
			t.Errorf("a wait of %v", wait)
		}
		w.wait(time.Minute)
		w.signIn("alice", right, at(home), ok)
		// The wait of a source survives a restart too.
		n, _ = untilTooMany(t, 100, func(i int) error { _, err := w.Token(w.ctx, fmt.Sprint(i), "", at(away)); return err })
		w.restart()
		_, err := w.Token(w.ctx, "x", "", at(away))
		wantFault(t, err, fault.TooMany)
		if n != 20 {
			t.Errorf("%d tokens were tried", n)
		}
	})
}

// readOnlyStore is a store that cannot write tallies.
type readOnlyStore struct{ account.Store }

func (readOnlyStore) ChangeTallies(context.Context, []account.TallyKey, func([]account.Tally) bool) ([]account.Tally, error) {
	return nil, errAway
}

func TestFailedSignInThatCannotBeStoredIsStillCounted(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.Store = readOnlyStore{w.Store}
		w.add("alice")
		for range 10 {
			w.signIn("alice", wrong, at(home), fault.Unavailable)
		}
		w.signIn("alice", wrong, at(home), fault.TooMany)
	})
}
