package crashtest

import (
	"slices"
	"sync"
	"time"
)

// pair is a callback and a feed, subscribed now or earlier.
type pair struct{ feed, callback string }

// call is one request of a client with its known outcome.
type call struct {
	from, to time.Time
	ok       bool          // acknowledged; false: rejected or unanswered
	unsure   bool          // unanswered
	late     time.Duration // maximum delay of the effect
}

// done returns the latest time of the effect of the call. A separate database can still
// execute the request of a crashed program.
func (c call) done() time.Time {
	if c.unsure {
		return c.to.Add(c.late)
	}
	return c.to
}

// published is one version of a feed with its ping.
type published struct {
	version int
	at      time.Time // first time at which readers could see the version
	ping    call
}

// receipt is one notification as received by the callback.
type receipt struct {
	at, end time.Time
	conn    time.Time // when its connection was opened: in an earlier lifetime, the sender is a crashed process
	refused bool      // the callback returned an error, or its caller disconnected
	slow    bool
	content *content // WebSub
}

// overlap is a notification that arrived during another one.
type overlap struct {
	pair
	first, second time.Time
}

// lifetime contains the times of one process.
type lifetime struct {
	started, ready time.Time
	ended          time.Time // zero: it runs
}

// history contains all external observations.
type history struct {
	mu        sync.Mutex
	registers map[pair][]call
	cancels   map[pair][]call
	versions  map[string][]published
	received  map[pair][]receipt
	open      map[pair]time.Time // calls in progress, with their start
	overlaps  []overlap
	lifetimes []lifetime
	pending   int       // pings that were acknowledged before the feed had answered
	quiet     time.Time // no pending work from here on

	requests      map[pair][]*request     // of WebSub
	leases        map[int]*request        // the same, by lease
	verifications map[pair][]verification // of WebSub hubs to callbacks
	listed        map[string]time.Time    // times of acknowledged site pings by name
	proofs        map[pair][]call         // proofs of a subscription
	violations    []string                // messages that must not occur
	saves         map[string][]*save      // of hosted feeds, by owner
	reads         map[string][]feedRead
	order         map[string][]*span // of the versions, computed at the end
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

// begin records the start of a notification; the returned function records its end.
func (h *history) begin(p pair, conn time.Time, c *content) (end func(refused, slow bool)) {
	at := time.Now()
	h.do(func() {
		// A notification of a crashed process is no fault of the current one.
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

// now records the time of an event of the current process.
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

// liveSince returns the time since which p was certainly subscribed without a break: the first
// acknowledged registration after the last cancel with any outcome.
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

// ended returns the last acknowledged cancel of p, if no registration can have followed it.
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
