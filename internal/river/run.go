package river

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/item"
)

const (
	maxIdle       = 10 * time.Minute // maximum sleep of a loop without a wakeup
	maxIdleShared = time.Minute      // maximum sleep if other processes may have stored new work
	afterError    = 2 * time.Second
	claimRetry    = 50 * time.Millisecond
	stopTimeout   = 2 * time.Second
	workPause     = 100 * time.Millisecond // pause between two claims if many rows are due
	maxJump       = time.Minute            // difference between the wall clock and the monotonic clock above which the wall clock was set
)

// state is the part of a River that exists only in memory.
type state struct {
	listState
	pollState
	forwarder *forward.Forwarder
}

// pollState contains the state of checks that exists only in memory.
type pollState struct {
	scheduler *scheduler
	convert   *item.Converter
	wakeups   wakeups
	news      bus
	open      atomic.Bool // true while Run is running
	counts    counters
	reading   sync.WaitGroup

	releaseMu sync.Mutex
	released  bool // true after releaseClaims has released the claims
	seqMu     sync.Mutex
	lastSeq   int64
	lastPush  time.Time // result of the last call of nextPushTime
}

// wakeups contains the channels that wake the loops.
type wakeups struct{ claim, lists, forward, tail, index, sweep, filter chan struct{} }

func (s *wakeups) make() {
	for _, c := range []*chan struct{}{&s.claim, &s.lists, &s.forward, &s.tail, &s.index, &s.sweep, &s.filter} {
		*c = make(chan struct{}, 1)
	}
}

// counters contains the totals that Live returns.
type counters struct {
	checks, unchanged, failed, delivered, fresh, edited, withdrawn atomic.Int64
}

// Init prepares the river. Every exported method calls it.
func (r *River) Init() {
	r.init.Do(func() {
		r.wakeups.make()
		r.listState.importSlots = make(chan struct{}, maxActiveImports)
		r.scheduler = newScheduler(r.options())
		r.convert = item.NewConverter()
		r.forwarder = forwarderDeps{r}.newForwarder()
	})
}

// options returns the options, with defaults for zero fields.
func (r *River) options() Options {
	o := r.Options
	o.AtOnce = cmp.Or(o.AtOnce, 32)
	o.PerHost = cmp.Or(o.PerHost, 2)
	o.HostInterval = max(cmp.Or(o.HostInterval, time.Second), 0)
	o.Keep = cmp.Or(o.Keep, 1000)
	o.KeepFor = cmp.Or(o.KeepFor, 180*24*time.Hour)
	o.Max = cmp.Or(o.Max, 5000)
	o.MaxForwardings = cmp.Or(o.MaxForwardings, 100)
	o.MailsBy = cmp.Or(o.MailsBy, 500)
	o.MailsTo = cmp.Or(o.MailsTo, 200)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	return o
}

// now returns the current time in UTC with millisecond precision.
func (r *River) now() time.Time {
	return date.Now(r.Now).UTC().Truncate(time.Millisecond)
}

func (r checker) random() float64 {
	if r.Random != nil {
		return r.Random()
	}
	return rand.Float64()
}

func (r *River) logger() *slog.Logger {
	return cmp.Or(r.Log, slog.New(slog.DiscardHandler))
}

// seqs reserves n consecutive sequence numbers and returns the first. Each reserved number is
// higher than all earlier ones.
func (r checker) seqs(n int) int64 {
	r.seqMu.Lock()
	defer r.seqMu.Unlock()
	first := max(r.now().UnixMicro(), r.lastSeq+1)
	r.lastSeq = first + int64(n) - 1
	return first
}

// Run checks due sources and reading lists, and sends due forwardings, until ctx ends. It returns
// after work in progress has been finished or released.
func (r *River) Run(ctx context.Context) error {
	r.Init()
	if !(runner{r}).recover(ctx) {
		return nil
	}
	r.open.Store(true)
	var loops sync.WaitGroup
	loops.Go(func() { runner{r}.claimLoop(ctx) })
	loops.Go(func() { runner{r}.startLoop(ctx) })
	loops.Go(func() { runner{r}.listLoop(ctx) })
	if r.Forward != nil {
		loops.Go(func() { runner{r}.forwardLoop(ctx) })
	}
	loops.Go(func() { runner{r}.sweepLoop(ctx) })
	loops.Go(func() { runner{r}.indexLoop(ctx) })
	loops.Go(func() { runner{r}.filterLoop(ctx) })
	if r.Options.Shared {
		loops.Go(func() { runner{r}.tailLoop(ctx) })
	}
	<-ctx.Done()
	r.open.Store(false)
	loops.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	runner{r}.giveBack(last, r.scheduler.drain(r.now()))
	ended := make(chan struct{})
	go func() { defer close(ended); r.reading.Wait() }()
	select {
	case <-ended:
	case <-last.Done():
	}
	return nil
}

// runner contains the loops of Run, which claim and release sources.
type runner struct{ *River }

// recover releases the claims of an earlier run and reads the highest sequence number. It retries
// until the database is available. It returns false if ctx ends first.
func (r runner) recover(ctx context.Context) bool {
	for {
		now := r.now()
		seq, err := r.Store.NewestSeq(ctx)
		if err == nil {
			err = r.releaseClaims(ctx)
		}
		if err == nil {
			r.seqMu.Lock()
			r.lastSeq = max(r.lastSeq, seq)
			r.seqMu.Unlock()
			r.scheduler.resetEpoch(now)
			return true
		}
		r.logError(ctx, "cannot start checking feeds", err)
		if !lease.Sleep(ctx, nil, afterError) {
			return false
		}
	}
}

// releaseClaims makes the sources due that an earlier run had claimed. Only the first call does
// so, before this run claims any source. So adding a feed works before Run starts.
func (r runner) releaseClaims(ctx context.Context) error {
	r.releaseMu.Lock()
	defer r.releaseMu.Unlock()
	if r.released || r.Options.Shared {
		return nil
	}
	err := r.Store.ReleaseClaims(ctx, r.now())
	r.released = err == nil
	return err
}

// claimOne claims a source, whether the source is due or not.
func (r runner) claimOne(ctx context.Context, id int64) (Source, error) {
	if err := r.releaseClaims(ctx); err != nil {
		return Source{}, err
	}
	now := r.now()
	return r.Store.ClaimSource(ctx, id, now, now.Add(r.options().Lease), lease.NewClaim())
}

func (sc *scheduler) resetEpoch(now time.Time) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.epoch = now
}

// Wake notifies the river that rows may be due, and that other processes may have stored items.
func (r *River) Wake() {
	r.Init()
	lease.Wake(r.wakeups.claim)
	lease.Wake(r.wakeups.lists)
	lease.Wake(r.wakeups.forward)
	lease.Wake(r.wakeups.tail)
}

// claimLoop claims due sources while the scheduler has free capacity. It is no [lease.Loop], because
// the scheduler holds more claims than it starts, in an order of its own.
func (r runner) claimLoop(ctx context.Context) {
	wall, mono := r.now(), time.Now()
	for {
		now := r.now()
		if passed := time.Since(mono); (now.Sub(wall) - passed).Abs() > maxJump {
			// The wall clock was set. Sources that became due because of it are spread over time.
			r.scheduler.resetEpoch(now)
		}
		wall, mono = now, time.Now()
		if !lease.Sleep(ctx, r.wakeups.claim, r.claim(ctx)) {
			return
		}
	}
}

// idle returns how long a loop sleeps at most if nothing wakes it.
func (r runner) idle() time.Duration {
	if r.Options.Shared {
		return maxIdleShared
	}
	return maxIdle
}

// until returns how long to wait until next; zero: nothing is due, so the result is idle.
func (r runner) until(next time.Time) time.Duration {
	if next.IsZero() {
		return r.idle()
	}
	return min(max(next.Sub(r.now()), time.Millisecond), r.idle())
}

// claim claims due sources once and returns how long to wait until the next call. It calls
// NextSource first, because a claim of no sources costs more.
func (r runner) claim(ctx context.Context) time.Duration {
	free := min(r.scheduler.free(), 200)
	if free < 50 {
		return maxIdle // startLoop wakes claimLoop when it starts a job
	}
	next, err := r.Store.NextSource(ctx)
	if err != nil {
		r.logError(ctx, "cannot query the next due feed", err)
		return afterError
	}
	now := r.now()
	if next.IsZero() || next.After(now) {
		return r.until(next)
	}
	list, err := r.Store.ClaimSources(ctx, now, now.Add(r.options().Lease), free, lease.NewClaim())
	var known map[string]Host
	if err == nil && len(list) > 0 {
		known, err = r.Store.Hosts(ctx, hostsOf(list))
	}
	if err != nil {
		r.logError(ctx, "cannot claim due feeds", err) // claims expire without a release
		return afterError
	}
	if len(list) == 0 {
		return claimRetry // another process has claimed the source
	}
	r.giveBack(ctx, r.scheduler.add(list, known, now))
	return 0
}

// hostsOf returns the hosts of sources, without duplicates.
func hostsOf(list []Source) []string {
	seen := make(map[string]bool, len(list))
	var out []string
	for i := range list {
		if h := polling.HostOf(list[i].State.URL); !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

func (r runner) giveBack(ctx context.Context, off []PutOff) {
	if len(off) == 0 {
		return
	}
	if err := r.Store.PutOff(ctx, off); err != nil {
		r.logError(ctx, "cannot release claimed feeds", err) // the claims expire without a release
	}
}

// startLoop starts each job at its time. A job has one of AtOnce slots until its document is
// fetched. Goroutines are reused, because their stacks have grown.
func (r runner) startLoop(ctx context.Context) {
	slots, jobs, workers := make(chan struct{}, r.options().AtOnce), make(chan *job), 0
	defer close(jobs)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		j := r.nextJob(ctx)
		if j == nil {
			return
		}
		r.scheduler.start(j, r.now())
		select {
		case jobs <- j:
		default:
			if workers++; workers <= 2*cap(slots) {
				r.reading.Go(func() {
					for ; j != nil; j = <-jobs {
						checker(r).runJob(ctx, j, func() { <-slots })
					}
				})
			} else {
				jobs <- j // wait until a result is stored
			}
		}
		if r.scheduler.free() >= 100 {
			lease.Wake(r.wakeups.claim)
		}
	}
}

// nextJob waits for the next job that may start. It returns nil after ctx ended.
func (r runner) nextJob(ctx context.Context) *job {
	for ctx.Err() == nil {
		j, off, wait := r.scheduler.pick(r.now())
		r.giveBack(ctx, off)
		if j != nil {
			return j
		}
		if wait == 0 {
			wait = maxIdle
		}
		if !lease.Sleep(ctx, r.scheduler.changed, wait) {
			return nil
		}
	}
	return nil
}

// Live contains the current activity of the river, and totals since its start.
type Live struct {
	Reading, Waiting                     int   // number of documents being fetched, and number of sources that wait
	Checks, Unchanged, Failed, Delivered int64 // number of checks since the start, by result
	New, Edited, Withdrawn               int64 // number of items since the start
	Listening                            int   // number of listeners
}

// Counts counts the sources by their current condition, for the status page. fault.Unavailable:
// the database is down.
func (r *River) Counts(ctx context.Context) (SourceCounts, error) {
	r.Init()
	return r.Store.CountSources(ctx, r.now())
}

// Live returns the current activity.
func (r *River) Live() Live {
	r.Init()
	c := &r.counts
	l := Live{
		Checks: c.checks.Load(), Unchanged: c.unchanged.Load(), Failed: c.failed.Load(), Delivered: c.delivered.Load(),
		New: c.fresh.Load(), Edited: c.edited.Load(), Withdrawn: c.withdrawn.Load(), Listening: r.news.Listeners(),
	}
	l.Reading, l.Waiting = r.scheduler.load()
	return l
}
