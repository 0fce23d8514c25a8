package upstream

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	paceInterval = time.Minute      // the pace is set anew
	planInterval = 10 * time.Minute // so is what is known of the next day
	overdueIn    = 15 * time.Minute // what is overdue is to be done by then
	planStep     = time.Minute
	planSteps    = 26 * 60 // of the time ahead that is planned
	minPeak      = 5       // renewals in a step that are no crowd, however few there are in others
	earlyTries   = 16      // steps that are looked at for one with room

	windowTries = 3 // the same, while there is no crowd
)

// pace is how long to wait from one question to the next: so that everything that is
// due within the hour is asked in time, and no quicker.
//
// spec:cloudburst#follow-pace
func (e *Engine) pace(ctx context.Context) time.Duration {
	now := e.now()
	if e.rate == 0 || now.Sub(e.pacedAt) >= paceInterval || now.Before(e.pacedAt) {
		overdue, hour, err := e.Store.CountFollows(ctx, now, now.Add(time.Hour), time.Hour)
		if err != nil {
			e.logError(ctx, "count the feeds that are due", err)
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

// plan is how many follows are due in each minute of the time ahead. What was asked for
// in a crowd would come back as a crowd every day; so some of a crowd are renewed
// early, once, and from then on a day apart as all others.
type plan struct {
	mu   sync.Mutex
	from time.Time // of the first step; zero: nothing is known
	read time.Time
	n    []int64
	all  int64
}

// readPlan brings the plan up to date, when its time has come.
func (e *Engine) readPlan(ctx context.Context) {
	now := e.now()
	p := &e.plan
	p.mu.Lock()
	fresh := !p.from.IsZero() && now.Sub(p.read) < planInterval && !now.Before(p.read)
	if !fresh {
		p.read = now // the others need not read it too
	}
	p.mu.Unlock()
	if fresh {
		return
	}
	from := now.Truncate(planStep)
	_, n, err := e.Store.CountFollows(ctx, from, from.Add(planSteps*planStep), planStep)
	if err != nil {
		e.logError(ctx, "count the feeds that are due", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from, p.n, p.all = from, n, 0
	for _, k := range n {
		p.all += k
	}
}

// place is when what was agreed on at now is renewed: at due or up to late after it,
// where that is no crowd, else at some time before.
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
		earliest := now.Add(min(late, period)) // all of a day is used
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

// emptiest looks at some moments in the time after from, and returns the one whose step
// has the least in it; n is -1 where nothing is planned.
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
