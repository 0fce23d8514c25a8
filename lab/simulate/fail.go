package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Failure is a kind of simulated failure.
type Failure string

// Failures.
const (
	NodeFails  Failure = "node"     // one of a shard's nodes
	ShardFails Failure = "database" // the database of one shard
)

// Times of a failure, in seconds after the beginning.
const (
	failsAt   = 120
	backAt    = 420
	playedFor = 1200
	comeAgain = 60 // seconds within which rejected publishers ping again
	maxDraws  = 5000
)

// Backlog is the number of pending notifications of one shard, second by second, with and
// without the failure, for the same pings.
type Backlog struct {
	Failure  Failure
	Pending  []float64 // notifications, each second
	Without  []float64
	Max      float64
	Usual    float64 // maximum of pending notifications without the failure
	Late     float64 // seconds after the return until the backlog is that without the failure; +Inf: not within the simulated time
	Refused  float64 // pings that were answered 503
	Capacity float64 // notifications per second of all nodes of the shard
	Arrive   float64 // mean of new notifications per second
}

// Fail simulates a failure in one shard. Arrivals are random, and the same for the same seed.
// Feeds are drawn by popularity, so a large feed can occur.
func (p *Plan) Fail(what Failure, seed uint64) (Backlog, error) {
	if what != NodeFails && what != ShardFails {
		return Backlog{}, fmt.Errorf("cannot simulate a failure of %q: use %s or %s", what, NodeFails, ShardFails)
	}
	b := Backlog{Failure: what}
	k := float64(p.Shards)
	n := math.Ceil(float64(p.Nodes) / k)
	b.Arrive = p.Load.Notifications / k
	if b.Arrive > 0 {
		// Pings and registrations take precedence.
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

// play simulates one run; "" is no failure.
func (p *Plan) play(what Failure, seed uint64, n, capacity float64) (all []float64, refused float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	all = make([]float64, playedFor)
	pending, held, lost := 0.0, 0.0, 0.0 // held waits for the end of a lease; lost was rejected, and is sent again
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

// judge computes the results from both curves.
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

// arrivals draws one second of one shard. In one second of a hundred there are five times
// as many pings: people write at the full hour.
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

// poisson draws a number of events. For a large mean it uses the normal distribution.
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
