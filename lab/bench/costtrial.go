package bench

import (
	"cloudburst/internal/cli/shell"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// Trial is a small mixed load whose CPU time a [CostFile] predicts. Its feeds have few
// subscribers each, unlike the feeds of the cost measurement.
type Trial struct {
	Common
	Size int // number of pings of unchanged feeds in a round [1,000]
}

// Tried is the result of a trial: the numbers of its operations, and the CPU time that they used.
type Tried struct {
	Unchanged, Changed, Notified, Registered int
	CPU                                      time.Duration // CPU time of the server process
}

const trialSubscribers = 20 // number of subscribers of each changing feed

// Run runs the load once to warm up, and then measures three runs.
func (b Trial) Run(ctx context.Context) (t Tried, err error) {
	b.Size, b.Hosts = orElse(b.Size, 1000), costHosts
	if b.Size < 50 {
		return t, fmt.Errorf("a trial cannot have the size %d: 50 is the least", b.Size)
	}
	m := costMeter{Costs: Costs{Common: b.Common, Size: b.Size}, store: onSQLite, progress: shell.NewProgress(orDiscard(b.Progress), "")}
	if b.Database != "" {
		m.store = onPostgres
	}
	changing := b.Size / 10
	err = m.on(ctx, Plan{Feeds: costSmall + b.Size + changing}, func(s *costStage) error {
		subs := changing * trialSubscribers
		of := func(i int) registration {
			feed := costSmall + i
			if i >= b.Size {
				feed = costSmall + b.Size + (i-b.Size)%changing
			}
			return registration{feed: s.receiver.feedURL(feed), callback: s.receiver.callback(i, false)}
		}
		if err := s.register(ctx, ByImport, b.Size+subs, of); err != nil {
			return err
		}
		w := &costServer{costStage: s, ctx: ctx, pinger: newPinger(s.server.listen, costClients), large: subs, small: b.Size}
		before, err := costUse{}, w.mixed(changing)
		if err == nil {
			before, err = s.use(ctx)
		}
		for range minRepeats {
			if err == nil {
				s.progress.Step("trial", t.Unchanged, minRepeats*b.Size)
				err = w.mixed(changing)
			}
			t.Unchanged, t.Changed = t.Unchanged+b.Size, t.Changed+changing
			t.Notified, t.Registered = t.Notified+subs, t.Registered+b.Size/2
		}
		if err != nil {
			return err
		}
		after, err := s.use(ctx)
		t.CPU = after.cpu - before.cpu
		return err
	})
	return t, err
}

// mixed runs one round: pings of unchanged feeds, pings of changed feeds, and registrations.
func (w *costServer) mixed(changing int) error {
	first := costSmall + w.small
	if err := w.receiver.reset(w.small + w.large); err != nil {
		return err
	}
	if err := w.receiver.call("change", []span{{From: first, To: first + changing}}, nil); err != nil {
		return err
	}
	b := Ping{Clients: costClients}
	if err := b.pingAll(w.ctx, w.stage, w.pinger, rand.Perm(w.small+changing), costSmall, make([]float64, w.small+changing)); err != nil {
		return err
	}
	if _, err := w.registerNew(); err != nil {
		return err
	}
	return w.receiver.wait(w.ctx, w.large, notifyTimeout, func(int) {})
}

// Prediction contains a trial and its predicted CPU time.
type Prediction struct {
	Tried Tried
	CPU   time.Duration
}

// Predict predicts the CPU time of a trial on a store, which is "sqlite" or "postgres".
func (f *CostFile) Predict(store string, t Tried) (Prediction, error) {
	sum := 0.0
	for _, part := range []struct {
		name string
		n    int
	}{{"ping.unchanged", t.Unchanged}, {"ping.changed", t.Changed}, {"notify.rsscloud.kept", t.Notified}, {"register", t.Registered}} {
		i := slices.IndexFunc(f.Costs, func(c Cost) bool { return c.Name == store+"/"+part.name+".cpu" })
		if i < 0 {
			return Prediction{}, fmt.Errorf("the costs have no %s/%s.cpu", store, part.name)
		}
		sum += f.Costs[i].Value * float64(part.n)
	}
	return Prediction{Tried: t, CPU: time.Duration(sum * float64(time.Microsecond))}, nil
}

// Ratio returns the predicted CPU time divided by the measured CPU time.
func (f Prediction) Ratio() float64 { return f.CPU.Seconds() / f.Tried.CPU.Seconds() }

// Write prints the trial and the comparison in two lines.
func (f Prediction) Write(w io.Writer) error {
	t := f.Tried
	_, err := fmt.Fprintf(w, "%s pings without a change, %s changes, %s notifications, %s registrations:\n%.2f s of processor time predicted, %.2f s measured, ratio %.2f\n",
		thousands(int64(t.Unchanged)), thousands(int64(t.Changed)), thousands(int64(t.Notified)), thousands(int64(t.Registered)),
		f.CPU.Seconds(), t.CPU.Seconds(), f.Ratio())
	return err
}
