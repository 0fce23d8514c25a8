package simulate

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

func TestSameSeedProducesTheSameBacklog(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	p := plan(t, fixed(t), Standard(), StandardMachine())
	a, _ := p.Fail(NodeFails, 7)
	b, _ := p.Fail(NodeFails, 7)
	c, _ := p.Fail(NodeFails, 8)
	if !slices.Equal(a.Pending, b.Pending) || slices.Equal(a.Pending, c.Pending) {
		t.Error("the seed does not determine the simulated failure")
	}
	if _, err := p.Fail("moon", 1); err == nil || !strings.Contains(err.Error(), "moon") {
		t.Errorf("unknown failure: %v, want an error", err)
	}
}

func TestBacklogAfterAFailureIsProcessed(t *testing.T) {
	t.Parallel()
	l := Standard()
	l.Zipf, l.Notifications = 0, 80_000 // all feeds have the same size
	p := plan(t, fixed(t), l, StandardMachine())
	for _, what := range []Failure{NodeFails, ShardFails} {
		b, err := p.Fail(what, 1)
		if err != nil {
			t.Fatal(err)
		}
		if b.Max < b.Usual || math.IsInf(b.Late, 1) || (b.Refused > 0) != (what == ShardFails) {
			t.Errorf("%s: %g pending, %g without it, late %g, %g refused", what, b.Max, b.Usual, b.Late, b.Refused)
		}
		for i := range failsAt {
			if b.Pending[i] != b.Without[i] {
				t.Fatalf("%s: the failure shows %d s before it", what, failsAt-i)
			}
		}
	}
}

func TestInvalidSimulationInputIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for want, change := range map[string]func(*Load, *Machine){
		"--feeds is -1":       func(l *Load, _ *Machine) { l.Feeds = -1 },
		"--pings is NaN":      func(l *Load, _ *Machine) { l.Pings = math.NaN() },
		"--https is 2":        func(l *Load, _ *Machine) { l.HTTPS = 2 },
		"need feeds":          func(l *Load, _ *Machine) { l.Feeds = 0 },
		"that find a change":  func(l *Load, _ *Machine) { l.Changed = 0 },
		"--cores is 0":        func(_ *Load, m *Machine) { m.Cores = 0 },
		"--headroom is 2":     func(_ *Load, m *Machine) { m.Headroom = 2 },
		"use larger machines": func(_ *Load, m *Machine) { m.DatabaseConns = 1 },
	} {
		l, m := Standard(), StandardMachine()
		change(&l, &m)
		if _, err := New(fixed(t), l, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something with %q", err, want)
		}
	}
	for _, text := range []string{"", "Gbit", "-1Gbit", "0", "1 Xbit", "1e999"} {
		if v, err := ParseRate(text); err == nil {
			t.Errorf("the rate %q is %g, want an error", text, v)
		}
	}
	if v, err := ParseRate("10Gbit/s"); err != nil || v != 1e10 {
		t.Errorf("10Gbit/s is %g, %v", v, err)
	}
	if _, err := ReadCosts([]byte(`{"shape":1,"costs":[{"name":"sqlite/register.cpu","value":1}]}`)); err == nil || !strings.Contains(err.Error(), "postgres/ping.changed.cpu") {
		t.Errorf("an incomplete file of costs: %v", err)
	}
}

func TestChartIsOneLabeledSVGDocument(t *testing.T) {
	t.Parallel()
	c, l, m := fixed(t), Standard(), StandardMachine()
	scales, err := Scales(c, l, m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(c, l, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	text := Chart(scales, r.Backlogs)
	titles, descs, paths := 0, 0, 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "title":
				titles++
			case "desc":
				descs++
			case "path":
				paths++
			}
		}
	}
	if titles != 5 || descs != 4 || paths < 16 {
		t.Errorf("%d titles, %d descriptions, %d curves and keys", titles, descs, paths)
	}
	for _, word := range []string{"Machines, by subscriptions", "10 billion", "databases", "without the failure", ">fails<", ">back<"} {
		if !strings.Contains(text, word) {
			t.Errorf("the chart does not contain %q", word)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("the chart contains NaN or Inf")
	}
	if _, err := Scales(c, Load{}, m); err == nil {
		t.Error("scales of a load without subscriptions: no error")
	}
}
