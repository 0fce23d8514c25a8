package bench_test

import (
	"bytes"
	"strings"
	"testing"

	"cloudburst/lab/bench"
)

// The test measures the costs and the trial in CPU time on the same machine. Other load on the
// machine has little effect, but the allowed difference is still large.
func TestMeasuredCostsPredictCPUTimeOfTheProgram(t *testing.T) {
	common := small(t)
	costs, err := bench.Costs{Common: common, For: 1, Size: 100, Command: "a test"}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := costs.Write(t.Output(), false); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := costs.Write(&text, true); err != nil {
		t.Fatal(err)
	}
	if costs, err = bench.ReadCosts(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	complete(t, costs)
	tried, err := bench.Trial{Common: common, Size: 200}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prediction, err := costs.Predict("sqlite", tried)
	if err != nil {
		t.Fatal(err)
	}
	if err := prediction.Write(t.Output()); err != nil {
		t.Fatal(err)
	}
	if r := prediction.Ratio(); !(r > 1./3 && r < 3) {
		t.Errorf("predicted ÷ measured is %.2f, want between a third and three", r)
	}
	if tried.Notified != 3*20*20 || tried.Changed != 60 {
		t.Errorf("the trial did %+v", tried)
	}
	if _, err := costs.Predict("postgres", tried); err == nil {
		t.Error("the costs of an unmeasured store were predicted")
	}
}

// complete checks that every expected cost exists and has all its fields.
func complete(t *testing.T, costs *bench.CostFile) {
	t.Helper()
	have := map[string]bench.Cost{}
	for _, c := range costs.Costs {
		have[c.Name] = c
		if c.What == "" || c.N < 1 || c.Repeats < 1 || c.P10 > c.Value || c.P90 < c.Value {
			t.Errorf("%+v does not say enough", c)
		}
	}
	for _, name := range []string{
		"notify.rsscloud.kept.sent", "notify.rsscloud.new.conns", "notify.websub.kept.sent", "notify.https.new.sent", "ping.unchanged.sent",
		"ping.changed.received", "disk.subscription", "disk.topic", "memory.delivery", "memory.server", "poll.unchanged.cpu", "poll.new.cpu",
	} {
		if have["sqlite/"+name].Value <= 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if v := have["sqlite/notify.websub.kept.sent"].Value; v < 10_000 || v > 12_000 {
		t.Errorf("a content of 10,000 bytes takes %g on the wire", v)
	}
	if v := have["sqlite/notify.rsscloud.new.conns"].Value; v < 0.99 || v > 1.1 {
		t.Errorf("a notification on a connection of its own makes %g connections", v)
	}
}

func TestInvalidCostFilesAreRejected(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "shape 0",
		`{"shape":1,"costs":[{"name":"a","value":1},{"name":"a","value":1}]}`: "twice",
		`{"shape":1,"costs":[]}`: "no costs",
		`{"shape":1,"prices":1}`: "prices",
		`costs`:                  "no file that bench costs writes",
	} {
		if _, err := bench.ReadCosts([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something with %q", text, err, want)
		}
	}
	if _, err := (bench.Costs{Size: 1}).Run(t.Context()); err == nil {
		t.Error("costs of nothing were measured")
	}
	if _, err := (bench.Costs{Common: bench.Common{Database: "mysql://x"}, Size: 50, For: -1}).Run(t.Context()); err == nil {
		t.Error("a time below nothing was taken")
	}
}
