package simulate

import (
	"math"
	"slices"
)

// Resource is a limited resource of the nodes or of the databases.
type Resource struct {
	Name     string
	Of       string  // "node", "database" or "coordinator"
	Demand   float64 // demand of one node or database
	Capacity float64 // capacity of one node or database
	Unit     string
	Units    int     // number of nodes or databases that this resource alone would need, with the headroom
	Breaks   float64 // factor of the load at which these machines exhaust the resource; +Inf means never
}

// Used returns the share of the capacity that is in use, from 0 to 1 or more.
func (r Resource) Used() float64 { return r.Demand / r.Capacity }

// These are the names of the resources.
const (
	nodeCPU   = "node CPU"
	nodeOpen  = "deliveries in progress"
	nodeNIC   = "node network, outgoing"
	nodeIn    = "node network, incoming"
	nodeMem   = "node memory"
	nodeFiles = "sockets and files"
	nodeHost  = "deliveries to the largest host"
	nodePorts = "local ports to the largest host"
	nodeLog   = "reading the log of other nodes"
	dbCPU     = "database CPU"
	dbIOPS    = "database disk operations"
	dbWAL     = "database write-ahead log"
	dbDisk    = "database disk"
	dbConns   = "database connections"
)

const (
	localPorts = 28_232 // number of local ports on Linux for connections to one address and port
	portRests  = 60     // seconds until a local port can be used again
	pageBytes  = 8192   // size of a PostgreSQL page in bytes; one random read of the disk reads one page
)

// nodes returns the demand of each node, if each of k shards has n nodes.
func (p *Plan) nodes(w work, l Load, k, n float64) []Resource {
	m, c, all := p.Machine, p.prices, k*n
	talk := p.chatter(n, w.events/k)
	toOne := l.Notifications * l.LargestHost
	return []Resource{
		{Name: nodeCPU, Demand: (w.cpu/all + talk.cpu) / 1e6, Capacity: m.Cores, Unit: "cores"},
		{Name: nodeOpen, Demand: w.open / all, Capacity: m.InFlight},
		{Name: nodeNIC, Demand: w.sent * 8 / all, Capacity: m.NIC, Unit: "bit/s"},
		{Name: nodeIn, Demand: w.received * 8 / all, Capacity: m.NIC, Unit: "bit/s"},
		{Name: nodeMem, Demand: (w.open*c.memoryDelivery + (w.sockets-w.open)*c.memoryConnection) / all, Capacity: math.Max(1, m.Memory-c.memoryServer), Unit: "B"},
		{Name: nodeFiles, Demand: w.sockets / all, Capacity: m.Files},
		{Name: nodeHost, Demand: toOne * l.Answer / all, Capacity: float64(p.shape.HostAtOnce)},
		{Name: nodePorts, Demand: toOne * (1 - l.Kept) * (portRests + l.Answer) / all, Capacity: localPorts},
	}
}

// shards returns the demand of each database, if each of k shards has n nodes.
func (p *Plan) shards(w work, k, n float64) []Resource {
	m, c := p.Machine, p.prices
	talk := p.chatter(n, w.events/k)
	reads := m.reads(w, k)
	return []Resource{
		{Name: dbCPU, Demand: (w.store/k + n*talk.store) / 1e6, Capacity: m.Cores, Unit: "cores"},
		{Name: dbIOPS, Demand: (w.writes + w.wal/pageBytes + reads) / k, Capacity: m.IOPS, Unit: "1/s"},
		{Name: dbWAL, Demand: w.wal * 8 / k, Capacity: m.NIC, Unit: "bit/s"},
		{Name: dbDisk, Demand: w.data / k, Capacity: m.Disk, Unit: "B"},
		{Name: dbConns, Demand: n * c.databaseConnections, Capacity: m.DatabaseConns},
		{Name: nodeLog, Demand: talk.look, Capacity: p.shape.LogWindow.Seconds(), Unit: "s per read"},
	}
}

// reads returns the reads per second from the disks of k databases. Rows of one feed are not
// adjacent, so each row that is not in memory needs a read.
func (m Machine) reads(w work, k float64) float64 {
	if w.hot == 0 {
		return 0
	}
	cold := math.Max(0, 1-m.Memory*m.Headroom*k/w.hot)
	return cold * (w.notified + 2*(w.registrations+w.renewals))
}

// resources returns all resources of the plan, sorted from the first bottleneck to the last.
func (p *Plan) resources() []Resource {
	k, n := float64(p.Shards), float64(p.Nodes)/float64(p.Shards)
	at := func(by float64) []Resource {
		l := p.Load
		if by != 1 {
			l = l.scaled(by)
		}
		w := p.reckon(l)
		list := p.nodes(w, l, k, n)
		for i := range list {
			list[i].Of = "node"
		}
		for _, r := range p.shards(w, k, n) {
			r.Of = "database"
			list = append(list, r)
		}
		return list
	}
	list := at(1)
	for i := range list {
		r := &list[i]
		r.Breaks = breaks(func(by float64) bool { return at(by)[i].Used() > 1 })
		units := float64(p.Nodes)
		if r.Of == "database" {
			units = k
		}
		r.Units = int(math.Ceil(units*r.Used()/p.Machine.Headroom - 1e-9))
		if r.Name == nodeLog || r.Name == dbConns {
			r.Units = p.Shards // more shards would reduce this demand, but not in proportion, so report the shards of the plan
		}
	}
	slices.SortStableFunc(list, func(a, b Resource) int {
		switch {
		case a.Breaks < b.Breaks:
			return -1
		case a.Breaks > b.Breaks:
			return 1
		}
		return 0
	})
	return list
}

// breaks returns the smallest factor for which broken is true, with an accuracy of 0.5%. It
// returns +Inf if the factor is above a million.
func breaks(broken func(by float64) bool) float64 {
	low, high := 0.0, 1.0
	for ; !broken(high); high *= 2 {
		if low = high; high > 1e6 {
			return math.Inf(1)
		}
	}
	for high-low > low/200+1e-6 {
		if mid := (low + high) / 2; broken(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// Hot is the time that a number of nodes needs to notify all subscribers of the largest feed.
type Hot struct {
	Nodes   int
	Seconds float64
	By      string // name of the limiting resource
}

// hot computes the time for the largest feed with 1, 2, 4 … nodes, up to the nodes of one shard.
// All subscribers of a feed are in one shard.
func (p *Plan) hot() []Hot {
	if p.Popularity.Largest < 1 || p.Load.Notifications == 0 {
		return nil
	}
	n := max(1, (p.Nodes+p.Shards-1)/p.Shards)
	var list []Hot
	for k := 1; k < n; k *= 2 {
		list = append(list, p.hotWith(k))
	}
	return append(list, p.hotWith(n))
}

func (p *Plan) hotWith(k int) Hot {
	l, m, one := p.Load, p.Machine, p.work.notification
	largest, nodes := p.Popularity.Largest, float64(k)
	shards := math.Max(1, math.Ceil(largest/float64(p.shape.ShardSubscribers)))
	// A node claims complete shards of the subscribers, so some nodes are idle if the feed has
	// few shards.
	working := math.Min(nodes, shards)
	h := Hot{Nodes: k}
	for _, limit := range []struct {
		rate float64 // notifications per second
		by   string
	}{
		{working * m.Cores * 1e6 / one.cpu, nodeCPU},
		{working * m.InFlight / math.Max(l.Answer, 1e-9), nodeOpen},
		{working * m.NIC / math.Max(one.sent*8, 1), nodeNIC},
		{working * float64(p.shape.HostAtOnce) / math.Max(l.Answer*l.LargestHost, 1e-9), nodeHost},
		{m.Cores * 1e6 / math.Max(one.store, 1e-9), dbCPU},
	} {
		if s := largest / limit.rate; s > h.Seconds {
			h.Seconds, h.By = s, limit.by
		}
	}
	h.Seconds += l.Answer
	return h
}
