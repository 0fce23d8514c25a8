package upstream

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	paceInterval = time.Minute      // time between two updates of the rate
	planInterval = 10 * time.Minute // time between two updates of the plan
	overdueIn    = 15 * time.Minute // time within which overdue requests must be sent
	planStep     = time.Minute
	planSteps    = 26 * 60 // number of steps that the plan looks ahead
	minPeak      = 5       // a step with fewer renewals is never a peak
	earlyTries   = 16      // number of steps that are compared for an early renewal

	windowTries = 3 // number of steps that are compared in the regular window
)

// pace returns the pause between two requests. The pause is as long as possible, but short enough
// that all follows that are due within the hour are requested in time.
//
// spec:cloudburst#follow-pace
func (e *Engine) pace(ctx context.Context) time.Duration {
	now := e.now()
	if e.rate == 0 || now.Sub(e.pacedAt) >= paceInterval || now.Before(e.pacedAt) {
		overdue, hour, err := e.Store.CountFollows(ctx, now, now.Add(time.Hour), time.Hour)
		if err != nil {
			e.logError(ctx, "count the due follows", err)
			overdue, hour = 0, nil
		}
		need := float64(overdue) / overdueIn.Seconds()
		for _, n := range hour {
			need += float64(n) / time.Hour.Seconds()
		}
		e.rate, e.pacedAt = max(e.Options.Rate, min(need, e.Options.Max)), now
	}
	return jitter(time.Duration(float64(time.Second)/e.rate), 0.5)
}

// plan contains the number of follows that are due in each of the coming minutes. Follows that
// start together would be renewed together every day. Therefore some follows of a peak are renewed
// early, once, and then every day at that time.
type plan struct {
	mu   sync.Mutex
	from time.Time // start of the first step; zero: no plan yet
	read time.Time
	n    []int64
	all  int64
}

// readPlan reads the plan again when it is older than planInterval.
func (e *Engine) readPlan(ctx context.Context) {
	now := e.now()
	p := &e.plan
	p.mu.Lock()
	fresh := !p.from.IsZero() && now.Sub(p.read) < planInterval && !now.Before(p.read)
	if !fresh {
		p.read = now // so that other goroutines do not read the plan too
	}
	p.mu.Unlock()
	if fresh {
		return
	}
	from := now.Truncate(planStep)
	_, n, err := e.Store.CountFollows(ctx, from, from.Add(planSteps*planStep), planStep)
	if err != nil {
		e.logError(ctx, "count the due follows", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from, p.n, p.all = from, n, 0
	for _, k := range n {
		p.all += k
	}
}

// schedule returns when a subscription that was confirmed at now is renewed. Normally that is
// between due and due + late. If these minutes are a peak, it is an earlier time.
//
// spec:cloudburst#follow-spread
func (p *plan) schedule(now, due time.Time, late time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, n := p.emptiest(due, late, windowTries)
	if n < 0 {
		return at
	}
	period := due.Sub(now)
	share := float64(p.all) / max(1, float64(period/planStep))
	if float64(n) >= max(minPeak, 1.25*share) {
		earliest := now.Add(min(late, period)) // any time of the day from then on is possible
		if early, k := p.emptiest(earliest, due.Sub(earliest), earlyTries); k >= 0 && k < n {
			at = early
		}
	}
	if i, ok := p.step(at); ok {
		p.n[i]++
		p.all++
	}
	return at
}

// emptiest compares random times between from and from + d, and returns the one whose step has the
// fewest renewals. If there is no plan yet, n is -1.
func (p *plan) emptiest(from time.Time, d time.Duration, tries int) (at time.Time, n int64) {
	n = -1
	for range tries {
		t := from.Add(time.Duration(rand.Float64() * float64(d)))
		i, ok := p.step(t)
		if !ok {
			return t, -1
		}
		if n < 0 || p.n[i] < n {
			at, n = t, p.n[i]
		}
	}
	return at, n
}

func (p *plan) step(at time.Time) (int, bool) {
	if p.from.IsZero() || at.Before(p.from) {
		return 0, false
	}
	i := int(at.Sub(p.from) / planStep)
	return i, i < len(p.n)
}
