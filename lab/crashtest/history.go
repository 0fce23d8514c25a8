package crashtest

import (
	"slices"
	"sync"
	"time"
)

// pair is a callback and a feed, with a current or earlier subscription.
type pair struct{ feed, callback string }

// call is a request of a client with its outcome.
type call struct {
	from, to time.Time
	ok       bool          // the request was acknowledged; false if it was rejected or had no response
	unsure   bool          // the request had no response
	late     time.Duration // maximum time from the end of the call to its effect
}

// done returns the latest time at which the call can have its effect. A separate database server
// can still execute the request of a crashed program.
func (c call) done() time.Time {
	if c.unsure {
		return c.to.Add(c.late)
	}
	return c.to
}

// published is one version of a feed with its ping.
type published struct {
	version int
	at      time.Time // earliest time at which readers could see the version
	ping    call
}

// receipt is a notification that the callback received.
type receipt struct {
	at, end time.Time
	conn    time.Time // time when the connection was opened; in an earlier lifetime means that a crashed process sent the notification
	refused bool      // the callback returned an error, or the program disconnected
	slow    bool
	content *content // content of a WebSub notification; nil for other protocols
}

// overlap is a notification that arrived while another one was in progress.
type overlap struct {
	pair
	first, second time.Time
}

// lifetime contains the times of one process of the program.
type lifetime struct {
	started, ready time.Time
	ended          time.Time // zero while the process runs
}

// history contains everything that clients and callbacks observed.
type history struct {
	mu        sync.Mutex
	registers map[pair][]call
	cancels   map[pair][]call
	versions  map[string][]published
	received  map[pair][]receipt
	open      map[pair]time.Time // notifications in progress, with their start times
	overlaps  []overlap
	lifetimes []lifetime
	pending   int       // number of pings that were acknowledged before the feed responded
	quiet     time.Time // from this time on, no work is pending

	requests      map[pair][]*request     // WebSub requests
	leases        map[int]*request        // WebSub requests by their unique lease
	verifications map[pair][]verification // verifications and denials that callbacks received from the hub
	listed        map[string]time.Time    // key: name of a pinged site; value: time of the acknowledgment
	proofs        map[pair][]call         // calls that prove a subscription
	violations    []string                // messages that must not occur
	saves         map[string][]*save      // key: owner; value: saves of the hosted feed
	reads         map[string][]feedRead
	order         map[string][]*span // key: owner; value: spans of the versions, computed at the end of the run
	tickets       []*ticket
	lateWrites    time.Duration
}

func newHistory(lateWrites time.Duration) *history {
	return &history{lateWrites: lateWrites, registers: map[pair][]call{}, cancels: map[pair][]call{}, versions: map[string][]published{},
		received: map[pair][]receipt{}, open: map[pair]time.Time{},
		requests: map[pair][]*request{}, leases: map[int]*request{}, verifications: map[pair][]verification{}, listed: map[string]time.Time{}, proofs: map[pair][]call{},
		saves: map[string][]*save{}, reads: map[string][]feedRead{}}
}

func (h *history) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// begin records the start of a notification. The caller calls end when the notification ends.
func (h *history) begin(p pair, conn time.Time, c *content) (end func(refused, slow bool)) {
	at := time.Now()
	h.do(func() {
		// A notification of a crashed process can still be open. Ignore it, because the current
		// process does not know about it.
		if other, busy := h.open[p]; busy && len(h.lifetimes) > 0 && other.After(h.lifetimes[len(h.lifetimes)-1].started) {
			h.overlaps = append(h.overlaps, overlap{p, other, at})
		}
		h.open[p] = at
	})
	return func(refused, slow bool) {
		h.do(func() {
			if h.open[p].Equal(at) {
				delete(h.open, p)
			}
			h.received[p] = append(h.received[p], receipt{at, time.Now(), conn, refused, slow, c})
		})
	}
}

func (h *history) started() {
	h.do(func() { h.lifetimes = append(h.lifetimes, lifetime{started: time.Now()}) })
}

// now calls set with the current lifetime and the current time.
func (h *history) now(set func(*lifetime, time.Time)) {
	h.do(func() { set(&h.lifetimes[len(h.lifetimes)-1], time.Now()) })
}

func (h *history) crashes() (n int) {
	for _, l := range h.lifetimes {
		if !l.ended.IsZero() {
			n++
		}
	}
	return n
}

// liveSince returns the time since which p has certainly been subscribed without interruption.
// This is the first acknowledged registration after the last cancel, whether the cancel was
// acknowledged or not.
func (h *history) liveSince(p pair) (since time.Time, found bool) {
	var cut time.Time
	for _, c := range h.cancels[p] {
		if c.done().After(cut) {
			cut = c.done()
		}
	}
	for _, c := range slices.Concat(h.registers[p], h.proofs[p]) {
		if c.ok && c.from.After(cut) && (!found || c.to.Before(since)) {
			since, found = c.to, true
		}
	}
	return since, found
}

// ended returns the last acknowledged cancel of p. ended is false if a later registration may
// exist.
func (h *history) ended(p pair) (last call, ended bool) {
	for _, c := range h.cancels[p] {
		if c.ok && c.to.After(last.to) {
			last, ended = c, true
		}
	}
	for _, c := range h.registers[p] {
		if c.done().After(last.from) {
			return call{}, false
		}
	}
	return last, ended
}
