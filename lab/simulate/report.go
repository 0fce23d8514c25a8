package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Report is a plan with all its results to print.
type Report struct {
	Plan     *Plan
	Backlogs []Backlog
	Seed     uint64
}

// NewReport creates a plan and simulates both kinds of failures.
func NewReport(c *Costs, l Load, m Machine, seed uint64) (*Report, error) {
	p, err := New(c, l, m)
	if err != nil {
		return nil, err
	}
	r := &Report{Plan: p, Seed: seed}
	for _, what := range []Failure{NodeFails, ShardFails} {
		b, err := p.Fail(what, seed)
		if err != nil {
			return nil, err
		}
		r.Backlogs = append(r.Backlogs, b)
	}
	return r, nil
}

// Write prints r as one JSON document if asJSON is true, otherwise as tables.
func (r *Report) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r.document())
	}
	var b strings.Builder
	r.head(&b)
	r.table(&b)
	r.limits(&b)
	r.hot(&b)
	r.failures(&b)
	r.citus(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) head(b *strings.Builder) {
	p := r.Plan
	l, m, f := p.Load, p.Machine, p.costs.File
	fmt.Fprintf(b, "%s feeds, %s subscriptions, %s pings/s, %s notifications/s, %s renewals/s\n",
		amount(l.Feeds), amount(l.Subscriptions), amount(l.Pings), amount(l.Notifications), amount(p.work.renewals))
	fmt.Fprintf(b, "each machine: %g cores, %s of memory, %s, %s disk operations/s, %s of disk; at most %s in use\n",
		m.Cores, bytesOf(m.Memory), bitsOf(m.NIC), amount(m.IOPS), bytesOf(m.Disk), percent(m.Headroom))
	fmt.Fprintf(b, "costs: %s, %s, %s\n", f.Command, f.CPU, f.At.Format("2006-01-02"))
	if p.Popularity.Largest > 0 {
		fmt.Fprintf(b, "the largest feed has %s subscribers in %s shards\n", amount(p.Popularity.Largest),
			amount(math.Max(1, math.Ceil(p.Popularity.Largest/float64(p.shape.ShardSubscribers)))))
	}
	if p.Popularity.Sentence != "" {
		fmt.Fprintf(b, "%s\n", p.Popularity.Sentence)
	}
	fmt.Fprintf(b, "\n%s and %s\n\n", some(p.Nodes, "node", "nodes"), some(p.Shards, "database", "databases"))
}

func (r *Report) table(b *strings.Builder) {
	p := r.Plan
	rows := [][]string{{"resource", "demand of one", "capacity of one", "in use", "units for it alone", "breaks at"}}
	for _, x := range p.Resources {
		rows = append(rows, []string{x.Name, quantity(x.Demand, x.Unit), quantity(x.Capacity, x.Unit), percent(x.Used()), thousands(x.Units), multiple(x.Breaks)})
	}
	columns(b, rows)
}

func (r *Report) limits(b *strings.Builder) {
	order := []string{"first", "second", "third"}
	b.WriteString("\nIf the whole load grows and the machines stay the same:\n")
	for i, x := range r.Plan.Resources {
		if i >= len(order) || math.IsInf(x.Breaks, 1) {
			break
		}
		fmt.Fprintf(b, "  %s breaks %s, at %s the load\n", x.Name, order[i], multiple(x.Breaks))
	}
}

func (r *Report) hot(b *strings.Builder) {
	if len(r.Plan.Hot) == 0 {
		return
	}
	fmt.Fprintf(b, "\nTime to notify the subscribers of the largest feed, without other load:\n")
	rows := [][]string{{"nodes", "last notified after", "limited by"}}
	for _, h := range r.Plan.Hot {
		rows = append(rows, []string{strconv.Itoa(h.Nodes), seconds(h.Seconds), h.By})
	}
	columns(b, rows)
}

func (r *Report) failures(b *strings.Builder) {
	fmt.Fprintf(b, "\nIn one shard, with the seed %d:\n", r.Seed)
	rows := [][]string{{"down for " + seconds(backAt-failsAt), "arrive/s", "capacity/s", "max pending", "no failure", "pings refused", "recovery after the return"}}
	for _, x := range r.Backlogs {
		rows = append(rows, []string{"a " + string(x.Failure), amount(x.Arrive), amount(x.Capacity), amount(x.Max), amount(x.Usual), amount(x.Refused), seconds(x.Late)})
	}
	columns(b, rows)
}

// citus prints how much of the load one hub on a Citus cluster can handle.
func (r *Report) citus(b *strings.Builder) {
	c := r.Plan.Citus
	if c == nil {
		return
	}
	share, machines := "the whole load", some(c.Nodes, "node", "nodes")+", "+some(c.Workers, "worker", "workers")+" and a coordinator"
	if c.Share < 1 {
		share = percent(c.Share) + " of the load"
	}
	if c.Share == 0 {
		fmt.Fprintf(b, "\nOne hub on a Citus cluster cannot handle a thousandth of the load on such machines.\n")
		return
	}
	fmt.Fprintf(b, "\nOne hub on a Citus cluster handles %s with %s; its limit is %s, %s of it in use.\n", share, machines, c.Limit.Name, percent(c.Limit.Used()))
}

// document returns the report in the form of the JSON document.
func (r *Report) document() any {
	type resource struct {
		Resource
		Used   float64
		Breaks *float64 // null means never
	}
	type backlog struct {
		Failure                               Failure
		Max, Usual, Refused, Capacity, Arrive float64
		CaughtUpAfter                         *float64 // seconds; null means after the simulated time
	}
	p := r.Plan
	d := struct {
		Load          Load
		Machine       Machine
		Popularity    Popularity
		Costs         string
		Nodes, Shards int
		DiskBytes     float64
		Resources     []resource
		Hot           []Hot
		Seed          uint64
		Failures      []backlog
		Citus         *Cluster `json:",omitempty"`
	}{Citus: p.Citus, Load: p.Load, Machine: p.Machine, Popularity: p.Popularity, Costs: p.costs.File.Command, Nodes: p.Nodes, Shards: p.Shards, DiskBytes: p.work.data, Hot: p.Hot, Seed: r.Seed}
	for _, x := range p.Resources {
		d.Resources = append(d.Resources, resource{x, x.Used(), finite(x.Breaks)})
	}
	for _, x := range r.Backlogs {
		d.Failures = append(d.Failures, backlog{x.Failure, x.Max, x.Usual, x.Refused, x.Capacity, x.Arrive, finite(x.Late)})
	}
	return d
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// columns prints rows as a table. All columns except the first are aligned to the right.
func columns(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line += cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
