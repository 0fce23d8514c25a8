package river

import (
	"maps"
	"slices"
	"sync"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/river/location"
)

// scheduler holds the claimed sources that wait for their host, and paces the requests to each
// host. If a source would wait long, the scheduler postpones it: it releases the claim and stores
// a later time slot. So a host with thousands of feeds neither fills memory nor delays other
// hosts.
//
// spec:cloudburst#river-host-pace
type scheduler struct {
	o Options // options with defaults for zero fields

	mu         sync.Mutex
	hosts      map[string]*host
	waiting    []*job              // waiting jobs in the order of arrival, pushed sources first
	inProgress map[int64]progress  // sources that wait or are being checked
	pushSlots  map[int64]time.Time // key: source ID; value: next free slot for a check because of a push
	running    int
	epoch      time.Time // sources that were due before this time are spread over time
	sweptAt    time.Time
	changed    chan struct{} // signals that a job may be able to start or that there is free capacity
}

// progress describes a source that waits or is being checked.
type progress struct {
	pushedAt time.Time // newest push that the check covers
	again    bool      // a later push arrived, so check once more
}

// job is one claimed source that waits for its check or is being checked.
type job struct {
	s         Source
	host      *host
	unpaced   bool // true: the job ignores the pace of the host
	notBefore time.Time
	giveUp    time.Time // when the job is released without a check
	startedAt time.Time
}

func (j *job) pushed() bool { return !j.s.PushedAt.IsZero() }

// host contains the state of a host with waiting, running or recent checks.
type host struct {
	key           string
	unpaced       bool // true: requests to the host are not paced
	running       int
	waiting       int           // number of waiting jobs
	nextStart     time.Time     // when the next check of the host may start
	nextFree      time.Time     // next free time slot for a postponed source
	usualDuration time.Duration // moving average of the duration of a check
	known         polling.Host
}

const (
	maxHold      = 5 * time.Second // maximum wait in memory; a source that would wait longer is postponed
	pushInterval = time.Second     // minimum time between two checks of one source because of pushes
	pushBurst    = 3               // number of pushed checks of one source that may start without pushInterval
	spreadOver   = polling.Shortest
	maxHosts     = 1024 // number of hosts and push slots in memory above which unneeded ones are dropped
	maxPostpone  = 24 * time.Hour
)

func newScheduler(o Options) *scheduler {
	return &scheduler{o: o, hosts: map[string]*host{}, inProgress: map[int64]progress{}, pushSlots: map[int64]time.Time{}, changed: make(chan struct{}, 1)}
}

func (sc *scheduler) signal() {
	select {
	case sc.changed <- struct{}{}:
	default:
	}
}

// free returns how many more sources the queue accepts. The result is negative if the queue holds
// more than its capacity.
func (sc *scheduler) free() int {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return max(200, 4*sc.o.AtOnce) - len(sc.waiting)
}

// host returns the entry of a host, and creates it if necessary. The caller must hold the lock
// mu.
func (sc *scheduler) host(key string) *host {
	h := sc.hosts[key]
	if h == nil {
		h = &host{key: key, unpaced: location.OwnHost(sc.o.OwnHosts, key)}
		sc.hosts[key] = h
	}
	return h
}

// spacing returns the average time that a host needs for one check, with PerHost checks in
// parallel.
func (sc *scheduler) spacing(h *host) time.Duration {
	return max(sc.o.HostInterval, h.usualDuration/time.Duration(sc.o.PerHost), 10*time.Millisecond)
}

// add puts claimed sources into the queue and returns the sources to postpone.
func (sc *scheduler) add(list []Source, known map[string]polling.Host, now time.Time) (off []PutOff) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for i := range list {
		s := &list[i]
		key := polling.HostOf(s.State.URL)
		h := sc.host(key)
		for _, w := range known[key].Waits {
			h.known = h.known.Add(&w, now)
		}
		unpaced := h.unpaced || sc.o.Own != nil && sc.o.Own(s.State.URL)
		at, ok := sc.startTime(s, h, unpaced, now)
		if !ok {
			off = append(off, PutOff{ID: s.ID, Claim: s.Claim, NextAt: at})
			continue
		}
		j := &job{s: *s, host: h, unpaced: unpaced, notBefore: at, giveUp: at.Add(maxHold)}
		h.waiting++
		sc.inProgress[s.ID] = progress{pushedAt: s.PushedAt}
		if j.pushed() {
			n := 0
			for n < len(sc.waiting) && sc.waiting[n].pushed() {
				n++
			}
			sc.waiting = slices.Insert(sc.waiting, n, j)
		} else {
			sc.waiting = append(sc.waiting, j)
		}
	}
	sc.sweep(now)
	sc.signal()
	return off
}

// startTime returns when s may be checked. ok is false if s would wait too long in memory; then s
// is postponed to at.
func (sc *scheduler) startTime(s *Source, h *host, unpaced bool, now time.Time) (at time.Time, ok bool) {
	if until := date.Later(h.known.Until(now), waitOf(s, now)); until.After(now) {
		return sc.postpone(h, until), false
	}
	if at := endOfSkip(s, now); at.After(now) {
		return at, false
	}
	if unpaced {
		return now, true
	}
	if !s.PushedAt.IsZero() {
		return sc.pushStart(s.ID, now), true
	}
	if at, late := sc.overdue(s, now); late {
		return at, false
	}
	wait := max(h.nextStart.Sub(now), 0) + time.Duration(h.waiting)*sc.spacing(h)
	if h.running >= sc.o.PerHost {
		wait += sc.spacing(h)
	}
	if wait > maxHold {
		return sc.postpone(h, now.Add(maxHold)), false
	}
	return now, true
}

// endOfSkip returns the end of the hours or days that the feed wants skipped, or now if s may be
// checked. A planned check can fall into skipped hours if the host was busy or the program was
// down. Pushed checks are exempt, and so are checks that were planned for a skipped time because
// a user requested them.
//
// spec:feedstate-2007#skip-hours
// spec:feedstate-2007#skip-days
func endOfSkip(s *Source, now time.Time) time.Time {
	announced := !s.PushedAt.IsZero() && s.PushedVia != Away || s.followsUp(now)
	if announced || s.State.CheckedAt.IsZero() || !s.State.Allowed(s.State.NextAt, 0).Equal(s.State.NextAt) {
		return now
	}
	return s.State.Allowed(now, float64(s.ID&0xffff)/0x10000).Truncate(time.Millisecond)
}

// followsUp reports whether a follow-up check of a recently announced change is due.
func (s *Source) followsUp(now time.Time) bool {
	st := &s.State
	return st.Evidence.Recent && st.FollowUpAt.Before(st.NextAt) && polling.DueFor(*st, now) == polling.FollowUp
}

// pushStart returns when a pushed source is checked. It ignores the pace of the host, but limits
// the checks of each source: pushBurst checks at once, then one check per pushInterval.
func (sc *scheduler) pushStart(id int64, now time.Time) time.Time {
	next := date.Later(sc.pushSlots[id], now)
	if next.Sub(now) > maxPostpone {
		next = now // the clock was set back, so the slot is too far in the future
	}
	sc.pushSlots[id] = next.Add(pushInterval)
	return date.Later(now, next.Add(-(pushBurst-1)*pushInterval))
}

// waitOf returns the end of a pause that the feed's server requested. The pause also applies to
// pushes. The result is zero if there is no pause.
func waitOf(s *Source, now time.Time) time.Time {
	if w := s.State.Wait; w != nil && w.Until.Sub(now) <= polling.LongestRetry {
		return w.Until
	}
	return time.Time{}
}

// overdue spreads the checks over time that were missed while the program was down or because the
// clock was set. The ID of the source selects its time within spreadOver. late is false if the
// source did not miss a check.
//
// spec:cloudburst#river-no-burst
func (sc *scheduler) overdue(s *Source, now time.Time) (at time.Time, late bool) {
	st := &s.State
	if st.CheckedAt.IsZero() || sc.epoch.IsZero() || !st.NextAt.Before(sc.epoch.Add(-time.Minute)) {
		return at, false
	}
	at = sc.epoch.Add(time.Duration(s.ID&0xffff) * spreadOver / 0x10000).Truncate(time.Millisecond)
	return at, at.After(now)
}

// postpone reserves and returns the next free time slot of a host at or after from.
func (sc *scheduler) postpone(h *host, from time.Time) time.Time {
	if h.nextFree.Before(from) {
		h.nextFree = from
	}
	at := h.nextFree
	h.nextFree = h.nextFree.Add(sc.spacing(h))
	if at.Sub(from) > maxPostpone {
		return from.Add(maxPostpone)
	}
	return at.Truncate(time.Millisecond)
}

// pick removes the next job that may start from the queue. off contains the jobs to release,
// because they waited too long or their feed now wants the hour skipped. If j is nil, wait is how
// long no job can start; 0 means until the next signal.
func (sc *scheduler) pick(now time.Time) (j *job, off []PutOff, wait time.Duration) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	var soon time.Time
	for i := 0; i < len(sc.waiting); i++ {
		w := sc.waiting[i]
		at, free := sc.startable(w)
		switch {
		case endOfSkip(&w.s, now).After(now): // a skipped hour began while the job waited
			sc.waiting = slices.Delete(sc.waiting, i, i+1)
			i--
			off = append(off, sc.putOff(w, endOfSkip(&w.s, now), now))
			continue
		case free && !at.After(now):
			sc.waiting = slices.Delete(sc.waiting, i, i+1)
			w.host.waiting--
			return w, off, 0
		case !now.Before(w.giveUp):
			sc.waiting = slices.Delete(sc.waiting, i, i+1)
			i--
			off = append(off, sc.putOff(w, sc.postpone(w.host, now.Add(sc.spacing(w.host))), now))
			continue
		}
		if !free || at.After(w.giveUp) {
			at = w.giveUp
		}
		if soon.IsZero() || at.Before(soon) {
			soon = at
		}
	}
	if !soon.IsZero() {
		wait = max(soon.Sub(now), time.Millisecond)
	}
	return nil, off, wait
}

// putOff returns the release of a job that left the queue. The source is due at until, or at once
// if a push arrived for it.
func (sc *scheduler) putOff(j *job, until, now time.Time) PutOff {
	j.host.waiting--
	if sc.inProgress[j.s.ID].again {
		until = now
	}
	delete(sc.inProgress, j.s.ID)
	return PutOff{ID: j.s.ID, Claim: j.s.Claim, NextAt: until}
}

// startable returns when a job may start, and whether its host has a free slot.
func (sc *scheduler) startable(j *job) (at time.Time, free bool) {
	h := j.host
	switch {
	case j.pushed():
		return j.notBefore, j.unpaced || h.running < sc.o.PerHost+2
	case j.unpaced:
		return j.notBefore, true
	}
	return date.Later(j.notBefore, h.nextStart), h.running < sc.o.PerHost
}

// start records that the check of a job starts.
func (sc *scheduler) start(j *job, now time.Time) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	j.startedAt = now
	j.host.running++
	sc.running++
	if !j.unpaced {
		j.host.nextStart = date.Later(j.host.nextStart, now.Add(sc.o.HostInterval))
	}
}

// finish records that the check of a job ended. again is true if its source was pushed during the
// check.
func (sc *scheduler) finish(j *job, now time.Time) (again bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	h := j.host
	h.running--
	sc.running--
	took := max(now.Sub(j.startedAt), 0)
	h.usualDuration = (3*h.usualDuration + took) / 4
	again = sc.inProgress[j.s.ID].again
	delete(sc.inProgress, j.s.ID)
	sc.sweep(now)
	sc.signal()
	return again
}

// markPushed records a push for a source. It returns true if the source waits or is being checked
// in this process; then it is checked once more.
func (sc *scheduler) markPushed(id int64, at time.Time) bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	p, ok := sc.inProgress[id]
	if ok {
		p.again = p.again || at.After(p.pushedAt)
		sc.inProgress[id] = p
	}
	return ok
}

// reserve records a request that is not a job, and returns how long to wait before the request.
// With atOnce the wait is 0, and later requests wait longer instead.
func (sc *scheduler) reserve(key string, now time.Time, atOnce bool) time.Duration {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	h := sc.host(key)
	if h.unpaced {
		return 0
	}
	at := date.Later(h.nextStart, now)
	if atOnce {
		at = now
	}
	h.nextStart = date.Later(h.nextStart, at.Add(sc.o.HostInterval))
	return at.Sub(now)
}

// hostState returns the pauses that the servers of a host requested.
func (sc *scheduler) hostState(key string) polling.Host {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if h := sc.hosts[key]; h != nil {
		return h.known
	}
	return polling.Host{}
}

// addWait adds the pause that a response requested, and returns the new state of the host.
func (sc *scheduler) addWait(key string, w *polling.Wait, now time.Time) polling.Host {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	h := sc.host(key)
	h.known = h.known.Add(w, now)
	return h.known
}

// drain empties the queue and returns the releases of its sources, which are due at now.
func (sc *scheduler) drain(now time.Time) (off []PutOff) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for _, w := range sc.waiting {
		w.host.waiting--
		delete(sc.inProgress, w.s.ID)
		off = append(off, PutOff{ID: w.s.ID, Claim: w.s.Claim, NextAt: now})
	}
	sc.waiting = nil
	return off
}

// sweep drops hosts and push slots that are no longer needed, if there are more than maxHosts.
func (sc *scheduler) sweep(now time.Time) {
	if len(sc.hosts)+len(sc.pushSlots) < maxHosts || now.Sub(sc.sweptAt).Abs() < time.Second {
		return
	}
	sc.sweptAt = now
	maps.DeleteFunc(sc.pushSlots, func(_ int64, next time.Time) bool { return !next.After(now) || next.Sub(now) > maxPostpone })
	for key, h := range sc.hosts {
		if h.running == 0 && h.waiting == 0 && !h.nextStart.After(now) && (!h.nextFree.After(now) || len(sc.hosts) > 64*maxHosts) {
			delete(sc.hosts, key) // the store still contains the pauses that servers requested
		}
	}
}

// load returns the number of sources that are being checked and the number that wait.
func (sc *scheduler) load() (reading, waiting int) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.running, len(sc.waiting)
}

// Unpaced reports whether requests to the host of a URL need no interval.
func (o *Options) Unpaced(url string) bool {
	return o.Own != nil && o.Own(url) || location.OwnHost(o.OwnHosts, polling.HostOf(url))
}
