package lease

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// rows is a store of rows that are due at times.
type rows struct {
	mu      sync.Mutex
	due     map[string]time.Time // key: row that is not done, value: due time
	failed  error
	claims  int
	maxOpen int // maximum number of rows that were in progress at the same time
	open    int
	reports []string // calls of Failed and Caught
}

func (r *rows) claim(_ context.Context, now, until time.Time, limit int, claim int64) (out []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims++
	if r.failed != nil || claim <= 0 {
		return nil, r.failed
	}
	for name, at := range r.due {
		if !at.After(now) && len(out) < limit {
			out = append(out, name)
			r.due[name] = until
		}
	}
	slices.Sort(out)
	return out, nil
}

func (r *rows) next(context.Context) (at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, due := range r.due {
		if at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at, r.failed
}

func (r *rows) giveBack(_ context.Context, list []Back[string]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range list {
		r.due[b.Row] = b.At
		r.reports = append(r.reports, "back "+b.Row)
	}
	return nil
}

func (r *rows) begin(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open += n
	r.maxOpen = max(r.maxOpen, r.open)
}

func (r *rows) done(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.due, name)
}

func (r *rows) set(name string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due[name] = at
}

func (r *rows) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.due)
}

// loop returns a loop that works on each row for a second.
func (r *rows) loop() *Loop[string] {
	if r.due == nil {
		r.due = map[string]time.Time{}
	}
	return &Loop[string]{
		Claim: r.claim, Next: r.next, AtOnce: 2, For: time.Minute, Now: time.Now, Wake: make(chan struct{}, 1), Name: "rows",
		Do: func(ctx context.Context, name string) {
			r.begin(1)
			defer r.begin(-1)
			if Sleep(ctx, nil, time.Second) {
				r.done(name)
			}
		},
		Failed: func(_ context.Context, doing string, err error) {
			r.reports = append(r.reports, doing+": "+err.Error())
		},
		Caught: func(row string, panicked any, stack []byte) {
			if len(stack) > 0 {
				r.reports = append(r.reports, row+" "+panicked.(string))
			}
		},
	}
}

// run runs a loop in a synctest bubble for as long as do runs.
func run(t *testing.T, r *rows, l *Loop[string], do func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	do()
	stop()
	<-ended
}

func TestLoopProcessesDueRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		now := time.Now()
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			r.set(name, now)
		}
		r.set("late", now.Add(30*time.Second))
		run(t, &r, l, func() {
			time.Sleep(2500 * time.Millisecond)
			if n := r.left(); n != 2 {
				t.Errorf("%d rows are left after 2.5 s, want 2: one at work and one that is not due", n)
			}
			time.Sleep(30 * time.Second)
			if n := r.left(); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
		if r.maxOpen != 2 {
			t.Errorf("%d rows were under way at once, want 2", r.maxOpen)
		}
	})
}

func TestWakeStartsTheNextClaimImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		run(t, &r, l, func() {
			time.Sleep(3 * time.Second)
			r.set("a", time.Now())
			Wake(l.Wake)
			Wake(l.Wake)
			time.Sleep(1500 * time.Millisecond)
			if n := r.left(); n != 0 {
				t.Error("a row that came with a wake still waits")
			}
			r.set("b", time.Now())
			time.Sleep(62 * time.Second)
			if n := r.left(); n != 0 {
				t.Error("a row that came without a wake still waits after a minute")
			}
		})
	})
}

func TestExpiredClaimIsClaimedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		r.set("a", time.Now())
		tries := 0
		l.Do = func(context.Context, string) { tries++ } // nothing is written, so the row becomes due again
		run(t, &r, l, func() { time.Sleep(150 * time.Second) })
		if tries != 3 {
			t.Errorf("the row was worked on %d times in 150 s, want 3: each minute", tries)
		}
	})
}

func TestPanicEndsOnlyTheWorkOnItsRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		do := l.Do
		l.Do = func(ctx context.Context, name string) {
			if name == "bad" {
				panic("broke")
			}
			do(ctx, name)
		}
		r.set("bad", time.Now())
		r.set("good", time.Now())
		run(t, &r, l, func() { time.Sleep(2 * time.Second) })
		if _, ok := r.due["good"]; ok || !slices.Equal(r.reports, []string{"bad broke"}) {
			t.Errorf("rows %v, reported %v", r.due, r.reports)
		}
	})
}

func TestFailedClaimIsRetriedAfterADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rows{failed: errors.New("away")}
		l := r.loop()
		r.set("a", time.Now())
		run(t, &r, l, func() {
			time.Sleep(9500 * time.Millisecond)
			r.mu.Lock()
			r.failed = nil
			r.mu.Unlock()
			time.Sleep(2 * time.Second)
			if r.left() != 0 {
				t.Error("the row still waits when the store is back")
			}
		})
		if r.claims > 14 || len(r.reports) != 10 || r.reports[0] != "claim rows: away" {
			t.Errorf("%d claims, reported %v", r.claims, r.reports)
		}
	})
}

func TestLoopReleasesClaimsWhenItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		l.AtOnce, l.GiveBack = 5, r.giveBack
		l.Between = func(context.Context) time.Duration { return time.Hour }
		for _, name := range []string{"a", "b", "c"} {
			r.set(name, time.Now())
		}
		run(t, &r, l, func() { time.Sleep(2 * time.Second) })
		if got := strings.Join(r.reports, ", "); got != "back b, back c" {
			t.Errorf("given back: %s", got)
		}
		for name, at := range r.due {
			if at.After(time.Now()) {
				t.Errorf("%s is not due", name)
			}
		}
	})
}

func TestClaimedRowsBeyondCapacityAreReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		l.GiveBack = r.giveBack
		from := time.Now()
		l.Admit = func(name string, now time.Time) (time.Time, bool) {
			return from.Add(10 * time.Second), name != "b" || now.Sub(from) >= 10*time.Second
		}
		r.set("a", from)
		r.set("b", from)
		run(t, &r, l, func() {
			time.Sleep(9 * time.Second)
			if r.left() != 1 {
				t.Errorf("%d rows are left after 9 s, want 1", r.left())
			}
			time.Sleep(3 * time.Second)
			if r.left() != 0 {
				t.Error("the row that was given back still waits")
			}
		})
	})
}

func TestWorkersFinishTheirRowsAfterTheLoopEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rows
		l := r.loop()
		l.Group = new(sync.WaitGroup)
		going := make(chan struct{})
		l.Do = func(context.Context, string) { <-going }
		r.set("a", time.Now())
		run(t, &r, l, func() { time.Sleep(time.Second) })
		close(going)
		l.Group.Wait()
	})
}
