package simulate

import (
	"math"
	"slices"
)

// Cluster is a load, or a part of it, on one hub whose database is a Citus cluster. All nodes use
// one coordinator, which cannot be divided.
type Cluster struct {
	Share   float64 // largest part of the load that the cluster can handle, from 0 to 1
	Nodes   int
	Workers int
	Limit   Resource // resource of the coordinator that a larger load would exhaust first
}

// maxWorkers is the largest number of workers that onCitus tries.
const maxWorkers = 10_000

// onCitus returns the cluster with the fewest machines for the whole load, or for the largest part
// of it that one coordinator can handle.
func (p *Plan) onCitus() *Cluster {
	if c, ok := p.clusterFor(1); ok {
		return c
	}
	best := &Cluster{}
	for low, high := 0.0, 1.0; high-low > high/1000 && high > 1e-9; {
		half := (low + high) / 2
		c, ok := p.clusterFor(half)
		if !ok {
			high = half
			continue
		}
		low, best = half, c
	}
	return best
}

// clusterFor returns the cluster with the fewest machines for a share of the load, or false if no
// number of machines is enough.
func (p *Plan) clusterFor(share float64) (*Cluster, bool) {
	q := *p
	q.prices = q.costs.citus
	q.Load = q.Load.scaled(share)
	q.work = q.reckon(q.Load)
	n, ok := q.nodesOfOne(1)
	if !ok {
		return nil, false
	}
	n = math.Ceil(n - 1e-6)
	for k := 1; k <= maxWorkers; k++ {
		list := q.workers(float64(k), n)
		tooSmall := func(r Resource) bool { return r.Used() > q.Machine.Headroom }
		if slices.ContainsFunc(list, func(r Resource) bool { return r.Of == "coordinator" && tooSmall(r) }) {
			return nil, false // workers do not relieve the coordinator
		}
		if slices.ContainsFunc(list, tooSmall) {
			continue
		}
		limit := list[0]
		for _, r := range list { // nodes and workers can be added
			if r.Of == "coordinator" && r.Used() > limit.Used() {
				limit = r
			}
		}
		return &Cluster{Share: share, Nodes: int(n), Workers: k, Limit: limit}, true
	}
	return nil, false
}

// workers returns the demand of the coordinator, and of each of k workers, if n nodes use them. The
// recent changes are on the coordinator, all other large tables are on the workers.
func (p *Plan) workers(k, n float64) []Resource {
	m, w := p.Machine, p.work
	talk := p.chatter(n, w.events)
	onCoordinator := p.shape.KeepLog.Seconds() * p.Load.Pings * p.Load.Changed * p.prices.diskChange
	return []Resource{
		{Name: "coordinator CPU", Of: "coordinator", Demand: (w.coordinator.store + n*talk.coordinator) / 1e6, Capacity: m.Cores, Unit: "cores"},
		{Name: "coordinator disk operations", Of: "coordinator", Demand: w.coordinator.writes + w.coordinator.wal/pageBytes, Capacity: m.IOPS, Unit: "1/s"},
		{Name: "coordinator write-ahead log", Of: "coordinator", Demand: w.coordinator.wal * 8, Capacity: m.NIC, Unit: "bit/s"},
		{Name: "coordinator disk", Of: "coordinator", Demand: onCoordinator, Capacity: m.Disk, Unit: "B"},
		{Name: "coordinator connections", Of: "coordinator", Demand: n * p.prices.databaseConnections, Capacity: m.DatabaseConns},
		{Name: nodeLog, Of: "coordinator", Demand: talk.look, Capacity: p.shape.LogWindow.Seconds(), Unit: "s per read"},
		{Name: "worker CPU", Of: "database", Demand: (w.store + n*talk.store) / k / 1e6, Capacity: m.Cores, Unit: "cores"},
		{Name: "worker disk operations", Of: "database", Demand: (w.writes + w.wal/pageBytes + m.reads(w, k)) / k, Capacity: m.IOPS, Unit: "1/s"},
		{Name: "worker write-ahead log", Of: "database", Demand: w.wal * 8 / k, Capacity: m.NIC, Unit: "bit/s"},
		{Name: "worker disk", Of: "database", Demand: (w.data - onCoordinator) / k, Capacity: m.Disk, Unit: "B"},
	}
}
