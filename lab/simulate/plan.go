package simulate

import (
	"errors"
	"fmt"
	"math"

	"cloudburst/internal/hub"
)

// Plan describes the machines that a load needs.
type Plan struct {
	Load       Load // load as adjusted by fit
	Machine    Machine
	Popularity Popularity
	Nodes      int
	Shards     int
	Resources  []Resource // sorted; the first bottleneck is first
	Hot        []Hot
	Citus      *Cluster // the same load on one Citus cluster; nil: the costs of Citus were not measured
	costs      *Costs
	prices     *prices
	shape      hub.Shape
	work       work
}

// maxShards is the maximum number of shards that New tries.
const maxShards = 1_000_000

// New returns the plan with the fewest machines. It returns an error if the load or the machine
// is invalid, or if no number of machines is enough.
func New(c *Costs, l Load, m Machine) (*Plan, error) {
	if err := errors.Join(l.check(), m.check()); err != nil {
		return nil, err
	}
	p := &Plan{Machine: m, costs: c, prices: &c.prices, shape: hub.DefaultShape()}
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
		return nil, fmt.Errorf("no number of machines with %g cores, %s of memory and %s of disk is enough for this load: use larger machines", m.Cores, bytesOf(m.Memory), bytesOf(m.Disk))
	}
	p.Resources = p.resources()
	p.Hot = p.hot()
	if c.citus != nil {
		p.Citus = p.onCitus()
	}
	return p, nil
}

// work is the total demand of a load in one second.
type work struct {
	price         // costs of nodes and databases, without the communication between nodes
	events        float64
	notification  price
	renewals      float64
	registrations float64
	notified      float64 // notifications per second
	open          float64 // deliveries in progress at the same time
	sockets       float64
	hot           float64 // bytes of rows that are read in random order
	data          float64 // bytes stored on disk
}

const day = 86_400.0

func (p *Plan) reckon(l Load) work {
	c := p.prices
	var w work
	w.notification = c.notification(l)
	w.renewals = l.Subscriptions * ((1-l.WebSub)/p.shape.Expiry.Seconds() + l.WebSub/p.shape.MaxLease.Seconds())
	w.registrations = l.Subscriptions * l.Churn / day
	changes := l.Pings * l.Changed
	w.price = c.unchanged.times(l.Pings - changes).plus(c.changed.times(changes)).
		plus(w.notification.times(l.Notifications)).
		plus(c.register.times(w.registrations)).plus(c.renew.times(w.renewals))
	w.cpu += l.Polled / 3600 * p.costs.poll
	w.events = (l.Pings-changes)*c.eventPing + changes*c.eventChange + (w.registrations+w.renewals)*c.eventRegister
	w.notified, w.open = l.Notifications, l.Notifications*l.Answer
	// A ping needs an incoming connection, and an outgoing connection to read the feed. The model
	// assumes that there are as many idle connections as busy ones.
	w.sockets = 2*w.open + 2*l.Pings*l.Answer
	w.hot = l.Subscriptions*c.diskSubscription + l.Feeds*c.diskTopic
	w.data = w.hot + p.shape.KeepLog.Seconds()*(w.events*c.diskEvent+changes*c.diskChange) + l.Feeds*l.WebSub*l.Content
	return w
}

// chatter is the cost of the communication between nodes, for one node and its database.
type chatter struct {
	cpu, store, coordinator float64 // µs per second
	rows                    float64 // log rows that one read returns
	look                    float64 // duration of one read in seconds
}

// hintsEach is the maximum number of hints that a node sends per second. The limit is in
// internal/store/postgres.
const hintsEach = 20

func (p *Plan) chatter(n, events float64) chatter {
	c := p.prices
	looks := 1 / p.shape.PollInterval.Seconds()
	hints := math.Min(hintsEach, events/math.Max(1, n)) * math.Max(0, n-1)
	// A node receives each hint, but it looks for work of one kind only once at a time.
	received := hints / (1 + hints*(c.hint.cpu+c.hint.store)/1e6)
	var t chatter
	t.rows = events * (p.shape.LogWindow.Seconds() + p.shape.PollInterval.Seconds())
	t.look = t.rows * (c.tail.cpu + c.tail.store) / 1e6
	wanted := looks + received
	done := wanted / (1 + wanted*t.look)
	t.cpu = c.idle.cpu + received*c.hint.cpu + done*t.rows*c.tail.cpu
	t.store = c.idle.store + received*c.hint.store + done*t.rows*c.tail.store
	t.coordinator = c.idle.coordinator.store + received*c.hint.coordinator.store + done*t.rows*c.tail.coordinator.store
	return t
}

// nodesFor returns the total number of nodes that k shards need. It returns false if k shards are
// not enough.
func (p *Plan) nodesFor(k float64) (float64, bool) {
	n, ok := p.nodesOfOne(k)
	if !ok {
		return 0, false
	}
	for _, r := range p.shards(p.work, k, n) {
		if r.Demand > r.Capacity*p.Machine.Headroom {
			return 0, false
		}
	}
	return math.Ceil(k*n - 1e-6), true
}

// nodesOfOne returns the number of nodes of each of k shards, or false if they spend all their time
// on the communication with each other.
func (p *Plan) nodesOfOne(k float64) (float64, bool) {
	m, l, w := p.Machine, p.Load, p.work
	headroom := m.Headroom
	n := 1.0 // number of nodes of each shard
	for _, r := range p.nodes(w, l, k, 1) {
		if r.Name != nodeCPU {
			n = math.Max(n, r.Demand/(r.Capacity*headroom))
		}
	}
	for range 200 {
		left := m.Cores*headroom*1e6 - p.chatter(n, w.events/k).cpu
		if left <= 0 {
			return 0, false
		}
		next := math.Max(n, w.cpu/k/left)
		if next <= n*(1+1e-9) {
			break
		}
		n = next
	}
	return n, true
}
