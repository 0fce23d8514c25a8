package simulate

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"cloudburst/lab/bench"
)

//go:embed costs.json
var embedded []byte

// Embedded returns the file of measured costs that is embedded in the program.
func Embedded() []byte { return slices.Clone(embedded) }

// Costs contains the costs of single operations from a cost file. Create it with [ReadCosts].
type Costs struct {
	File *bench.CostFile
	prices
	citus *prices // nil: not measured
	poll  float64 // cost in µs
}

// prices are the costs on one kind of database.
type prices struct {
	unchanged, changed, register, renew, idle, hint, tail price
	kept, fresh, secureKept, secureFresh, content         price // costs of a notification, by kind of connection and content

	eventPing, eventChange, eventRegister float64 // log rows per operation
	diskSubscription, diskTopic           float64 // bytes per row
	diskEvent, diskChange                 float64
	memoryServer, memoryDelivery          float64
	memoryConnection                      float64
	databaseConnections                   float64 // database connections of one node
}

// price is the cost of one operation.
type price struct {
	cpu            float64 // CPU time of a node in µs
	sent, received float64 // bytes that a node sends and receives
	databasePrice          // of the database, or of the workers of a Citus cluster
	coordinator    databasePrice
}

// databasePrice is the part of an operation that databases do.
type databasePrice struct{ store, writes, wal float64 } // CPU time in µs, write transactions, and bytes of the write-ahead log

func (p databasePrice) plus(q databasePrice) databasePrice {
	return databasePrice{p.store + q.store, p.writes + q.writes, p.wal + q.wal}
}

func (p databasePrice) times(n float64) databasePrice {
	return databasePrice{p.store * n, p.writes * n, p.wal * n}
}

func (p price) plus(q price) price {
	return price{p.cpu + q.cpu, p.sent + q.sent, p.received + q.received, p.databasePrice.plus(q.databasePrice), p.coordinator.plus(q.coordinator)}
}

func (p price) times(n float64) price {
	return price{p.cpu * n, p.sent * n, p.received * n, p.databasePrice.times(n), p.coordinator.times(n)}
}

// ReadCosts parses the output of "bench costs". It returns an error if a required cost is
// missing, including the costs of PostgreSQL. The costs of Citus may be missing altogether.
func ReadCosts(text []byte) (*Costs, error) {
	f, err := bench.ReadCosts(text)
	if err != nil {
		return nil, err
	}
	r := costReader{values: map[string]float64{}}
	for _, one := range f.Costs {
		r.values[one.Name] = one.Value
	}
	c := &Costs{File: f, prices: r.prices("postgres/"), poll: r.get("sqlite/poll.unchanged.cpu")}
	if slices.ContainsFunc(f.Costs, func(c bench.Cost) bool { return strings.HasPrefix(c.Name, "citus/") }) {
		p := r.prices("citus/")
		c.citus = &p
	}
	if len(r.missing) > 0 {
		slices.Sort(r.missing)
		return nil, fmt.Errorf("the file lacks %s: measure with \"cloudburst-lab bench costs --database postgres://… -o FILE\", with the databases on the same machine",
			strings.Join(r.missing, ", "))
	}
	return c, nil
}

// costReader reads costs by name and collects the names of missing costs.
type costReader struct {
	values  map[string]float64
	missing []string
}

func (r *costReader) get(name string) float64 {
	v, ok := r.values[name]
	if !ok {
		r.missing = append(r.missing, name)
	}
	return v
}

// prices reads the costs whose names begin with prefix.
func (r *costReader) prices(prefix string) (p prices) {
	on := func(name string) float64 { return r.get(prefix + name) }
	coordinator := func(name string) float64 { return r.values[prefix+name] } // 0 without Citus
	sent := func(name string) price {
		return price{cpu: on(name + ".cpu"), sent: on(name + ".sent"), received: on(name + ".received")}
	}
	whole := func(name string) price {
		one := sent(name)
		one.databasePrice = databasePrice{on(name + ".db-cpu"), on(name + ".writes"), on(name + ".wal")}
		one.coordinator = databasePrice{coordinator(name + ".coordinator-cpu"), coordinator(name + ".coordinator-writes"), coordinator(name + ".coordinator-wal")}
		return one
	}
	p.unchanged, p.changed = whole("ping.unchanged"), whole("ping.changed")
	p.register, p.renew, p.kept = whole("register"), whole("renew"), whole("notify.rsscloud.kept")
	// The cost for the database does not depend on the protocol.
	p.fresh, p.secureKept = sent("notify.rsscloud.new"), sent("notify.https.kept")
	p.secureFresh, p.content = sent("notify.https.new"), sent("notify.websub.kept")
	for name, one := range map[string]*price{"node.idle": &p.idle, "hint": &p.hint, "tail.row": &p.tail} {
		one.cpu, one.store, one.coordinator.store = on(name+".cpu"), on(name+".db-cpu"), coordinator(name+".coordinator-cpu")
	}
	for name, v := range map[string]*float64{
		"event.ping": &p.eventPing, "event.change": &p.eventChange, "event.register": &p.eventRegister,
		"disk.subscription": &p.diskSubscription, "disk.topic": &p.diskTopic, "disk.event": &p.diskEvent, "disk.change": &p.diskChange,
		"memory.server": &p.memoryServer, "memory.delivery": &p.memoryDelivery, "memory.connection": &p.memoryConnection,
		"node.connections": &p.databaseConnections,
	} {
		*v = on(name)
	}
	return p
}

// notification returns the mean cost of a notification for the protocols and connections of a
// load.
func (c *prices) notification(l Load) price {
	plain := c.kept.times(l.Kept).plus(c.fresh.times(1 - l.Kept))
	secure := c.secureKept.times(l.Kept).plus(c.secureFresh.times(1 - l.Kept))
	p := plain.times(1 - l.HTTPS).plus(secure.times(l.HTTPS))
	more := price{cpu: max(0, c.content.cpu-c.kept.cpu), sent: max(0, c.content.sent-c.kept.sent)}
	p = p.plus(more.times(l.WebSub))
	p.databasePrice, p.coordinator = c.kept.databasePrice, c.kept.coordinator
	return p
}
