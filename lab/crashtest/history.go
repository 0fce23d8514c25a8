package crashtest

import (
	"slices"
	"sync"
	"time"
)

// pair is one callback that follows, or followed, one feed.
type pair struct{ feed, callback string }

// call is one request of a client with what is known of its outcome.
type call struct {
	from, to time.Time
	ok       bool          // acknowledged; false: refused, or the answer never came
	unsure   bool          // the answer never came
	late     time.Duration // how long after that it can have been done
}

// done is the latest moment at which the call can have had its effect. A database
// of its own may still do what a program asked for that has died since.
func (c call) done() time.Time {
	if c.unsure {
		return c.to.Add(c.late)
	}
	return c.to
}

// published is one version of a feed with its ping.
type published struct {
	version int
	at      time.Time // when readers could see it first
	ping    call
}

// receipt is one notification as the callback saw it.
type receipt struct {
	at, end time.Time
	conn    time.Time // when its connection was made: one from an earlier life came from the dead
	refused bool      // the callback answered that it cannot, or lost its caller before it answered
	slow    bool
	content *content // WebSub
}

// overlap is a notification that came while another was under way.
type overlap struct {
	pair
	first, second time.Time
}

// life is one process.
type life struct {
	begun, ready time.Time
	died         time.Time // zero: it lives
}

// history is all that was seen from outside.
type history struct {
	mu        sync.Mutex
	registers map[pair][]call
	cancels   map[pair][]call
	versions  map[string][]published
	received  map[pair][]receipt
	open      map[pair]time.Time // calls that have not ended, by when they came
	overlaps  []overlap
	lives     []life
	pending   int       // pings that were acknowledged before the feed had answered
	quiet     time.Time // nothing was left to do from here on

	requests  map[pair][]*request  // of WebSub
	leases    map[int]*request     // the same, by what the callback knows them by
	questions map[pair][]question  // of WebSub hubs to callbacks
	listed    map[string]time.Time // acknowledged pings of sites by the name that was given, and when
	proofs    map[pair][]call      // that it was subscribed
	strange   []string             // what nobody may say or ask at all
	saves     map[string][]*save   // of hosted feeds, by whose it is
	looks     map[string][]look
	order     map[string][]*span // of the versions, at the end
	tickets   []*ticket
	afterlife time.Duration
}

func newHistory(afterlife time.Duration) *history {
	return &history{afterlife: afterlife, registers: map[pair][]call{}, cancels: map[pair][]call{}, versions: map[string][]published{},
		received: map[pair][]receipt{}, open: map[pair]time.Time{},
		requests: map[pair][]*request{}, leases: map[int]*request{}, questions: map[pair][]question{}, listed: map[string]time.Time{}, proofs: map[pair][]call{},
		saves: map[string][]*save{}, looks: map[string][]look{}}
}

func (h *history) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// begin notes a notification that has come; what is returned notes how it ended.
func (h *history) begin(p pair, conn time.Time, c *content) (end func(refused, slow bool)) {
	at := time.Now()
	h.do(func() {
		// One that a dead process left behind is no fault of the living one.
		if other, busy := h.open[p]; busy && len(h.lives) > 0 && other.After(h.lives[len(h.lives)-1].begun) {
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

func (h *history) born() {
	h.do(func() { h.lives = append(h.lives, life{begun: time.Now()}) })
}

// now notes the moment in the life of the present process.
func (h *history) now(set func(*life, time.Time)) {
	h.do(func() { set(&h.lives[len(h.lives)-1], time.Now()) })
}

func (h *history) deaths() (n int) {
	for _, l := range h.lives {
		if !l.died.IsZero() {
			n++
		}
	}
	return n
}

// liveSince is since when p was live without a break, as far as anybody outside can
// be sure: the first acknowledged registration after the last cancel of any outcome.
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

// ended is the last acknowledged cancel of p, if no registration can have come after it.
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
