package simulate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"cloudburst/lab/bench"
)

// withCitus returns the fixed costs with costs of Citus: those of PostgreSQL on the workers, and
// coordinator times their CPU time on the coordinator.
func withCitus(t testing.TB, coordinator float64) *Costs {
	t.Helper()
	f := *fixed(t).File
	for _, one := range f.Costs {
		name, ok := strings.CutPrefix(one.Name, "postgres/")
		if !ok {
			continue
		}
		add := func(name string, v float64) {
			f.Costs = append(f.Costs, bench.Cost{Name: "citus/" + name, Value: v, P10: v, P90: v, N: 1, Repeats: 1, What: "for the test"})
		}
		add(name, one.Value)
		if op, ok := strings.CutSuffix(name, ".db-cpu"); ok {
			add(op+".coordinator-cpu", coordinator*one.Value)
		}
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

func TestClusterHandlesASmallLoadAndMoreWorkersHandleALargerOne(t *testing.T) {
	t.Parallel()
	c := withCitus(t, 0.001)
	small := plan(t, c, Standard().scaled(1e-4), StandardMachine()).Citus
	large := plan(t, c, Standard().scaled(0.5), StandardMachine()).Citus
	if small.Share != 1 || small.Workers != 1 || small.Nodes != 1 {
		t.Errorf("a small load: %+v", small)
	}
	if large.Share != 1 || large.Workers < 2 || large.Nodes <= small.Nodes {
		t.Errorf("a large load: %+v", large)
	}
}

func TestCoordinatorLimitsTheLoadOfACluster(t *testing.T) {
	t.Parallel()
	once := plan(t, withCitus(t, 1), Standard(), StandardMachine()).Citus
	twice := plan(t, withCitus(t, 2), Standard(), StandardMachine()).Citus
	if once.Limit.Name != "coordinator CPU" || !(once.Share < 1) || once.Share < 1.5*twice.Share {
		t.Errorf("%+v, and with a coordinator that needs twice the time %+v", once, twice)
	}
	r, err := NewReport(withCitus(t, 1), Standard(), StandardMachine(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := r.Write(&text, false); err != nil || !strings.Contains(text.String(), "of the load with ") || !strings.Contains(text.String(), "its limit is coordinator CPU") {
		t.Errorf("the report is\n%s%v", text.String(), err)
	}
	if err := r.Write(&doc, true); err != nil || !strings.Contains(doc.String(), `"Workers"`) {
		t.Errorf("the document is\n%s%v", doc.String(), err)
	}
}

func TestIncompleteCostsOfCitusAreRejected(t *testing.T) {
	t.Parallel()
	f := *withCitus(t, 1).File
	f.Costs = f.Costs[:len(f.Costs)-1]
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCosts(text); err == nil || !strings.Contains(err.Error(), "citus/") {
		t.Errorf("%v, want an error that names the missing cost", err)
	}
}
