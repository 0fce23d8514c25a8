package storetest

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
)

func tallyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ATallyComesBackWhole":                     wholeTally,
		"WhatIsNotWrittenIsNotThere":               tallyNotWritten,
		"ManyWhoCountAtOnceAreAllCounted":          talliesAtOnce,
		"TheOldestTalliesMakeRoom":                 trimTallies,
		"WhatIsUsedAddsUpAndRunsOut":               spentAddsUp,
		"ManyWhoUseTheSameAtOnceAreAllCounted":     spentAtOnce,
		"WhatIsWholeAgainIsSweptAndTheRestBounded": sweepAllowances,
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
		{Key: b, Change: 1 << 50, Failures: 3, Waits: 2, Since: e.now, Last: e.in(time.Second), Until: e.in(time.Hour)},
		{Key: a, Change: 1, Failures: 1, Last: e.now},
	}
	got, err := s.ChangeTallies(e.ctx, []account.TallyKey{b, a}, func(list []account.Tally) bool {
		same(t, "before", list, []account.Tally{{Key: b}, {Key: a}})
		copy(list, want)
		return true
	})
	must(t, err)
	same(t, "returned", got, want)
	got, err = s.Tallies(e.ctx, []account.TallyKey{a, c, b})
	must(t, err)
	same(t, "kept", got, []account.Tally{want[1], {Key: c}, want[0]})
	got, err = s.Tallies(e.ctx, nil)
	must(t, err)
	same(t, "of no keys", len(got), 0)
}

func tallyNotWritten(t *testing.T, e *env) {
	s := e.accounts(t)
	k := tallyKey('n', 1)
	got, err := s.ChangeTallies(e.ctx, []account.TallyKey{k}, func(list []account.Tally) bool {
		list[0].Failures = 7
		return false
	})
	must(t, err)
	same(t, "returned", got, []account.Tally{{Key: k, Failures: 7}})
	got, err = s.Tallies(e.ctx, []account.TallyKey{k})
	must(t, err)
	same(t, "kept", got, []account.Tally{{Key: k}})
	n, err := s.TrimTallies(e.ctx, 'n', e.in(time.Hour), 0, 10)
	must(t, err)
	same(t, "rows", n, int64(0))
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
				_, err := s.ChangeTallies(context.WithoutCancel(e.ctx), list, func(list []account.Tally) bool {
					for i := range list {
						list[i].Failures++
						list[i].Change++
						list[i].Last = e.now
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
	got, err := s.Tallies(e.ctx, []account.TallyKey{tallyKey('n', 1), tallyKey('s', 1), tallyKey('z', 1)})
	must(t, err)
	for _, v := range got {
		same(t, "counted", v.Failures, callers*rounds)
		same(t, "changes", v.Change, int64(callers*rounds))
	}
}

func trimTallies(t *testing.T, e *env) {
	s := e.accounts(t)
	for i := range 10 {
		for _, kind := range []byte("ns") {
			_, err := s.ChangeTallies(e.ctx, []account.TallyKey{tallyKey(kind, i)}, func(list []account.Tally) bool {
				list[0].Change, list[0].Last = 1, e.in(time.Duration(i)*time.Minute)
				if i == 0 { // who has to wait longest is remembered longest
					list[0].Until = e.in(time.Hour)
				}
				return true
			})
			must(t, err)
		}
	}
	left := func() (left []int) {
		t.Helper()
		for i := range 10 {
			got, err := s.Tallies(e.ctx, []account.TallyKey{tallyKey('n', i)})
			must(t, err)
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
		{e.now, 100, 100, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{e.in(2 * time.Minute), 100, 1, 1, []int{0, 2, 3, 4, 5, 6, 7, 8, 9}},
		{e.in(2 * time.Minute), 7, 100, 2, []int{0, 4, 5, 6, 7, 8, 9}},
		{e.now, 3, 2, 2, []int{0, 6, 7, 8, 9}},
		{e.now, 3, 100, 2, []int{0, 8, 9}},
		{e.in(time.Hour), 3, 100, 3, nil},
	} {
		n, err := s.TrimTallies(e.ctx, 'n', step.before, step.keep, step.limit)
		must(t, err)
		same(t, "trimmed", n, step.want)
		same(t, "left", left(), step.left)
	}
	n, err := s.TrimTallies(e.ctx, 's', e.now, 0, 100)
	must(t, err)
	same(t, "of another kind", n, int64(10))
}

// allowances is the store's part for rates.
func (e *env) allowances(t *testing.T) hub.Allowances {
	t.Helper()
	s, ok := e.Store.(hub.Allowances)
	if !ok {
		t.Fatalf("%T is no hub.Allowances", e.Store)
	}
	return s
}

func spentAddsUp(t *testing.T, e *env) {
	s := e.allowances(t)
	spend := func(now time.Time, want []time.Time, list ...hub.Spent) {
		t.Helper()
		got, err := s.Spend(e.ctx, list, now)
		must(t, err)
		same(t, "until", got, want)
	}
	used := func(kind, key string, d time.Duration) hub.Spent { return hub.Spent{Kind: kind, Key: key, Used: d} }
	spend(e.now, []time.Time{}, nil...)
	spend(e.now, []time.Time{e.in(2 * time.Second), e.in(time.Second), e.in(3 * time.Second)},
		used("source", "\x00\xff", 2*time.Second), used("host", "\x00\xff", time.Second), used("source", "a", 3*time.Second))
	spend(e.in(time.Second), []time.Time{e.in(4 * time.Second), e.in(3*time.Second + 1*time.Millisecond)},
		used("source", "a", time.Second), used("host", "\x00\xff", 2*time.Second+1*time.Millisecond))
	spend(e.in(time.Minute), []time.Time{e.in(time.Minute + time.Second)}, used("source", "a", time.Second)) // it was whole again
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
				if _, err := s.Spend(e.ctx, list, e.now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.Spend(e.ctx, []hub.Spent{{Kind: "source", Key: "0"}, {Kind: "source", Key: fmt.Sprint(keys - 1)}}, e.now)
	must(t, err)
	same(t, "until", got, []time.Time{e.in(nodes * rounds * time.Second), e.in(nodes * rounds * time.Second)})
}

func sweepAllowances(t *testing.T, e *env) {
	s := e.allowances(t)
	for i := range 10 {
		_, err := s.Spend(e.ctx, []hub.Spent{{Kind: "host", Key: string(bytes.Repeat([]byte{byte(i)}, 16)), Used: time.Duration(i) * time.Second}}, e.now)
		must(t, err)
	}
	for _, step := range []struct {
		now         time.Time
		keep, limit int
		want        int64
	}{{e.in(-time.Second), 10, 100, 0}, {e.in(3 * time.Second), 10, 2, 2}, {e.in(3 * time.Second), 10, 100, 2}, {e.in(3 * time.Second), 4, 1, 1}, {e.in(3 * time.Second), 4, 9, 1}, {e.in(time.Minute), 4, 9, 4}} {
		n, err := s.SweepAllowances(e.ctx, step.now, step.keep, step.limit)
		must(t, err)
		same(t, "swept", n, step.want)
	}
}
