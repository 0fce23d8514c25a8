package simulate

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/lab/bench"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixed returns costs for tests that do not change when the embedded costs are measured again.
func fixed(t testing.TB) *Costs {
	t.Helper()
	text, err := os.ReadFile("testdata/costs.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadCosts(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// with returns the fixed costs, each changed by a function of its name and value.
func with(t testing.TB, change func(name string, value float64) float64) *Costs {
	t.Helper()
	f := *fixed(t).File
	f.Costs = append([]bench.Cost(nil), f.Costs...)
	for i := range f.Costs {
		f.Costs[i].Value = change(f.Costs[i].Name, f.Costs[i].Value)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadCosts(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func plan(t testing.TB, c *Costs, l Load, m Machine) *Plan {
	t.Helper()
	p, err := New(c, l, m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReportForFixedCostsMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]Load{"internet": Standard(), "small": Standard().scaled(1e-5)} {
		r, err := NewReport(fixed(t), l, StandardMachine(), 1)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := r.Write(&got, false); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".golden"
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
		}
		var doc struct{ Nodes, Shards int }
		got.Reset()
		if err := r.Write(&got, true); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got.Bytes(), &doc); err != nil || doc.Nodes != r.Plan.Nodes || doc.Shards != r.Plan.Shards {
			t.Errorf("%s as JSON: %+v, %v", name, doc, err)
		}
	}
}

func TestEmbeddedCostsStateTheirCommandTimeAndMachine(t *testing.T) {
	t.Parallel()
	c, err := ReadCosts(Embedded())
	if err != nil {
		t.Fatal(err)
	}
	f := c.File
	if !strings.HasPrefix(f.Command, "cloudburst-lab bench costs ") || f.At.IsZero() || f.CPU == "" || f.Shape != bench.CostShape {
		t.Errorf("the file does not state its origin: %q, %s, %q, shape %d", f.Command, f.At, f.CPU, f.Shape)
	}
	for _, one := range f.Costs {
		if one.What == "" || one.N < 1 || one.Repeats < 1 || one.P10 > one.Value || one.P90 < one.Value {
			t.Errorf("%+v was not written by bench costs", one)
		}
	}
}

// The code contains no costs, so each cost in the file must change the report.
func TestEveryCostInTheFileAffectsTheReport(t *testing.T) {
	t.Parallel()
	l := Standard()
	l.Polled, l.Kept = 1e7, 0.7
	base := plan(t, fixed(t), l, StandardMachine())
	sum := func(p *Plan) (s float64) {
		for _, r := range p.Resources {
			s += r.Demand/r.Capacity*1e3 + r.Capacity/1e12
		}
		return s
	}
	for _, one := range base.costs.File.Costs {
		used := strings.HasPrefix(one.Name, "postgres/") || one.Name == "sqlite/poll.unchanged.cpu"
		for _, end := range []string{".conns", "memory.subscription", ".received", ".sent", ".wal"} {
			used = used && !strings.HasSuffix(one.Name, end) // some costs are only reported, not used
		}
		if !used {
			continue
		}
		other := plan(t, with(t, func(name string, v float64) float64 {
			if name == one.Name {
				return v*3 + 1
			}
			return v
		}), l, StandardMachine())
		if other.Nodes == base.Nodes && other.Shards == base.Shards && sum(other) == sum(base) {
			t.Errorf("tripling %s changes nothing", one.Name)
		}
	}
}

func TestLargerLoadNeverReducesEstimatedMachines(t *testing.T) {
	t.Parallel()
	c, m := fixed(t), StandardMachine()
	grow := map[string]func(*Load, float64){
		"all":           func(l *Load, by float64) { *l = l.scaled(by) },
		"subscriptions": func(l *Load, by float64) { l.Subscriptions *= by },
		"notifications": func(l *Load, by float64) { l.Notifications *= by },
		"polled":        func(l *Load, by float64) { l.Polled = 1e6 * by },
		"answer":        func(l *Load, by float64) { l.Answer = 0.001 * by },
	}
	for name, f := range grow {
		machines, nodes := 0, 0
		for by := 0.001; by < 20; by *= 1.9 {
			l := Standard()
			f(&l, by)
			p := plan(t, c, l, m)
			if p.Nodes+p.Shards < machines || name == "all" && p.Nodes < nodes {
				t.Errorf("%s × %g: %d nodes and %d databases; a smaller load needed %d machines, %d nodes", name, by, p.Nodes, p.Shards, machines, nodes)
			}
			machines, nodes = p.Nodes+p.Shards, p.Nodes
		}
	}
}

func TestDoubledCostsDoubleTheEstimatedProcessorTime(t *testing.T) {
	t.Parallel()
	l := Standard()
	once := plan(t, fixed(t), l, StandardMachine())
	twice := plan(t, with(t, func(name string, v float64) float64 {
		if strings.HasSuffix(name, ".cpu") || strings.HasSuffix(name, ".db-cpu") {
			return 2 * v
		}
		return v
	}), l, StandardMachine())
	if math.Abs(twice.work.cpu/once.work.cpu-2) > 1e-9 || math.Abs(twice.work.store/once.work.store-2) > 1e-9 {
		t.Errorf("processor time %g and %g, of databases %g and %g", once.work.cpu, twice.work.cpu, once.work.store, twice.work.store)
	}
}

func TestSimulatedServerWithoutLoadNeedsOneNode(t *testing.T) {
	t.Parallel()
	p := plan(t, fixed(t), Load{}, StandardMachine())
	if p.Nodes != 1 || p.Shards != 1 || p.Hot != nil {
		t.Errorf("%d nodes, %d databases, %v", p.Nodes, p.Shards, p.Hot)
	}
	for _, what := range []Failure{NodeFails, ShardFails} {
		if b, err := p.Fail(what, 1); err != nil || b.Max != 0 || b.Refused != 0 {
			t.Errorf("%s: %+v, %v", what, b, err)
		}
	}
}

func TestPlannedMachinesKeepTheConfiguredHeadroom(t *testing.T) {
	t.Parallel()
	for _, by := range []float64{1e-5, 1e-3, 0.1, 1, 5} {
		p := plan(t, fixed(t), Standard().scaled(by), StandardMachine())
		for _, r := range p.Resources {
			if r.Used() > p.Machine.Headroom*1.001 {
				t.Errorf("× %g: %s is used at %g", by, r.Name, r.Used())
			}
			if want := 1 / r.Used(); by >= 0.1 && want < 1e5 && r.Breaks > want*1.5 && r.Name != dbConns && r.Name != nodeLog {
				t.Errorf("× %g: %s is used at %g and breaks at × %g", by, r.Name, r.Used(), r.Breaks)
			}
		}
	}
}

func TestErrorExplainsInconsistentPingAndNotificationRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		notifications, taken float64
		want                 string
	}{
		{1e6, 1e6, "large feeds are pinged more often"},
		{20_000, 20_000, "small feeds are pinged more often"},
		{80_000, 80_000, "as requested"},
		{1e11, 80_000, "The plan uses the pings"},
		{1, 80_000, "The plan uses the pings"},
	} {
		l := Standard()
		l.Notifications = tt.notifications
		p := plan(t, fixed(t), l, Machine{Cores: 1e6, Memory: 1e15, NIC: 1e15, IOPS: 1e12, Disk: 1e16, Files: 1e12, InFlight: 1e12, DatabaseConns: 1e9, Headroom: 1})
		if math.Abs(p.Load.Notifications/tt.taken-1) > 1e-6 || !strings.Contains(p.Popularity.Sentence, tt.want) {
			t.Errorf("%g notifications/s: %g are taken, %q", tt.notifications, p.Load.Notifications, p.Popularity.Sentence)
		}
		if sum := p.Popularity.PerPing * p.Load.Pings * p.Load.Changed; math.Abs(sum/p.Load.Notifications-1) > 1e-6 {
			t.Errorf("%g notifications/s: the feeds cause %g", tt.notifications, sum)
		}
	}
}

// The subscribers of all feeds add up to all subscriptions, and random feeds have the correct
// mean.
func TestSubscriptionsPerFeedAddUpToAllSubscriptions(t *testing.T) {
	t.Parallel()
	for _, s := range []float64{0, 0.5, 1, 1.3} {
		sum := 0.0
		for k := 1.0; k <= 200_000; k++ {
			sum += math.Pow(k, -s)
		}
		if got := harmonic(200_000, s); math.Abs(got/sum-1) > 1e-6 {
			t.Errorf("exponent %g: %g, want %g", s, got, sum)
		}
	}
	l := Standard()
	p := l.fit()
	sum, n := 0.0, 1_000_000
	for i := range n {
		sum += p.subscribers((float64(i) + 0.5) / float64(n))
	}
	if got := sum / float64(n); math.Abs(got/p.PerPing-1) > 0.2 {
		t.Errorf("%g subscribers are drawn on average, want %g", got, p.PerPing)
	}
}
