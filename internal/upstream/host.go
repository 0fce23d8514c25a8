package upstream

import (
	"sync"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

const (
	maxHosts        = 10_000                 // that are remembered at once
	silentAfter     = 3                      // questions in a row without an answer after which a host is left alone
	initialDuration = 500 * time.Millisecond // a question to a host of which nothing is known
	minSlot         = 50 * time.Millisecond  // between two turns of one host
	minDelay        = 250 * time.Millisecond // nothing comes back sooner than that
)

// hosts is how it stands with the hosts that hubs are at: one that is slow, or asks
// for quiet, keeps none of the others waiting.
//
// spec:cloudburst#follow-per-hub
type hosts struct {
	maxPerHost int             // questions under way at one
	retry      []time.Duration // how long one is left alone, the more often it was in vain
	longest    time.Duration   // that one is left alone

	mu     sync.Mutex
	states map[string]*hostState
}

type hostState struct {
	running  int
	took     time.Duration // what a question takes, by and large
	failed   int           // questions in a row that nobody answered, or that came too soon
	until    time.Time     // it is left alone
	nextSlot time.Time     // the turn of the next one that cannot be asked now
}

// begin admits one more question. Where it does not, at is when its turn comes: each
// one that waits has its own.
func (h *hosts) begin(host string, now time.Time) (at time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(host, now)
	if s.running < h.maxPerHost && !s.until.After(now) {
		s.running++
		return now, true
	}
	at = date.Later(date.Later(s.nextSlot, s.until), now.Add(minDelay))
	// A little more than it takes, or the next one would find it still at work.
	s.nextSlot = at.Add(max(s.took*5/4/time.Duration(h.maxPerHost), minSlot))
	return at, false
}

// end takes in what became of a question that was admitted. told is false when nobody
// was asked after all.
func (h *hosts) end(host string, now time.Time, took time.Duration, asked bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(host, now)
	s.running--
	if !asked {
		return
	}
	s.took = (3*s.took + took) / 4
	wait := time.Duration(0)
	switch code := fault.CodeOf(err); {
	case err == nil, code == fault.Refused, code == fault.Gone, code == fault.Invalid:
		s.failed = 0 // it is there, and this one feed is another matter
		return
	case code == fault.TooMany, code == fault.Unavailable:
		s.failed++
		if wait = fault.RetryAfter(err); wait <= 0 {
			wait = h.retry[min(s.failed, len(h.retry))-1]
		}
	default:
		if s.failed++; s.failed >= silentAfter {
			wait = h.retry[min(s.failed-silentAfter, len(h.retry)-1)]
		}
	}
	s.until = date.Later(s.until, now.Add(min(wait, h.longest)))
}

func (h *hosts) of(host string, now time.Time) *hostState {
	s := h.states[host]
	if s == nil {
		if len(h.states) >= maxHosts {
			h.forget(now)
		}
		s = &hostState{took: initialDuration}
		h.states[host] = s
	}
	return s
}

// forget drops those of which nothing matters any more; when all do, those too at which
// nothing is under way.
func (h *hosts) forget(now time.Time) {
	for name, s := range h.states {
		if s.running == 0 && !s.until.After(now) && !s.nextSlot.After(now) {
			delete(h.states, name)
		}
	}
	for name, s := range h.states {
		if len(h.states) < maxHosts {
			return
		}
		if s.running == 0 {
			delete(h.states, name)
		}
	}
}
