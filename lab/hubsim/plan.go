package hubsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"cloudburst/internal/hub"
)

const (
	callbackTimeout = 3 * time.Second
	minLease        = 90 * time.Second // minimum lease of WebSub
	longAway        = 4 * time.Second  // duration of a failure after which a lease can have expired
)

// retries returns the retry waits of a scenario. They are shorter than in production, so that a
// simulation is short.
func retries() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second, 10 * time.Second, 12 * time.Second, 15 * time.Second}
}

// behavior is the behavior of a callback before the calm period.
type behavior int

const (
	steady  behavior = iota
	slow             // responds after up to two seconds
	flaky            // often rejects a delivery
	mute             // often sends no response
	lossy            // accepts the delivery, but the response is often lost
	dead             // rejects all deliveries, also in the calm period
	leaving          // sometimes replies 410
)

// disturbance is a fault of a machine.
type disturbance struct {
	what    string // one of "crash", "pause", "outage" and "jump"
	at      time.Duration
	machine int // -1 means all machines
	long    time.Duration
}

// plan contains all decisions that are made before a run.
type plan struct {
	start    time.Duration // time from the start of an hour to the start of the run
	long     time.Duration // duration of the period with faults
	machines int
	quiet    bool // only callbacks have faults
	tail     bool // the run continues for more than 25 hours
	skew     []time.Duration
	before   float64 // share of writes that the store rejects
	after    float64 // share of writes that the store executes but reports as failed
	late     float64 // share of writes that take up to three seconds
	lostHint float64
	badFeed  float64 // share of feed requests that fail
	slowFeed float64
	options  hub.Options
	members  []member
	feeds    int
	changes  []change
	trouble  []disturbance
}

// change is a change of a feed and the number of its pings.
type change struct {
	at    time.Duration
	feed  int
	pings int
}

// member is a callback and a feed that it can subscribe to.
type member struct {
	n        int
	feed     int
	protocol string
	callback string
	behavior behavior
	key      hub.Key
	joins    time.Duration
	acts     []move
	tries    map[int64]int // key: version; value: number of deliveries so far
}

// move is an action of a member at a planned time.
type move struct {
	at     time.Duration
	kind   string // "register" or "cancel"
	secret string
	lease  time.Duration
}

func feedURL(n int) string { return fmt.Sprintf("http://feed%d.sim/rss.xml", n) }

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// makePlan returns the plan for a seed.
func makePlan(seed uint64) plan {
	r := choices(seed)
	p := plan{
		start: between(r, 48*time.Minute, 55*time.Minute), long: between(r, 70*time.Second, 130*time.Second),
		machines: []int{1, 1, 2, 2, 3}[r.IntN(5)], quiet: r.IntN(4) == 0, tail: r.IntN(12) == 0, feeds: 1 + r.IntN(2),
		options: hub.Options{CallbackTimeout: callbackTimeout, Retry: retries(), MinLease: minLease, MaxInFlight: []int{4, 64, 512}[r.IntN(3)]},
	}
	for range p.machines {
		p.skew = append(p.skew, between(r, -time.Second, time.Second))
	}
	if !p.quiet {
		p.before, p.after, p.late = []float64{0, 0.01, 0.05}[r.IntN(3)], []float64{0, 0.01, 0.05}[r.IntN(3)], []float64{0, 0.01}[r.IntN(2)]
		p.lostHint, p.badFeed, p.slowFeed = []float64{0, 0.3, 1}[r.IntN(3)], []float64{0, 0.1}[r.IntN(2)], []float64{0, 0.15}[r.IntN(2)]
	}
	p.drawMembers(r)
	p.drawChanges(r)
	if !p.quiet {
		p.drawFaults(r)
	}
	// When a frozen machine continues, many operations arrive at the same time. With a small
	// MaxUnrecorded, the batches would then depend on chance and would not be reproducible.
	if !slices.ContainsFunc(p.trouble, func(d disturbance) bool { return d.what == "pause" }) {
		p.options.MaxUnrecorded = []int{1, 4, 20, 500}[hash(seed, 0x3d)%4]
	}
	return p
}

// drawMembers chooses the members and their actions.
func (p *plan) drawMembers(r *rand.Rand) {
	n, subscribers := 3+r.IntN(8), r.IntN(5) == 0
	if subscribers {
		n = 55 + r.IntN(40)
		p.options.MaxInFlight = []int{6, 64}[r.IntN(2)]
	}
	protocols := []string{hub.HTTPPost, hub.HTTPPost, hub.XMLRPC, hub.HTTPSPost, hub.SOAP, hub.WebSub, hub.WebSub, hub.CNWS}
	natures := []behavior{steady, steady, steady, slow, flaky, mute, lossy, dead, leaving}
	usual := natures[r.IntN(len(natures)-2)]
	if subscribers && r.IntN(2) == 0 {
		usual, p.options.MaxInFlight = slow, 4 // a round of deliveries takes longer than a lease
	}
	for i := range n {
		m := member{n: i, feed: r.IntN(p.feeds), protocol: protocols[r.IntN(len(protocols))], behavior: natures[r.IntN(len(natures))], tries: map[int64]int{}}
		if subscribers {
			m.feed = 0
			if i > 8 {
				m.protocol, m.behavior = hub.HTTPPost, usual
			}
		}
		if p.quiet && (m.behavior == lossy || m.behavior == mute) {
			m.behavior = flaky
		}
		m.callback = fmt.Sprintf("http://host%d.sim/%d", i, i)
		if r.IntN(6) == 0 {
			m.callback = fmt.Sprintf("http://shared.sim/%d", i)
		}
		m.key = hub.Key{TopicID: hub.TopicID(feedURL(m.feed)), ID: hub.SubscriptionID(m.protocol, m.callback)}
		m.joins = between(r, 10*time.Millisecond, 8*time.Second)
		m.acts = append(m.acts, m.move(r, m.joins, "register"))
		for at := m.joins; r.IntN(3) == 0; {
			if at += between(r, 6*time.Second, 50*time.Second); at > p.long {
				break
			}
			m.acts = append(m.acts, m.move(r, at, []string{"register", "register", "cancel"}[r.IntN(3)]))
		}
		p.members = append(p.members, m)
	}
}

func (m *member) move(r *rand.Rand, at time.Duration, kind string) move {
	v := move{at: at, kind: kind}
	if m.protocol == hub.WebSub {
		v.secret = fmt.Sprintf("secret-%d-%d", m.n, len(m.acts))
		v.lease = []time.Duration{minLease, 4 * time.Minute, 3 * time.Hour, 0}[r.IntN(4)]
	}
	return v
}

// drawChanges chooses the changes of feeds.
func (p *plan) drawChanges(r *rand.Rand) {
	for f := range p.feeds {
		for at := between(r, 3*time.Second, 15*time.Second); at < p.long; at += between(r, time.Second, 30*time.Second) {
			p.changes = append(p.changes, change{at: at, feed: f, pings: []int{0, 1, 1, 1, 1, 2}[r.IntN(6)]})
		}
	}
}

// lastNews returns the time of the last change of any feed.
func (p *plan) lastNews() time.Duration {
	last := time.Duration(0)
	for _, c := range p.changes {
		last = max(last, c.at)
	}
	return last
}

// drawFaults chooses the faults of machines. Most faults occur shortly after a change.
func (p *plan) drawFaults(r *rand.Rand) {
	when := func() time.Duration {
		if len(p.changes) == 0 || r.IntN(4) == 0 {
			return between(r, time.Second, p.long)
		}
		soon := 4 * time.Second
		if p.options.MaxInFlight == 4 {
			soon = 20 * time.Second
			if r.IntN(2) == 0 { // choose the last change, because no later change can repair a loss
				return p.lastNews() + between(r, 20*time.Millisecond, soon)
			}
		}
		return p.changes[r.IntN(len(p.changes))].at + between(r, 20*time.Millisecond, soon)
	}
	add := func(most int, what string, from, to time.Duration) {
		for range r.IntN(most + 1) {
			d := disturbance{what: what, at: when(), machine: r.IntN(p.machines), long: between(r, from, to)}
			if what == "outage" && r.IntN(2) == 0 {
				d.machine = -1
			}
			p.trouble = append(p.trouble, d)
		}
	}
	add(3, "crash", 200*time.Millisecond, 25*time.Second)
	add(1, "outage", 500*time.Millisecond, 25*time.Second)
	if p.machines > 1 {
		add(2, "pause", 2*time.Second, 30*time.Second)
		add(1, "jump", -time.Second, time.Second)
	} else {
		add(1, "jump", -2*time.Hour, 2*time.Hour)
	}
}
