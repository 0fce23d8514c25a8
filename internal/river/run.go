package river

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/item"
)

const (
	lookEvery  = 10 * time.Minute // at the clock, when nobody wakes us
	lookOften  = time.Minute      // where others may have written something
	afterError = 2 * time.Second

	takenMeanwhile = 50 * time.Millisecond

	sweepEvery = time.Hour
	sweepPause = 10 * time.Second // between two of them, where one source floods
	sweepSome  = 1000
	sweepFlood = 3000 // items of a source beyond those that are kept, which do not wait for the hour
	stopWithin = 2 * time.Second
	workPause  = 100 * time.Millisecond
	maxJump    = time.Minute // of the clock, that is not taken for a jump
)

// state is what a river has in memory.
type state struct {
	listing
	polling
	forwarder *forward.Forwarder
}

// polling is what the river keeps in memory of sources that are being read.
type polling struct {
	desk    *desk
	convert *item.Converter
	woken   signals
	news    bus
	open    atomic.Bool // Run runs
	counts  counters
	reading sync.WaitGroup

	freeing sync.Mutex
	freed   bool // see free
	numbers sync.Mutex
	lastSeq int64
	lastHer time.Time // of an announcement: no two have the same
}

// signals wake the loops.
type signals struct{ claim, work, tail, index, sweep chan struct{} }

func (s *signals) make() {
	for _, c := range []*chan struct{}{&s.claim, &s.work, &s.tail, &s.index, &s.sweep} {
		*c = make(chan struct{}, 1)
	}
}

// counters are what Live tells.
type counters struct {
	checks, unchanged, failed, delivered, fresh, edited, withdrawn atomic.Int64
}

// Init makes the river ready; every method does it.
func (r *River) Init() {
	r.init.Do(func() {
		r.woken.make()
		r.listing.importSlots = make(chan struct{}, importsAtOnce)
		r.desk = newDesk(r.options())
		r.convert = item.NewConverter()
		r.news.init()
		r.forwarder = forwarding{r}.newForwarder()
	})
}

// options are the river's, with the defaults where there is nothing.
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

// now is the time, UTC, to the millisecond.
func (r *River) now() time.Time {
	if r.Now != nil {
		return r.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (r checking) random() float64 {
	if r.Random != nil {
		return r.Random()
	}
	return rand.Float64()
}

func (r *River) logger() *slog.Logger {
	if r.Log != nil {
		return r.Log
	}
	return slog.New(slog.DiscardHandler)
}

// newClaim is a number that no other claim has.
func newClaim() int64 { return rand.Int64() | 1 }

// seqs gives out n numbers that grow, and returns the first.
func (r checking) seqs(n int) int64 {
	r.numbers.Lock()
	defer r.numbers.Unlock()
	first := max(r.now().UnixMicro(), r.lastSeq+1)
	r.lastSeq = first + int64(n) - 1
	return first
}

// Run reads what is due, reading lists and notices too, until ctx ends, and returns
// when what is under way is over or given back.
func (r *River) Run(ctx context.Context) error {
	r.Init()
	if !(running{r}).recover(ctx) {
		return nil
	}
	r.open.Store(true)
	var loops sync.WaitGroup
	loops.Go(func() { running{r}.claimLoop(ctx) })
	loops.Go(func() { running{r}.startLoop(ctx) })
	loops.Go(func() { running{r}.workLoop(ctx) })
	loops.Go(func() { running{r}.sweepLoop(ctx) })
	loops.Go(func() { running{r}.indexLoop(ctx) })
	if r.Options.Shared {
		loops.Go(func() { running{r}.tailLoop(ctx) })
	}
	<-ctx.Done()
	r.open.Store(false)
	loops.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	running{r}.giveBack(last, r.desk.drain(r.now()))
	ended := make(chan struct{})
	go func() { defer close(ended); r.reading.Wait() }()
	select {
	case <-ended:
	case <-last.Done():
	}
	return nil
}

// running is what runs while Run does: the loops, and what they take and give back.
type running struct{ *River }

// recover frees what an earlier run of this program had claimed, and finds out where the
// numbers of items are. It lasts until the database is there.
func (r running) recover(ctx context.Context) bool {
	for {
		now := r.now()
		seq, err := r.Store.NewestSeq(ctx)
		if err == nil {
			err = r.free(ctx)
		}
		if err == nil {
			r.numbers.Lock()
			r.lastSeq = max(r.lastSeq, seq)
			r.numbers.Unlock()
			r.desk.begin(now)
			return true
		}
		r.complain(ctx, "the river could not start reading", err)
		if !pause(ctx, afterError) {
			return false
		}
	}
}

// free makes due, once, what an earlier run of this program had claimed, before anything
// is claimed by this one: who adds a feed does not wait for Run.
func (r running) free(ctx context.Context) error {
	r.freeing.Lock()
	defer r.freeing.Unlock()
	if r.freed || r.Options.Shared {
		return nil
	}
	err := r.Store.ReleaseClaims(ctx, r.now())
	r.freed = err == nil
	return err
}

// claimOne claims a source, due or not.
func (r running) claimOne(ctx context.Context, id int64) (Source, error) {
	if err := r.free(ctx); err != nil {
		return Source{}, err
	}
	now := r.now()
	return r.Store.ClaimSource(ctx, id, now, now.Add(r.options().Lease), newClaim())
}

func (d *desk) begin(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.epoch = now
}

// pause waits; false: ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// sleep waits until it is woken, or for d; false: ctx has ended.
func sleep(ctx context.Context, woken <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-woken:
	case <-t.C:
	}
	return ctx.Err() == nil
}

// Wake tells the river that rows may be due, and that others may have written items.
func (r *River) Wake() {
	r.Init()
	lease.Wake(r.woken.claim)
	lease.Wake(r.woken.work)
	lease.Wake(r.woken.tail)
}

// claimLoop takes what is due, for as much as there is room.
func (r running) claimLoop(ctx context.Context) {
	wall, mono := r.now(), time.Now()
	for {
		now := r.now()
		if passed := time.Since(mono); (now.Sub(wall) - passed).Abs() > maxJump {
			// Somebody set the clock: what that made due is spread as after a start.
			r.desk.begin(now)
		}
		wall, mono = now, time.Now()
		if !sleep(ctx, r.woken.claim, r.claim(ctx)) {
			return
		}
	}
}

// until is how long to wait for something that is due at a time, zero for never.
func (r running) until(next time.Time) time.Duration {
	most := lookEvery
	if r.Options.Shared {
		most = lookOften
	}
	if next.IsZero() {
		return most
	}
	return min(max(next.Sub(r.now()), time.Millisecond), most)
}

// claim takes sources once and says how long to wait before the next time. To look what
// is due costs less than to take nothing.
func (r running) claim(ctx context.Context) time.Duration {
	room := min(r.desk.room(), 200)
	if room < 50 {
		return lookEvery // who starts a turn wakes us
	}
	next, err := r.Store.NextSource(ctx)
	if err != nil {
		r.complain(ctx, "the river could not see what is due", err)
		return afterError
	}
	now, lease := r.now(), r.options().Lease
	if next.IsZero() || next.After(now) {
		return r.until(next)
	}
	list, err := r.Store.ClaimSources(ctx, now, now.Add(lease), room, newClaim())
	var known map[string]Host
	if err == nil && len(list) > 0 {
		known, err = r.Store.Hosts(ctx, hostsOf(list))
	}
	if err != nil {
		r.complain(ctx, "the river could not take what is due", err) // claims run out by themselves
		return afterError
	}
	if len(list) == 0 {
		return takenMeanwhile // by another process
	}
	r.giveBack(ctx, r.desk.add(list, known, now))
	return 0
}

// hostsOf are the hosts of sources, each once.
func hostsOf(list []Source) []string {
	seen := make(map[string]bool, len(list))
	var out []string
	for i := range list {
		if h := feedstate.HostOf(list[i].State.URL); !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

func (r running) giveBack(ctx context.Context, off []PutOff) {
	if len(off) == 0 {
		return
	}
	if err := r.Store.PutOff(ctx, off); err != nil {
		r.complain(ctx, "the river could not give back what it cannot read yet", err) // the claims run out
	}
}

// startLoop starts turns when their time has come. Who reads them stays for the next
// ones, for it takes a while until a goroutine has the stack that it needs.
func (r running) startLoop(ctx context.Context) {
	slots, turns, readers := make(chan struct{}, r.options().AtOnce), make(chan *turn), 0
	defer close(turns)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		t := r.nextTurn(ctx)
		if t == nil {
			return
		}
		r.desk.start(t, r.now())
		select {
		case turns <- t:
		default:
			if readers++; readers <= cap(slots) {
				r.reading.Go(func() {
					for ; t != nil; t = <-turns {
						checking(r).readTurn(ctx, t)
						<-slots
					}
				})
			} else {
				turns <- t // one of them is about to be free
			}
		}
		if r.desk.room() >= 100 {
			lease.Wake(r.woken.claim)
		}
	}
}

// nextTurn waits for the next turn; nil: ctx has ended.
func (r running) nextTurn(ctx context.Context) *turn {
	for ctx.Err() == nil {
		t, off, wait := r.desk.pick(r.now())
		r.giveBack(ctx, off)
		if t != nil {
			return t
		}
		if wait == 0 {
			wait = lookEvery
		}
		if !sleep(ctx, r.desk.changed, wait) {
			return nil
		}
	}
	return nil
}

// workLoop does what there is to do for reading lists and notices. Whatever wakes it, it
// looks a few times a second at most.
func (r running) workLoop(ctx context.Context) {
	for pause(ctx, workPause) {
		next, err := r.Store.NextWork(ctx)
		if err != nil {
			r.complain(ctx, "the river could not see what lists and notices are due", err)
			next = r.now().Add(afterError)
		}
		wait := r.until(next)
		if !next.IsZero() && !next.After(r.now()) {
			if did, next := r.workOnce(ctx); did {
				wait = 0
			} else {
				wait = r.until(next)
			}
		}
		if !sleep(ctx, r.woken.work, wait) {
			return
		}
	}
}

// sweepLoop removes what nobody needs any more: once an hour, and soon where a feed that
// is announced each second has a thousand new items each time.
//
// spec:cloudburst#river-flood
func (r running) sweepLoop(ctx context.Context) {
	for pause(ctx, sweepPause) && sleep(ctx, r.woken.sweep, sweepEvery) {
		o := r.options()
		for ctx.Err() == nil {
			n, err := r.Store.SweepRiver(ctx, o.Keep, r.now().Add(-o.KeepFor), sweepSome)
			if err != nil && fault.CodeOf(err) != fault.Unsupported {
				r.complain(ctx, "the river could not remove what is old", err)
			}
			if err != nil || n < sweepSome || !pause(ctx, 100*time.Millisecond) {
				break
			}
		}
	}
}

// Live is what the river does at the moment, and since its start.
type Live struct {
	Reading, Waiting                     int   // documents
	Checks, Unchanged, Failed, Delivered int64 // since the start
	New, Edited, Withdrawn               int64 // items
	Listening                            int   // live listeners
}

// Live is what is going on.
func (r *River) Live() Live {
	r.Init()
	c := &r.counts
	l := Live{
		Checks: c.checks.Load(), Unchanged: c.unchanged.Load(), Failed: c.failed.Load(), Delivered: c.delivered.Load(),
		New: c.fresh.Load(), Edited: c.edited.Load(), Withdrawn: c.withdrawn.Load(), Listening: r.news.count(),
	}
	l.Reading, l.Waiting = r.desk.load()
	return l
}
