package fulltext

import (
	"cloudburst/internal/href"
	"sync"
	"time"
)

// maxHosts is the number of stored hosts from which trim deletes idle hosts.
const maxHosts = 1000

// hosts limits requests: each host gets one request at a time, with a pause after each request.
type hosts struct {
	interval func(url string) time.Duration
	mu       sync.Mutex
	all      map[string]*host
}

type host struct {
	busy bool
	free time.Time // when the next request may start
	tail time.Time // turn of the last page that admit rejected
}

// admit starts a request for a page, or returns false and the time of the page's turn. Waiting
// pages of a host get different turns, so that they do not fill the claims and block pages of other
// hosts.
func (h *hosts) admit(p Page, now time.Time) (at time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, pause := href.HostPort(p.Link), h.interval(p.Link)
	one := h.all[name]
	if one == nil {
		h.trim(now)
		one = &host{}
		h.all[name] = one
	}
	if !one.busy && !one.free.After(now) {
		one.busy = true
		return now, true
	}
	pause = max(pause, 250*time.Millisecond)
	turn := now.Add(pause)
	for _, t := range []time.Time{one.free, one.tail.Add(pause)} {
		if t.After(turn) {
			turn = t
		}
	}
	one.tail = turn
	return turn, false
}

// leave ends the request for a page.
func (h *hosts) leave(link string, now time.Time) {
	pause := h.interval(link)
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.all[href.HostPort(link)]; one != nil {
		one.busy, one.free = false, now.Add(pause)
	}
}

// trim deletes idle hosts if there are at least maxHosts hosts.
func (h *hosts) trim(now time.Time) {
	if h.all == nil {
		h.all = map[string]*host{}
	}
	if len(h.all) < maxHosts {
		return
	}
	for name, one := range h.all {
		if !one.busy && one.free.Before(now) && one.tail.Before(now) {
			delete(h.all, name)
		}
	}
}
