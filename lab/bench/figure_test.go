package bench

import (
	"bytes"
	"cloudburst/internal/cputime"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuantileIsInterpolatedBetweenNeighbours(t *testing.T) {
	t.Parallel()
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 0.25: 1.75} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if values[0] != 4 {
		t.Error("quantile reordered what it was given")
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestNumbersAreRoundedToThreeDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 3: "3", 1234567: "1,234,567", -1200: "-1,200", 1234.6: "1,235", 123.4: "123", 12.34: "12.3", 1.234: "1.23",
		0.5: "0.50", 0.0123: "0.012", math.Inf(1): "–", 999: "999",
	} {
		if got := number(v); got != want {
			t.Errorf("%g is printed %q, want %q", v, got, want)
		}
	}
}

func TestMeasurementsAreComparedWithTheirTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, want float64
		sign        string
		met         bool
	}{
		{0.9, 0.9, "≥", true}, {0.89, 0.9, "≥", false}, {3, 3, "≤", true}, {3.1, 3, "≤", false},
		{1, 1, "<", false}, {0.9, 1, "<", true}, {0, 0, "=", true}, {1, 0, "=", false}, {math.NaN(), 1, "≤", false},
	} {
		var r Report
		r.add("x", c.value, "").target(c.sign, c.want)
		if got := *r.Figures[0].Met; got != c.met {
			t.Errorf("%g %s %g is %v, want %v", c.value, c.sign, c.want, got, c.met)
		}
		if got := len(r.Missed()) == 0; got != c.met {
			t.Errorf("%g %s %g: missed are %q", c.value, c.sign, c.want, r.Missed())
		}
	}
}

func report() *Report {
	r := &Report{Bench: "fanout", At: time.Unix(0, 0).UTC(), Took: 61, Options: map[string]string{"hosts": "10", "a": "b"},
		Machine: Machine{System: "os/cpu", CPUs: 2, MemoryMiB: 100, Go: "go1"}}
	r.addMedian("notifications", []float64{1000, 3000, 2000}, "1/s").target("≥", 5000).note("a %s", "remark")
	r.add("short", 1.5, "×")
	return r
}

func TestColumnsOfPrintedTableAreAligned(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := report().Write(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `fanout: a b, hosts 10
os/cpu, 2 CPUs, 100 MiB, load 0.0 before, go1, took 61 s

figure         value  unit  target           rounds, remarks
notifications  2,000  1/s   ≥ 5,000  MISSED  [1,000 3,000 2,000] a remark
short           1.50  ×
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestJSONReportContainsTheValuesOfTheTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := report().Write(&b, true); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*report(), back); d != "" {
		t.Error(d)
	}
}

func TestRatiosAreComputedForEachRound(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]float64{2, 0.5}, each([]float64{4, 2, 9}, []float64{2, 4})); d != "" {
		t.Error(d)
	}
}

func TestProcessTimeIsParsedWithAnyProcessName(t *testing.T) {
	t.Parallel()
	line := "77 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20"
	if got := cputime.OfStat(line); got != 2*time.Second {
		t.Errorf("%s, want 2s", got)
	}
	for _, bad := range []string{"", "77", "77 (x) S 1"} {
		if got := cputime.OfStat(bad); got != 0 {
			t.Errorf("%q is %s", bad, got)
		}
	}
}
