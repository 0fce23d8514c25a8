package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Failure is a kind of simulated failure.
type Failure string

// These are the kinds of failures.
const (
	NodeFails  Failure = "node"     // one node of a shard fails
	ShardFails Failure = "database" // the database of one shard fails
)

// These are times in seconds after the start of the simulation.
const (
	failsAt   = 120
	backAt    = 420
	playedFor = 1200
	comeAgain = 60 // time within which rejected publishers ping again
	maxDraws  = 5000
)

// Backlog is the number of pending notifications in one shard, second by second. It contains the
// numbers with and without the failure, for the same pings.
type Backlog struct {
	Failure  Failure
	Pending  []float64 // pending notifications in each second
	Without  []float64
	Max      float64
	Usual    float64 // maximum of pending notifications without the failure
	Late     float64 // seconds from the end of the failure until the backlog is as without the failure; +Inf if this does not happen in the simulated time
	Refused  float64 // number of pings that were rejected with status 503
	Capacity float64 // notifications per second that all nodes of the shard can send
	Arrive   float64 // mean of new notifications per second
}

// Fail simulates a failure in one shard. Arrivals are random and depend only on the seed. The
// changed feeds are drawn by their popularity, so a very large feed can occur.
func (p *Plan) Fail(what Failure, seed uint64) (Backlog, error) {
	if what != NodeFails && what != ShardFails {
		return Backlog{}, fmt.Errorf("cannot simulate a failure of %q: use %s or %s", what, NodeFails, ShardFails)
	}
	b := Backlog{Failure: what}
	k := float64(p.Shards)
	n := math.Ceil(float64(p.Nodes) / k)
	b.Arrive = p.Load.Notifications / k
	if b.Arrive > 0 {
		// Pings and registrations have priority over notifications.
		others := (p.work.cpu - p.work.notification.cpu*p.Load.Notifications) / k
		talk := p.chatter(n, p.work.events/k)
		b.Capacity = math.Max(0, n*(p.Machine.Cores*1e6-talk.cpu)-others) / p.work.notification.cpu
		b.Capacity = math.Min(b.Capacity, n*p.Machine.InFlight/math.Max(p.Load.Answer, 1e-9))
	}
	b.Pending, b.Refused = p.play(what, seed, n, b.Capacity)
	b.Without, _ = p.play("", seed, n, b.Capacity)
	b.judge()
	return b, nil
}

// play simulates one run. all is the number of pending notifications in each second, and refused
// is the number of rejected pings. If what is "", nothing fails.
func (p *Plan) play(what Failure, seed uint64, n, capacity float64) (all []float64, refused float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	all = make([]float64, playedFor)
	pending, held, lost := 0.0, 0.0, 0.0 // held: notifications that wait for the end of a lease; lost: rejected notifications that are sent again later
	for t := range all {
		came, pings := p.arrivals(r, float64(p.Shards))
		able, away := capacity, t >= failsAt && t < backAt
		if what == ShardFails {
			switch {
			case away:
				lost, refused = lost+came, refused+pings
				came, able = 0, 0
			case t >= backAt && t < backAt+comeAgain:
				came += lost / comeAgain
			}
		}
		if what == NodeFails && away {
			able *= (n - 1) / n
			if t == failsAt {
				held = (pending + came) / n
			}
		}
		if float64(t-failsAt) >= p.shape.Lease.Seconds() {
			held = 0
		}
		free := math.Max(0, pending+came-held)
		pending += came - math.Min(able, free)
		all[t] = pending
	}
	return all, refused
}

// judge computes the results from the numbers with and without the failure.
func (b *Backlog) judge() {
	b.Late = math.Inf(1)
	from := backAt
	if b.Failure == ShardFails {
		from += comeAgain
	}
	for t := len(b.Pending) - 1; t >= 0; t-- {
		b.Max, b.Usual = math.Max(b.Max, b.Pending[t]), math.Max(b.Usual, b.Without[t])
		if t >= from && b.Pending[t] <= b.Without[t]+b.Arrive {
			b.Late = float64(t - backAt)
		}
	}
}

// arrivals returns the random number of notifications and pings for one second in one shard. One
// second in a hundred has five times as many pings, because many posts are published at the full
// hour.
func (p *Plan) arrivals(r *rand.Rand, k float64) (notifications, pings float64) {
	mean := p.Load.Pings / k / 1.04
	if r.IntN(100) == 0 {
		mean *= 5
	}
	pings = poisson(r, mean)
	changes := pings * p.Load.Changed
	if changes == 0 || p.Load.Notifications == 0 {
		return 0, pings
	}
	draws := math.Max(1, math.Min(changes, maxDraws))
	sum := 0.0
	for range int(draws) {
		sum += p.Popularity.subscribers(r.Float64())
	}
	return sum * changes / math.Floor(draws), pings
}

// poisson returns a Poisson-distributed random number. For a large mean, it uses the normal
// distribution as an approximation.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	n, limit := 0.0, math.Exp(-mean)
	for x := r.Float64(); x > limit; x *= r.Float64() {
		n++
	}
	return n
}
