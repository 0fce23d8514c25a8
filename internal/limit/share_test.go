package limit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
)

// ledger is an Allowances in memory. A test can make it unreachable.
type ledger struct {
	full map[Spent]time.Time // key: an allowance with Used = 0, value: time when it is full again
	away bool
	rows int // number of written rows
}

func (l *ledger) Spend(_ context.Context, list []Spent, now time.Time) ([]time.Time, error) {
	if l.away {
		return nil, fault.New(fault.Unavailable, "away")
	}
	var out []time.Time
	for _, s := range list {
		k := Spent{Kind: s.Kind, Key: s.Key}
		at := l.full[k]
		if at.Before(now) {
			at = now
		}
		l.full[k] = at.Add(s.Used)
		out = append(out, l.full[k])
		l.rows++
	}
	return out, nil
}

func (l *ledger) SweepAllowances(context.Context, time.Time, int, int) (int64, error) { return 0, nil }

// node is a node with a limiter. The test runs its rounds explicitly.
type node struct {
	*Limiter
	*Exchange
}

// nodesOn returns nodes with one clock.
func nodesOn(t *testing.T, n int, l *ledger, now *time.Time, rate float64) []node {
	t.Helper()
	var nodes []node
	for range n {
		one := node{New(rate, 10*rate, 100_000), NewExchange(l, func() time.Time { return *now }, slog.New(slog.NewTextHandler(t.Output(), nil)))}
		one.Add("source", one.Limiter)
		nodes = append(nodes, one)
	}
	return nodes
}

// bucket is a single bucket to compare with. All nodes together should admit as many requests.
type bucket struct {
	level, rate, burst, max float64
	at                      time.Time
}

func (b *bucket) take(now time.Time) {
	b.level = max(b.level-now.Sub(b.at).Seconds()*b.rate, 0) + 1
	b.at, b.max = now, max(b.max, b.level)
}

// TestNodesShareOneRateLimit sends random requests to nodes that share a rate, and compares the
// admitted requests with one bucket. The nodes may admit more than its burst: an eighth of the
// burst for each further node, which is the use that starts a report, and the use that is too small
// to be reported.
func TestNodesShareOneRateLimit(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	for seed := range uint64(fulltest.Size(60, 6)) {
		r := rand.New(rand.NewPCG(seed, 13))
		n, rate := 2+r.IntN(4), []float64{0.5, 3, 20, 200}[r.IntN(4)]
		now := time.UnixMilli(1_790_000_000_000)
		l := &ledger{full: map[Spent]time.Time{}}
		nodes := nodesOn(t, n, l, &now, rate)
		all := &bucket{rate: rate, burst: 10 * rate, at: now}
		next := make([]time.Time, n) // time of the next round, different for each node
		for i := range next {
			next[i] = now.Add(time.Duration(r.Int64N(int64(shareEvery))))
		}
		asked, through := 0, 0
		for end := now.Add(3 * time.Minute); now.Before(end); {
			gap := time.Duration(r.ExpFloat64() / (rate * (0.5 + 4*r.Float64())) * float64(time.Second))
			if r.IntN(200) == 0 {
				gap = time.Duration(r.Int64N(int64(30 * time.Second)))
			}
			for at := now.Add(gap); now.Before(at); {
				soonest := at
				for i, h := range nodes {
					if !next[i].After(now) {
						h.round(t.Context())
						next[i] = now.Add(shareEvery)
					}
					if next[i].Before(soonest) {
						soonest = next[i]
					}
				}
				now = soonest
			}
			for range 1 + r.IntN(20)*r.IntN(2)*r.IntN(int(10*rate)+1)/10 {
				h := nodes[r.IntN(n)]
				asked++
				if _, ok := h.Take("a", now); ok {
					through++
					all.take(now)
				}
				select {
				case <-h.wake: // run a round as the loop would, without delays of the store
					h.round(t.Context())
				default:
				}
			}
		}
		slack := math.Ceil(max(all.burst/soonFraction, 1)) * float64(n-1)
		unheard := max(all.burst/shareFraction, 1) * float64(n) // the use that a node does not report in 16 s
		if limit := all.burst + slack + unheard + 1; all.max > limit {
			t.Errorf("seed %d: %d nodes at %v a second let through up to %.1f at once, more than %.1f", seed, n, rate, all.max, limit)
		}
		if through == 0 || asked == through && seed%7 == 0 {
			t.Logf("seed %d: %d of %d", seed, through, asked)
		}
	}
}

// flood sends requests to all nodes in turn during a period, and returns the number of admitted
// requests.
func flood(t *testing.T, nodes []node, now *time.Time, key string, d time.Duration) (through int) {
	t.Helper()
	for end, next := now.Add(d), *now; now.Before(end); *now = now.Add(time.Millisecond) {
		if !now.Before(next) {
			next = now.Add(shareEvery)
			for _, h := range nodes {
				h.round(t.Context())
			}
		}
		for _, h := range nodes {
			if _, ok := h.Take(key, *now); ok {
				through++
			}
			select {
			case <-h.wake:
				h.round(t.Context())
			default:
			}
		}
	}
	return through
}

func TestFloodOfRequestsToAllNodesIsLimitedAsOne(t *testing.T) {
	t.Parallel()
	const rate = 200
	for _, n := range []int{1, 2, 4} {
		now := time.UnixMilli(1_790_000_000_000)
		l := &ledger{full: map[Spent]time.Time{}}
		got := flood(t, nodesOn(t, n, l, &now, rate), &now, "a", time.Minute)
		fair := 10*rate + 60*rate
		if limit := fair + (n-1)*10*rate/soonFraction + rate; got > limit || got < fair*95/100 {
			t.Errorf("%d nodes let through %d in a minute; one alone would %d", n, got, fair)
		}
		if l.rows > 400*n {
			t.Errorf("%d nodes wrote %d rows for it", n, l.rows)
		}
	}
}

func TestNodesApplyTheirOwnLimitsWithoutDatabase(t *testing.T) {
	t.Parallel()
	const rate = 20
	now := time.UnixMilli(1_790_000_000_000)
	l := &ledger{full: map[Spent]time.Time{}, away: true}
	nodes := nodesOn(t, 2, l, &now, rate)
	if got, want := flood(t, nodes, &now, "a", time.Minute), 2*(10*rate+60*rate); got > want || got < want*95/100 {
		t.Errorf("two nodes on their own let through %d, want about %d", got, want)
	}
	l.away = false
	// Use during the outage does not become a debt. After the outage all nodes together have one
	// allowance.
	if got, want := flood(t, nodes, &now, "a", time.Minute), 60*rate; got > want+10*rate || got < want*70/100 {
		t.Errorf("two nodes that share again let through %d, want about %d", got, want)
	}
}

func TestRateBelowTheSharingThresholdWritesNoRows(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	l := &ledger{full: map[Spent]time.Time{}}
	h := nodesOn(t, 1, l, &now, 200)[0]
	for second := range 60 {
		for i := range 10_000 {
			h.Take(fmt.Sprint(i), now)
		}
		h.round(t.Context())
		if len(h.spent) > 10_000 {
			t.Fatal("what was used is remembered for ever")
		}
		now = now.Add(time.Second)
		_ = second
	}
	if l.rows > 0 {
		t.Errorf("%d rows for networks that ping once a second", l.rows)
	}
}

func TestFastClockOfAnotherNodeDelaysRequestsOnlyBriefly(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	l := &ledger{full: map[Spent]time.Time{}}
	h := nodesOn(t, 1, l, &now, 200)[0]
	for range 100 {
		h.Take("a", now)
	}
	for _, s := range h.unreported(now, 1) {
		l.full[Spent{Kind: s.Kind, Key: s.Key}] = now.Add(24 * time.Hour)
	}
	for range 100 {
		h.Take("a", now)
	}
	h.round(t.Context())
	if wait, ok := h.Take("a", now); ok || wait > maxDebt*10*time.Second {
		t.Errorf("a wait of %v", wait)
	}
}
