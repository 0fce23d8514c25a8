package upstream

import (
	"sync"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

const (
	maxHosts        = 10_000                 // maximum number of hosts in memory
	silentAfter     = 3                      // number of consecutive unanswered requests after which a host gets no requests for a while
	initialDuration = 500 * time.Millisecond // assumed duration of a request to an unknown host
	minSlot         = 50 * time.Millisecond  // minimum time between two slots of one host
	minDelay        = 250 * time.Millisecond // minimum delay of a postponed request
)

// hosts limits the requests to each host, so that a host that is slow or requests a pause does not
// delay requests to other hosts.
//
// spec:cloudburst#follow-per-hub
type hosts struct {
	maxPerHost int             // maximum number of concurrent requests to one host
	retry      []time.Duration // pauses after consecutive failures
	longest    time.Duration   // maximum pause

	mu     sync.Mutex
	states map[string]*hostState
}

type hostState struct {
	running  int
	took     time.Duration // moving average of the duration of a request
	failed   int           // number of consecutive requests that got no answer, or were rejected as too many
	until    time.Time     // end of the pause
	nextSlot time.Time     // slot of the next request that cannot be sent now
}

// begin admits a request to a host if ok is true. Otherwise at is the time at which the request may
// be tried again; each waiting request gets another time.
func (h *hosts) begin(host string, now time.Time) (at time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(host, now)
	if s.running < h.maxPerHost && !s.until.After(now) {
		s.running++
		return now, true
	}
	at = date.Later(date.Later(s.nextSlot, s.until), now.Add(minDelay))
	// Add a margin, so that the host is probably free at the next slot.
	s.nextSlot = at.Add(max(s.took*5/4/time.Duration(h.maxPerHost), minSlot))
	return at, false
}

// end records the result of an admitted request. asked is false if no request was sent.
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
		s.failed = 0 // the host answers; the refusal concerns one feed only
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

// forget drops hosts without current state. If that frees too little memory, it also drops other
// hosts without a request in progress.
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
