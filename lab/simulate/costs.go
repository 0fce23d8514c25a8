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
	File   *bench.CostFile
	values map[string]float64

	unchanged, changed, register, renew, idle, hint, tail price
	kept, fresh, secureKept, secureFresh, content         price // costs of a notification, by kind of connection and content

	eventPing, eventChange, eventRegister float64 // log rows per operation
	diskSubscription, diskTopic           float64 // bytes per row
	diskEvent, diskChange                 float64
	memoryServer, memoryDelivery          float64
	memoryConnection                      float64
	databaseConnections                   float64 // database connections of one node
	poll                                  float64 // cost in µs
}

// price is the cost of one operation.
type price struct {
	cpu, store     float64 // CPU time of a node and of its database in µs
	sent, received float64 // bytes that a node sends and receives
	writes, wal    float64
}

func (p price) plus(q price) price {
	return price{p.cpu + q.cpu, p.store + q.store, p.sent + q.sent, p.received + q.received, p.writes + q.writes, p.wal + q.wal}
}

func (p price) times(n float64) price {
	return price{p.cpu * n, p.store * n, p.sent * n, p.received * n, p.writes * n, p.wal * n}
}

// ReadCosts parses the output of "bench costs". It returns an error if a required cost is
// missing, including the costs of PostgreSQL.
func ReadCosts(text []byte) (*Costs, error) {
	f, err := bench.ReadCosts(text)
	if err != nil {
		return nil, err
	}
	c := &Costs{File: f, values: map[string]float64{}}
	for _, one := range f.Costs {
		c.values[one.Name] = one.Value
	}
	var missing []string
	get := func(name string) float64 {
		v, ok := c.values[name]
		if !ok {
			missing = append(missing, name)
		}
		return v
	}
	on := func(name string) float64 { return get("postgres/" + name) }
	c.unchanged, c.changed = c.whole("ping.unchanged", on), c.whole("ping.changed", on)
	c.register, c.renew = c.whole("register", on), c.whole("renew", on)
	c.kept = c.whole("notify.rsscloud.kept", on)
	c.fresh, c.secureKept = c.sent("notify.rsscloud.new", on), c.sent("notify.https.kept", on)
	c.secureFresh, c.content = c.sent("notify.https.new", on), c.sent("notify.websub.kept", on)
	for name, p := range map[string]*price{"node.idle": &c.idle, "hint": &c.hint, "tail.row": &c.tail} {
		p.cpu, p.store = on(name+".cpu"), on(name+".db-cpu")
	}
	for name, v := range map[string]*float64{
		"event.ping": &c.eventPing, "event.change": &c.eventChange, "event.register": &c.eventRegister,
		"disk.subscription": &c.diskSubscription, "disk.topic": &c.diskTopic, "disk.event": &c.diskEvent, "disk.change": &c.diskChange,
		"memory.server": &c.memoryServer, "memory.delivery": &c.memoryDelivery, "memory.connection": &c.memoryConnection,
		"node.connections": &c.databaseConnections,
	} {
		*v = on(name)
	}
	c.poll = get("sqlite/poll.unchanged.cpu")
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("the file lacks %s: measure with \"cloudburst-lab bench costs --database postgres://… -o FILE\", PostgreSQL on the same machine",
			strings.Join(missing, ", "))
	}
	return c, nil
}

func (c *Costs) whole(name string, on func(string) float64) price {
	p := c.sent(name, on)
	p.store, p.writes, p.wal = on(name+".db-cpu"), on(name+".writes"), on(name+".wal")
	return p
}

// sent returns the cost of a notification for a node. The cost for the database is not included,
// because it does not depend on the protocol.
func (c *Costs) sent(name string, on func(string) float64) price {
	return price{cpu: on(name + ".cpu"), sent: on(name + ".sent"), received: on(name + ".received")}
}

// notification returns the mean cost of a notification for the protocols and connections of a
// load.
func (c *Costs) notification(l Load) price {
	plain := c.kept.times(l.Kept).plus(c.fresh.times(1 - l.Kept))
	secure := c.secureKept.times(l.Kept).plus(c.secureFresh.times(1 - l.Kept))
	p := plain.times(1 - l.HTTPS).plus(secure.times(l.HTTPS))
	more := price{cpu: max(0, c.content.cpu-c.kept.cpu), sent: max(0, c.content.sent-c.kept.sent)}
	p = p.plus(more.times(l.WebSub))
	p.store, p.writes, p.wal = c.kept.store, c.kept.writes, c.kept.wal
	return p
}
