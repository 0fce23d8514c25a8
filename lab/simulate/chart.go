package simulate

import (
	"fmt"
	"math"

	"cloudburst/internal/web/shell"
)

// The chart shows loads with 10^4 to 10^10 subscriptions, with two steps for each power of ten.
const (
	fromPower = 4
	toPower   = 10
	perPower  = 2
)

// Scale is the plan for a load that is scaled to a number of subscriptions.
type Scale struct {
	Subscriptions float64
	Nodes, Shards int
	Disk          float64 // bytes on the disks of all databases
	Sent          float64 // bytes per second that all nodes send
	Breaks        string  // name of the first bottleneck
}

// Scales returns plans for the same load at other sizes.
func Scales(c *Costs, l Load, m Machine) ([]Scale, error) {
	if l.Subscriptions <= 0 {
		return nil, fmt.Errorf("a load without subscriptions cannot be scaled")
	}
	var list []Scale
	for i := range (toPower-fromPower)*perPower + 1 {
		subs := math.Pow(10, fromPower+float64(i)/perPower)
		s := Scale{Subscriptions: subs}
		p, err := New(c, l.scaled(subs/l.Subscriptions), m)
		if err != nil {
			return nil, fmt.Errorf("%s subscriptions: %w", amount(subs), err)
		}
		s.Nodes, s.Shards, s.Disk, s.Sent = p.Nodes, p.Shards, p.work.data, p.work.sent
		s.Breaks = p.Resources[0].Name
		list = append(list, s)
	}
	return list, nil
}

// Chart draws the scales and the backlogs as one SVG document.
func Chart(scales []Scale, backlogs []Backlog) string {
	var nodes, shards, disk, sent []float64
	var marks []shell.ChartMark
	for i, s := range scales {
		nodes, shards = append(nodes, math.Log10(float64(s.Nodes))), append(shards, math.Log10(float64(s.Shards)))
		disk, sent = append(disk, math.Log10(math.Max(1, s.Disk))), append(sent, math.Log10(math.Max(1, s.Sent)))
		if i%(2*perPower) == 0 {
			marks = append(marks, shell.ChartMark{At: (float64(i) + 0.5) / float64(len(scales)), Label: amount(s.Subscriptions)})
		}
	}
	last := scales[len(scales)-1]
	charts := []shell.Chart{
		{Title: "Machines, by subscriptions", Powers: true, Marks: marks,
			Desc:   fmt.Sprintf("Nodes and databases for 10 thousand to 10 billion subscriptions, both axes logarithmic. At the end: %d nodes and %d databases.", last.Nodes, last.Shards),
			Series: []shell.ChartSeries{{Name: "nodes", Values: nodes}, {Name: "databases", Values: shards}}},
		{Title: "Bytes, by subscriptions", Unit: "B", Powers: true, Marks: marks,
			Desc:   fmt.Sprintf("Bytes on the disks of all databases, and bytes that all nodes send in a second, both axes logarithmic. At the end: %s and %s a second.", bytesOf(last.Disk), bytesOf(last.Sent)),
			Series: []shell.ChartSeries{{Name: "on disk", Values: disk}, {Name: "sent each second", Values: sent}}},
	}
	for _, b := range backlogs {
		charts = append(charts, b.chart())
	}
	return shell.ChartFile("Machines for each size of a hub, and the backlog of a failure", charts)
}

// backlogPoints is the number of points of a curve. Each point is the maximum of its period.
const backlogPoints = 120

func (b Backlog) chart() shell.Chart {
	each := max(1, len(b.Pending)/backlogPoints)
	c := shell.Chart{
		Title:  "Pending in a shard while a " + string(b.Failure) + " is down",
		Series: []shell.ChartSeries{{Name: "pending notifications", Values: coarse(b.Pending, each)}, {Name: "without the failure", Values: coarse(b.Without, each)}},
		Desc:   fmt.Sprintf("Pending notifications in one shard, second by second; its %s is down from %d s to %d s. At most %s are pending.", b.Failure, failsAt, backAt, amount(b.Max)),
	}
	for _, at := range []struct {
		second int
		label  string
	}{{0, "0"}, {failsAt, "fails"}, {backAt, "back"}, {playedFor, fmt.Sprintf("%d s", playedFor)}} {
		c.Marks = append(c.Marks, shell.ChartMark{At: float64(at.second) / playedFor, Label: at.label})
	}
	return c
}

// coarse divides all into groups of each values, and returns the maximum of each group.
func coarse(all []float64, each int) []float64 {
	var values []float64
	for i, v := range all {
		if i%each == 0 {
			values = append(values, v)
		}
		values[len(values)-1] = math.Max(values[len(values)-1], v)
	}
	return values
}
