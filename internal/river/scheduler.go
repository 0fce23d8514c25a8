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

// desk holds the few claimed sources that wait for the turn of their host, and paces the
// hosts. What would wait long is put off instead, to a slot of its own, so that one host
// with thousands of feeds neither fills memory nor keeps others waiting.
//
// spec:cloudburst#river-host-pace
type scheduler struct {
	o Options // with defaults

	mu         sync.Mutex
	hosts      map[string]*host
	waiting    []*job              // in the order in which they came, announced ones first
	inProgress map[int64]bool      // sources that wait or are read here; true: it was announced again meanwhile
	pushSlots  map[int64]time.Time // until when the readings of announced sources are next for
	running    int
	epoch      time.Time // what was due before is not read in one burst
	sweptAt    time.Time
	changed    chan struct{} // something may be startable, or there is room
}

// turn is one source that waits to be read.
type job struct {
	s         Source
	host      *host
	unpaced   bool      // it needs no pacing
	notBefore time.Time // not before
	giveUp    time.Time // when it is given back unread
	startedAt time.Time
}

func (t *job) pushed() bool { return !t.s.PushedAt.IsZero() }

// host is one that is being asked, or was a moment ago.
type host struct {
	key           string
	unpaced       bool // it needs no pacing
	running       int
	waiting       int           // turns that wait
	nextStart     time.Time     // when the next check may start
	nextFree      time.Time     // from here on nobody was put off to
	usualDuration time.Duration // a usual check
	known         feedstate.Host
}

const (
	maxHold      = 5 * time.Second // longer waits are not waited for in memory
	pushInterval = time.Second     // checks of one source because of announcements
	pushBurst    = 3               // of them that need not wait for each other
	spreadOver   = feedstate.Shortest
	maxHosts     = 1024 // known at once before those are forgotten that are not needed
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

// room is how many more sources can be taken.
func (d *scheduler) free() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(200, 4*d.o.AtOnce) - len(d.waiting)
}

// host is the entry of a host; the caller has the lock.
func (d *scheduler) host(key string) *host {
	h := d.hosts[key]
	if h == nil {
		h = &host{key: key, unpaced: ownHost(d.o.OwnHosts, key)}
		d.hosts[key] = h
	}
	return h
}

// ownHost reports whether a host is in the list of own hosts: by its name at any port, or
// with its port.
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

// lastColon is where the port of a host begins, -1 without one.
func lastColon(key string) int {
	for i := len(key) - 1; i >= 0 && key[i] != ']'; i-- {
		if key[i] == ':' {
			return i
		}
	}
	return -1
}

// spacing is how long a host needs for one check, given how many it takes at once.
func (d *scheduler) spacing(h *host) time.Duration {
	return max(d.o.HostInterval, h.usualDuration/time.Duration(d.o.PerHost), 10*time.Millisecond)
}

// add takes claimed sources in and returns those that have to be put off.
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

// slot says from when s may be read, and whether that is worth waiting for here; if not,
// it is the time to put it off to.
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

// skipped is the end of what the feed asks to skip, where s may not be read before it; else
// now. A check can come late: the host was busy, or the program did not run. What a hub
// announced is read at once, and so is what a user asked for by hand: only then the plan
// itself is for a skipped moment.
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

// followsUp reports that a recent change was announced and read, and that the check which
// belongs to it is due.
func (s *Source) followsUp(now time.Time) bool {
	st := &s.State
	return st.Evidence.Recent && st.FollowUpAt.Before(st.NextAt) && feedstate.DueFor(*st, now) == feedstate.FollowUp
}

// hearing is when an announced source is read. It goes before the pace of the host, but
// not every announcement alone: a few at once, and then one in each pushEvery.
func (d *scheduler) pushStart(id int64, now time.Time) time.Time {
	next := date.Later(d.pushSlots[id], now)
	if next.Sub(now) > maxPostpone {
		next = now // the clock was set back
	}
	d.pushSlots[id] = next.Add(pushInterval)
	return date.Later(now, next.Add(-(pushBurst-1)*pushInterval))
}

// waitOf is until when the feed itself is to be left alone whatever is announced.
func waitOf(s *Source, now time.Time) time.Time {
	if w := s.State.Wait; w != nil && w.Until.Sub(now) <= feedstate.LongestRetry {
		return w.Until
	}
	return time.Time{}
}

// overdue spreads what was missed while the program did not run, or the clock jumped: a
// moment in the minutes after, by the number of the source.
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

// later is the next free slot of a host from a time on.
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

// pick takes the next turn that may start. off are turns that waited too long; without a
// turn, wait is how long nothing can start (0: until something changes).
func (d *scheduler) pick(now time.Time) (t *job, off []PutOff, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var soon time.Time
	for i := 0; i < len(d.waiting); i++ {
		w := d.waiting[i]
		at, free := d.startable(w, now)
		switch {
		case endOfSkip(&w.s, now).After(now): // it became so while the turn waited
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

// putOff gives a turn back that has left the queue: until a time, or at once where its
// source was announced again meanwhile.
func (d *scheduler) putOff(t *job, until, now time.Time) PutOff {
	t.host.waiting--
	if d.inProgress[t.s.ID] {
		until = now
	}
	delete(d.inProgress, t.s.ID)
	return PutOff{ID: t.s.ID, Claim: t.s.Claim, NextAt: until}
}

// startable says from when a turn may start, and whether its host has a connection free.
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

// start notes that a turn begins.
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

// done notes that a turn is over; again says that its source was announced meanwhile.
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

// announce notes that a source was announced; true: it waits or is read here, and will be
// read once more.
func (d *scheduler) markPushed(id int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.inProgress[id]
	if ok {
		d.inProgress[id] = true
	}
	return ok
}

// ask notes a request besides the turns, and returns how long to wait before it. One that
// somebody waits for is not held back, but those after it are.
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

// known is what is known of a host.
func (d *scheduler) hostState(key string) feedstate.Host {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[key]; h != nil {
		return h.known
	}
	return feedstate.Host{}
}

// told takes in what an answer asked the host to be left alone for, and returns what is
// known now.
func (d *scheduler) addWait(key string, w *feedstate.Wait, now time.Time) feedstate.Host {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.host(key)
	h.known = h.known.Add(w, now)
	return h.known
}

// drain empties the desk and returns what was not read.
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

// sweep forgets hosts and announcements of which nothing is needed any more, when there
// are many.
func (d *scheduler) sweep(now time.Time) {
	if len(d.hosts)+len(d.pushSlots) < maxHosts || now.Sub(d.sweptAt).Abs() < time.Second {
		return
	}
	d.sweptAt = now
	maps.DeleteFunc(d.pushSlots, func(_ int64, next time.Time) bool { return !next.After(now) || next.Sub(now) > maxPostpone })
	for key, h := range d.hosts {
		if h.running == 0 && h.waiting == 0 && !h.nextStart.After(now) && (!h.nextFree.After(now) || len(d.hosts) > 64*maxHosts) {
			delete(d.hosts, key) // what servers asked for is in the store
		}
	}
}

// load is how many sources are read and wait.
func (d *scheduler) load() (reading, waiting int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running, len(d.waiting)
}
