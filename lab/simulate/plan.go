package simulate

import (
	"errors"
	"fmt"
	"math"

	"cloudburst/internal/hub"
)

// Plan is what a load needs.
type Plan struct {
	Load       Load // as it was taken
	Machine    Machine
	Popularity Popularity
	Nodes      int
	Shards     int
	Resources  []Resource // in the order in which they break
	Hot        []Hot
	costs      *Costs
	shape      hub.Shape
	work       work
}

// mostShards is where looking for a plan ends.
const maxShards = 1_000_000

// New makes the plan with the fewest machines. It fails, in words, for a load or a machine
// that cannot be, and where no number of machines is enough.
func New(c *Costs, l Load, m Machine) (*Plan, error) {
	if err := errors.Join(l.check(), m.check()); err != nil {
		return nil, err
	}
	p := &Plan{Machine: m, costs: c, shape: hub.DefaultShape()}
	p.Popularity = l.fit()
	p.Load = l
	p.work = p.reckon(l)
	best := math.Inf(1)
	for k := 1; float64(k) < best && k <= maxShards; k++ {
		nodes, ok := p.nodesFor(float64(k))
		if ok && float64(k)+nodes < best {
			best, p.Shards, p.Nodes = float64(k)+nodes, k, int(nodes)
		}
	}
	if p.Shards == 0 {
		return nil, fmt.Errorf("no number of machines with %g cores, %s of memory and %s of disk is enough for that: give them more", m.Cores, bytesOf(m.Memory), bytesOf(m.Disk))
	}
	p.Resources = p.resources()
	p.Hot = p.hot()
	return p, nil
}

// work is what a load asks for in a second, of all together.
type work struct {
	price         // nodes and databases, without what comes of being many
	events        float64
	notification  price
	renewals      float64
	registrations float64
	notified      float64 // notifications
	open          float64 // deliveries under way
	sockets       float64
	hot           float64 // bytes of rows that are read at random
	data          float64 // bytes on disk
}

const day = 86_400.0

func (p *Plan) reckon(l Load) work {
	c := p.costs
	var w work
	w.notification = c.notification(l)
	w.renewals = l.Subscriptions * ((1-l.WebSub)/p.shape.Expiry.Seconds() + l.WebSub/p.shape.MaxLease.Seconds())
	w.registrations = l.Subscriptions * l.Churn / day
	changes := l.Pings * l.Changed
	w.price = c.unchanged.times(l.Pings - changes).plus(c.changed.times(changes)).
		plus(w.notification.times(l.Notifications)).
		plus(c.register.times(w.registrations)).plus(c.renew.times(w.renewals))
	w.cpu += l.Polled / 3600 * c.poll
	w.events = (l.Pings-changes)*c.eventPing + changes*c.eventChange + (w.registrations+w.renewals)*c.eventRegister
	w.notified, w.open = l.Notifications, l.Notifications*l.Answer
	// A ping is a connection in and one out for its feed; what is kept idle is as much again
	// as what is under way.
	w.sockets = 2*w.open + 2*l.Pings*l.Answer
	w.hot = l.Subscriptions*c.diskSubscription + l.Feeds*c.diskTopic
	w.data = w.hot + p.shape.KeepLog.Seconds()*(w.events*c.diskEvent+changes*c.diskChange) + l.Feeds*l.WebSub*l.Content
	return w
}

// chatter is what it costs a node, and its database for it, not to be alone: n nodes on a
// database in which there are so many events a second.
type chatter struct {
	cpu, store float64 // µs a second
	rows       float64 // of the log, in one look
	look       float64 // seconds that one takes
}

// hintsEach is how many hints a node sends in a second at most (internal/store/postgres).
const hintsEach = 20

func (p *Plan) chatter(n, events float64) chatter {
	c := p.costs
	looks := 1 / p.shape.PollInterval.Seconds()
	hints := math.Min(hintsEach, events/math.Max(1, n)) * math.Max(0, n-1)
	// Each hint is received, but lookups of one kind run in sequence.
	received := hints / (1 + hints*(c.hint.cpu+c.hint.store)/1e6)
	var t chatter
	t.rows = events * (p.shape.LogWindow.Seconds() + p.shape.PollInterval.Seconds())
	t.look = t.rows * (c.tail.cpu + c.tail.store) / 1e6
	wanted := looks + received
	done := wanted / (1 + wanted*t.look)
	t.cpu = c.idle.cpu + received*c.hint.cpu + done*t.rows*c.tail.cpu
	t.store = c.idle.store + received*c.hint.store + done*t.rows*c.tail.store
	return t
}

// nodesFor is how many nodes k shards need, all together; false where k are too few.
func (p *Plan) nodesFor(k float64) (float64, bool) {
	m, l, w := p.Machine, p.Load, p.work
	room := m.Headroom
	n := 1.0 // of each shard
	for _, r := range p.nodes(w, l, k, 1) {
		if r.Name != nodeCPU {
			n = math.Max(n, r.Demand/(r.Capacity*room))
		}
	}
	for range 200 {
		left := m.Cores*room*1e6 - p.chatter(n, w.events/k).cpu
		if left <= 0 {
			return 0, false
		}
		next := math.Max(n, w.cpu/k/left)
		if next <= n*(1+1e-9) {
			break
		}
		n = next
	}
	for _, r := range p.shards(w, k, n) {
		if r.Demand > r.Capacity*room {
			return 0, false
		}
	}
	return math.Ceil(k*n - 1e-6), true
}
