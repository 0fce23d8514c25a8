package river

import (
	"maps"
	"slices"
	"sync"
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/date"
	"cloudburst/internal/href"
)

// scheduler holds the claimed sources that wait for their host, and paces the requests to each
// host. It postpones a source that would wait long to a time slot of its own. So a host with
// thousands of feeds neither fills memory nor delays other hosts.
//
// spec:cloudburst#river-host-pace
type scheduler struct {
	o Options // with the defaults filled in

	mu         sync.Mutex
	hosts      map[string]*host
	waiting    []*job              // in the order of arrival, pushed ones first
	inProgress map[int64]bool      // sources that wait or are being checked; true: pushed again, check once more
	pushSlots  map[int64]time.Time // per source: the next free slot for a check because of a push
	running    int
	epoch      time.Time // sources that were due before it are spread over time
	sweptAt    time.Time
	changed    chan struct{} // signals that a job may be startable or that there is free capacity
}

// job is one source that waits for its check.
type job struct {
	s         Source
	host      *host
	unpaced   bool      // exempt from the pace of the host
	notBefore time.Time // not before
	giveUp    time.Time // when it is released unread
	startedAt time.Time
}

func (t *job) pushed() bool { return !t.s.PushedAt.IsZero() }

// host is a host with waiting, running or recent checks.
type host struct {
	key           string
	unpaced       bool // exempt from pacing
	running       int
	waiting       int           // jobs in the queue
	nextStart     time.Time     // when the next check may start
	nextFree      time.Time     // the next free slot for a postponed source
	usualDuration time.Duration // moving average of a check
	known         feedstate.Host
}

const (
	maxHold      = 5 * time.Second // a source that would wait longer is postponed in the store
	pushInterval = time.Second     // between two checks of one source because of pushes
	pushBurst    = 3               // pushed checks of one source that may start without that interval
	spreadOver   = feedstate.Shortest
	maxHosts     = 1024 // hosts and push slots in memory before unneeded ones are dropped
	maxPostpone  = 24 * time.Hour
)

func newScheduler(o Options) *scheduler {
	return &scheduler{o: o, hosts: map[string]*host{}, inProgress: map[int64]bool{}, pushSlots: map[int64]time.Time{}, changed: make(chan struct{}, 1)}
}

func (d *scheduler) signal() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// free returns how many more sources the queue can take.
func (d *scheduler) free() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(200, 4*d.o.AtOnce) - len(d.waiting)
}

// host returns the entry of a host. The caller holds the lock.
func (d *scheduler) host(key string) *host {
	h := d.hosts[key]
	if h == nil {
		h = &host{key: key, unpaced: ownHost(d.o.OwnHosts, key)}
		d.hosts[key] = h
	}
	return h
}

// ownHost reports whether the list of own hosts has a host, by its name for any port or by name
// and port.
func ownHost(own []string, key string) bool {
	name := key
	if i := lastColon(key); i >= 0 {
		name = key[:i]
	}
	return slices.ContainsFunc(own, func(o string) bool {
		if o == "*" || lastColon(o) < 0 && href.Host("http://"+o) == name {
			return true
		}
		return href.HostPort("http://"+o) == key || href.HostPort("https://"+o) == key
	})
}

// lastColon returns the index of the colon before the port, -1 without a port.
func lastColon(key string) int {
	for i := len(key) - 1; i >= 0 && key[i] != ']'; i-- {
		if key[i] == ':' {
			return i
		}
	}
	return -1
}

// spacing returns the time that a host needs for one check, at PerHost checks in parallel.
func (d *scheduler) spacing(h *host) time.Duration {
	return max(d.o.HostInterval, h.usualDuration/time.Duration(d.o.PerHost), 10*time.Millisecond)
}

// add queues claimed sources and returns those that have to be postponed.
func (d *scheduler) add(list []Source, known map[string]feedstate.Host, now time.Time) (off []PutOff) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range list {
		s := &list[i]
		key := feedstate.HostOf(s.State.URL)
		h := d.host(key)
		for _, w := range known[key].Waits {
			h.known = h.known.Add(&w, now)
		}
		unpaced := h.unpaced || d.o.Own != nil && d.o.Own(s.State.URL)
		at, ok := d.startTime(s, h, unpaced, now)
		if !ok {
			off = append(off, PutOff{ID: s.ID, Claim: s.Claim, NextAt: at})
			continue
		}
		t := &job{s: *s, host: h, unpaced: unpaced, notBefore: at, giveUp: at.Add(maxHold)}
		h.waiting++
		d.inProgress[s.ID] = false
		if t.pushed() {
			n := 0
			for n < len(d.waiting) && d.waiting[n].pushed() {
				n++
			}
			d.waiting = slices.Insert(d.waiting, n, t)
		} else {
			d.waiting = append(d.waiting, t)
		}
	}
	d.sweep(now)
	d.signal()
	return off
}

// startTime returns when s may be checked. ok is false when that is too far off to wait for in
// memory; s is then postponed to at.
func (d *scheduler) startTime(s *Source, h *host, unpaced bool, now time.Time) (at time.Time, ok bool) {
	if until := date.Later(h.known.Until(now), waitOf(s, now)); until.After(now) {
		return d.postpone(h, until), false
	}
	if at := endOfSkip(s, now); at.After(now) {
		return at, false
	}
	if unpaced {
		return now, true
	}
	if !s.PushedAt.IsZero() {
		return d.pushStart(s.ID, now), true
	}
	if at, late := d.overdue(s, now); late {
		return at, false
	}
	wait := max(h.nextStart.Sub(now), 0) + time.Duration(h.waiting)*d.spacing(h)
	if h.running >= d.o.PerHost {
		wait += d.spacing(h)
	}
	if wait > maxHold {
		return d.postpone(h, now.Add(maxHold)), false
	}
	return now, true
}

// endOfSkip returns the end of the hours or days that the feed wants skipped, or now when s may be
// checked. A planned check can fall into skipped hours because the host was busy or the program
// was down. Pushed checks and checks by hand are exempt: their plan itself is for a skipped time.
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

// followsUp reports whether the follow-up check for a recent announced change is due.
func (s *Source) followsUp(now time.Time) bool {
	st := &s.State
	return st.Evidence.Recent && st.FollowUpAt.Before(st.NextAt) && feedstate.DueFor(*st, now) == feedstate.FollowUp
}

// pushStart returns when a pushed source is checked. It ignores the pace of the host, but limits
// the checks per source: pushBurst at once, then one per pushInterval.
func (d *scheduler) pushStart(id int64, now time.Time) time.Time {
	next := date.Later(d.pushSlots[id], now)
	if next.Sub(now) > maxPostpone {
		next = now // the clock was set back
	}
	d.pushSlots[id] = next.Add(pushInterval)
	return date.Later(now, next.Add(-(pushBurst-1)*pushInterval))
}

// waitOf returns the time until which the feed must not be checked, even after a push.
func waitOf(s *Source, now time.Time) time.Time {
	if w := s.State.Wait; w != nil && w.Until.Sub(now) <= feedstate.LongestRetry {
		return w.Until
	}
	return time.Time{}
}

// overdue spreads the checks that were missed while the program was down or the clock jumped. The
// ID of the source decides its time within spreadOver.
//
// spec:cloudburst#river-no-burst
func (d *scheduler) overdue(s *Source, now time.Time) (at time.Time, late bool) {
	st := &s.State
	if st.CheckedAt.IsZero() || d.epoch.IsZero() || !st.NextAt.Before(d.epoch.Add(-time.Minute)) {
		return at, false
	}
	at = d.epoch.Add(time.Duration(s.ID&0xffff) * spreadOver / 0x10000).Truncate(time.Millisecond)
	return at, at.After(now)
}

// postpone returns the next free slot of a host, starting at a time.
func (d *scheduler) postpone(h *host, from time.Time) time.Time {
	if h.nextFree.Before(from) {
		h.nextFree = from
	}
	at := h.nextFree
	h.nextFree = h.nextFree.Add(d.spacing(h))
	if at.Sub(from) > maxPostpone {
		return from.Add(maxPostpone)
	}
	return at.Truncate(time.Millisecond)
}

// pick returns the next job that may start. off has jobs that waited too long or became skipped.
// Without a job, wait is how long no job can start (0: until something changes).
func (d *scheduler) pick(now time.Time) (t *job, off []PutOff, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var soon time.Time
	for i := 0; i < len(d.waiting); i++ {
		w := d.waiting[i]
		at, free := d.startable(w, now)
		switch {
		case endOfSkip(&w.s, now).After(now): // the hour changed while the job waited
			d.waiting = slices.Delete(d.waiting, i, i+1)
			i--
			off = append(off, d.putOff(w, endOfSkip(&w.s, now), now))
			continue
		case free && !at.After(now):
			d.waiting = slices.Delete(d.waiting, i, i+1)
			w.host.waiting--
			return w, off, 0
		case !now.Before(w.giveUp):
			d.waiting = slices.Delete(d.waiting, i, i+1)
			i--
			off = append(off, d.putOff(w, d.postpone(w.host, now.Add(d.spacing(w.host))), now))
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

// putOff releases a job that left the queue: until a time, or at once when its source was pushed
// again.
func (d *scheduler) putOff(t *job, until, now time.Time) PutOff {
	t.host.waiting--
	if d.inProgress[t.s.ID] {
		until = now
	}
	delete(d.inProgress, t.s.ID)
	return PutOff{ID: t.s.ID, Claim: t.s.Claim, NextAt: until}
}

// startable returns when a job may start, and whether its host has a free connection.
func (d *scheduler) startable(t *job, now time.Time) (at time.Time, free bool) {
	h := t.host
	switch {
	case t.pushed():
		return t.notBefore, t.unpaced || h.running < d.o.PerHost+2
	case t.unpaced:
		return t.notBefore, true
	}
	return date.Later(t.notBefore, h.nextStart), h.running < d.o.PerHost
}

// start records that a job starts.
func (d *scheduler) start(t *job, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.startedAt = now
	t.host.running++
	d.running++
	if !t.unpaced {
		t.host.nextStart = date.Later(t.host.nextStart, now.Add(d.o.HostInterval))
	}
}

// finish records that a job ended. again is true when its source was pushed during the check.
func (d *scheduler) finish(t *job, now time.Time) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := t.host
	h.running--
	d.running--
	took := max(now.Sub(t.startedAt), 0)
	h.usualDuration = (3*h.usualDuration + took) / 4
	again = d.inProgress[t.s.ID]
	delete(d.inProgress, t.s.ID)
	d.sweep(now)
	d.signal()
	return again
}

// markPushed records a push for a source. It returns true when the source waits or is being
// checked here and will be checked once more.
func (d *scheduler) markPushed(id int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.inProgress[id]
	if ok {
		d.inProgress[id] = true
	}
	return ok
}

// reserve records a request that is not a job, and returns how long to wait before it. With atOnce
// the request does not wait, but later ones do.
func (d *scheduler) reserve(key string, now time.Time, atOnce bool) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.host(key)
	if h.unpaced {
		return 0
	}
	at := date.Later(h.nextStart, now)
	if atOnce {
		at = now
	}
	h.nextStart = date.Later(h.nextStart, at.Add(d.o.HostInterval))
	return at.Sub(now)
}

// hostState returns what a host's servers asked for.
func (d *scheduler) hostState(key string) feedstate.Host {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[key]; h != nil {
		return h.known
	}
	return feedstate.Host{}
}

// addWait adds the wait that a response asked for, and returns the state of the host.
func (d *scheduler) addWait(key string, w *feedstate.Wait, now time.Time) feedstate.Host {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.host(key)
	h.known = h.known.Add(w, now)
	return h.known
}

// drain empties the queue and returns the sources that were not checked.
func (d *scheduler) drain(now time.Time) (off []PutOff) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.waiting {
		w.host.waiting--
		delete(d.inProgress, w.s.ID)
		off = append(off, PutOff{ID: w.s.ID, Claim: w.s.Claim, NextAt: now})
	}
	d.waiting = nil
	return off
}

// sweep drops hosts and push slots that are not needed any more, when there are many.
func (d *scheduler) sweep(now time.Time) {
	if len(d.hosts)+len(d.pushSlots) < maxHosts || now.Sub(d.sweptAt).Abs() < time.Second {
		return
	}
	d.sweptAt = now
	maps.DeleteFunc(d.pushSlots, func(_ int64, next time.Time) bool { return !next.After(now) || next.Sub(now) > maxPostpone })
	for key, h := range d.hosts {
		if h.running == 0 && h.waiting == 0 && !h.nextStart.After(now) && (!h.nextFree.After(now) || len(d.hosts) > 64*maxHosts) {
			delete(d.hosts, key) // the store still has the waits that servers asked for
		}
	}
}

// load returns how many sources are being checked and how many wait.
func (d *scheduler) load() (reading, waiting int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running, len(d.waiting)
}
