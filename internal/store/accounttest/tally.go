package accounttest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func tallyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TallyIsReadAsWritten":                       wholeTally,
		"UnwrittenTallyDoesNotExist":                 tallyNotWritten,
		"ConcurrentCountsAreAllStored":               talliesAtOnce,
		"OldestTalliesAreTrimmed":                    trimTallies,
		"SpendingAddsUpAndExpires":                   spentAddsUp,
		"ConcurrentSpendingIsAllCounted":             spentAtOnce,
		"SweepRemovesFullAllowancesAndLimitsTheRest": sweepAllowances,
	}
}

func tallyKey(kind byte, n int) (k account.TallyKey) {
	copy(k[:], fmt.Sprintf("%c\x00\xff'%011d", kind, n))
	return k
}

func wholeTally(t *testing.T, e *env) {
	s := e.accounts(t)
	a, b, c := tallyKey('n', 1), tallyKey('s', 1), tallyKey('s', 2)
	want := []account.Tally{
		{Key: b, Change: 1 << 50, Failures: 3, Waits: 2, Since: e.Now, Last: e.In(time.Second), Until: e.In(time.Hour)},
		{Key: a, Change: 1, Failures: 1, Last: e.Now},
	}
	got, err := s.ChangeTallies(e.Ctx, []account.TallyKey{b, a}, func(list []account.Tally) bool {
		storetest.Same(t, "before", list, []account.Tally{{Key: b}, {Key: a}})
		copy(list, want)
		return true
	})
	storetest.Must(t, err)
	storetest.Same(t, "returned", got, want)
	got, err = s.Tallies(e.Ctx, []account.TallyKey{a, c, b})
	storetest.Must(t, err)
	storetest.Same(t, "kept", got, []account.Tally{want[1], {Key: c}, want[0]})
	got, err = s.Tallies(e.Ctx, nil)
	storetest.Must(t, err)
	storetest.Same(t, "tallies of no keys", len(got), 0)
}

func tallyNotWritten(t *testing.T, e *env) {
	s := e.accounts(t)
	k := tallyKey('n', 1)
	got, err := s.ChangeTallies(e.Ctx, []account.TallyKey{k}, func(list []account.Tally) bool {
		list[0].Failures = 7
		return false
	})
	storetest.Must(t, err)
	storetest.Same(t, "returned", got, []account.Tally{{Key: k, Failures: 7}})
	got, err = s.Tallies(e.Ctx, []account.TallyKey{k})
	storetest.Must(t, err)
	storetest.Same(t, "kept", got, []account.Tally{{Key: k}})
	n, err := s.TrimTallies(e.Ctx, 'n', e.In(time.Hour), 0, 10)
	storetest.Must(t, err)
	storetest.Same(t, "rows", n, int64(0))
}

func talliesAtOnce(t *testing.T, e *env) {
	s := e.accounts(t)
	const callers, rounds, keys = 8, 10, 3
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for range rounds {
				list := []account.TallyKey{tallyKey('n', 1), tallyKey('s', 1), tallyKey('z', 1)}
				if i%2 == 0 {
					slices.Reverse(list)
				}
				_, err := s.ChangeTallies(context.WithoutCancel(e.Ctx), list, func(list []account.Tally) bool {
					for i := range list {
						list[i].Failures++
						list[i].Change++
						list[i].Last = e.Now
					}
					return true
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.Tallies(e.Ctx, []account.TallyKey{tallyKey('n', 1), tallyKey('s', 1), tallyKey('z', 1)})
	storetest.Must(t, err)
	for _, v := range got {
		storetest.Same(t, "counted", v.Failures, callers*rounds)
		storetest.Same(t, "changes", v.Change, int64(callers*rounds))
	}
}

func trimTallies(t *testing.T, e *env) {
	s := e.accounts(t)
	for i := range 10 {
		for _, kind := range []byte("ns") {
			_, err := s.ChangeTallies(e.Ctx, []account.TallyKey{tallyKey(kind, i)}, func(list []account.Tally) bool {
				list[0].Change, list[0].Last = 1, e.In(time.Duration(i)*time.Minute)
				if i == 0 { // TrimTallies keeps the entry with the longest waiting time longest
					list[0].Until = e.In(time.Hour)
				}
				return true
			})
			storetest.Must(t, err)
		}
	}
	left := func() (left []int) {
		t.Helper()
		for i := range 10 {
			got, err := s.Tallies(e.Ctx, []account.TallyKey{tallyKey('n', i)})
			storetest.Must(t, err)
			if got[0].Change > 0 {
				left = append(left, i)
			}
		}
		return left
	}
	for _, step := range []struct {
		before      time.Time
		keep, limit int
		want        int64
		left        []int
	}{
		{e.Now, 100, 100, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{e.In(2 * time.Minute), 100, 1, 1, []int{0, 2, 3, 4, 5, 6, 7, 8, 9}},
		{e.In(2 * time.Minute), 7, 100, 2, []int{0, 4, 5, 6, 7, 8, 9}},
		{e.Now, 3, 2, 2, []int{0, 6, 7, 8, 9}},
		{e.Now, 3, 100, 2, []int{0, 8, 9}},
		{e.In(time.Hour), 3, 100, 3, nil},
	} {
		n, err := s.TrimTallies(e.Ctx, 'n', step.before, step.keep, step.limit)
		storetest.Must(t, err)
		storetest.Same(t, "trimmed", n, step.want)
		storetest.Same(t, "left", left(), step.left)
	}
	n, err := s.TrimTallies(e.Ctx, 's', e.Now, 0, 100)
	storetest.Must(t, err)
	storetest.Same(t, "tallies of another kind", n, int64(10))
}

// allowances returns the store as a hub.Allowances.
func (e *env) allowances(t *testing.T) hub.Allowances {
	t.Helper()
	s, ok := e.Store.(hub.Allowances)
	if !ok {
		t.Fatalf("%T is not a hub.Allowances", e.Store)
	}
	return s
}

func spentAddsUp(t *testing.T, e *env) {
	s := e.allowances(t)
	spend := func(now time.Time, want []time.Time, list ...hub.Spent) {
		t.Helper()
		got, err := s.Spend(e.Ctx, list, now)
		storetest.Must(t, err)
		storetest.Same(t, "until", got, want)
	}
	used := func(kind, key string, d time.Duration) hub.Spent { return hub.Spent{Kind: kind, Key: key, Used: d} }
	spend(e.Now, []time.Time{}, nil...)
	spend(e.Now, []time.Time{e.In(2 * time.Second), e.In(time.Second), e.In(3 * time.Second)},
		used("source", "\x00\xff", 2*time.Second), used("host", "\x00\xff", time.Second), used("source", "a", 3*time.Second))
	spend(e.In(time.Second), []time.Time{e.In(4 * time.Second), e.In(3*time.Second + 1*time.Millisecond)},
		used("source", "a", time.Second), used("host", "\x00\xff", 2*time.Second+1*time.Millisecond))
	spend(e.In(time.Minute), []time.Time{e.In(time.Minute + time.Second)}, used("source", "a", time.Second)) // a minute later, the whole allowance is available again
}

func spentAtOnce(t *testing.T, e *env) {
	s := e.allowances(t)
	const nodes, rounds, keys = 4, 5, 50
	var group sync.WaitGroup
	for node := range nodes {
		group.Go(func() {
			for range rounds {
				var list []hub.Spent
				for i := range keys {
					list = append(list, hub.Spent{Kind: "source", Key: fmt.Sprint(i), Used: time.Second})
				}
				if node%2 == 0 {
					slices.Reverse(list)
				}
				if _, err := s.Spend(e.Ctx, list, e.Now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.Spend(e.Ctx, []hub.Spent{{Kind: "source", Key: "0"}, {Kind: "source", Key: fmt.Sprint(keys - 1)}}, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "until", got, []time.Time{e.In(nodes * rounds * time.Second), e.In(nodes * rounds * time.Second)})
}

func sweepAllowances(t *testing.T, e *env) {
	s := e.allowances(t)
	for i := range 10 {
		_, err := s.Spend(e.Ctx, []hub.Spent{{Kind: "host", Key: string(bytes.Repeat([]byte{byte(i)}, 16)), Used: time.Duration(i) * time.Second}}, e.Now)
		storetest.Must(t, err)
	}
	for _, step := range []struct {
		now         time.Time
		keep, limit int
		want        int64
	}{{e.In(-time.Second), 10, 100, 0}, {e.In(3 * time.Second), 10, 2, 2}, {e.In(3 * time.Second), 10, 100, 2}, {e.In(3 * time.Second), 4, 1, 1}, {e.In(3 * time.Second), 4, 9, 1}, {e.In(time.Minute), 4, 9, 4}} {
		n, err := s.SweepAllowances(e.Ctx, step.now, step.keep, step.limit)
		storetest.Must(t, err)
		storetest.Same(t, "swept", n, step.want)
	}
}
