package hubsim

import (
	"context"
	"log/slog"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/hub/clock"
)

// node is one process run of one machine.
type node struct {
	scenario *scenario
	machine  int
	runID    uint64 // counts all process runs of all machines
	hub      *hub.Hub
	clock    *clock.Steady
	cancel   context.CancelFunc
	gone     chan struct{} // closed on a crash
	ended    chan struct{} // closed when its last relevant goroutine has ended

	// Guarded by scenario.mu.
	crashed          bool
	ready            bool          // it accepts requests
	frozenUntil      time.Time     // frozen until then
	delayed          time.Duration // number of delayed operations, as nanoseconds
	unavailableUntil time.Time     // its store is unavailable until then
	jumped           time.Duration
	blind            []span // periods when it was frozen or could not write
}

type span struct{ from, to time.Time }

// begin starts a machine. A single machine wakes at due times; several machines poll and wake
// each other. begin returns when the machine accepts requests.
func (w *scenario) begin(machine int, alone bool) *node {
	w.mu.Lock()
	w.runs++
	n := &node{scenario: w, machine: machine, runID: w.runs, gone: make(chan struct{}), ended: make(chan struct{})}
	n.clock = &clock.Steady{Wall: n.wall}
	n.hub = &hub.Hub{Store: w.flaw.wrap(n, &link{node: n, disk: w.disk}), Fetch: n, Notify: n, Verify: n, Ask: n,
		Bus: event.NewBus(int64(n.runID)), Log: slog.New(slog.DiscardHandler), Options: w.plan.options, Now: n.clock.Now, Random: n.random}
	if w.log != nil {
		n.hub.Log = w.log.With("run", n.runID)
	}
	if !alone {
		n.hub.Hint = n.hint
	}
	w.running[machine] = n
	w.lived = append(w.lived, n)
	w.logLine("machine %d starts (run %d)", machine, n.runID)
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	up := make(chan struct{})
	go func() {
		defer close(n.ended)
		for n.hub.Recover(ctx) != nil && ctx.Err() == nil {
			time.Sleep(time.Second) // its supervisor restarts it
		}
		w.mu.Lock()
		n.ready = true
		w.mu.Unlock()
		close(up)
		if err := n.hub.Run(ctx); err != nil {
			w.fail("machine %d ended unexpectedly: %v", machine, err)
		}
	}()
	<-up
	return n
}

// wall returns the machine's wall clock. A restart corrects the clock.
func (n *node) wall() time.Time {
	n.scenario.mu.Lock()
	defer n.scenario.mu.Unlock()
	return time.Now().Add(n.scenario.plan.skew[n.machine] + n.jumped)
}

// random spreads waits by time, independent of the order of goroutines.
func (n *node) random() float64 {
	return share(hash(n.scenario.seed, n.runID, uint64(time.Now().UnixNano())))
}

// hint wakes the other machines after a delay, unless the hint is lost.
func (n *node) hint() {
	w := n.scenario
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.running {
		h := hash(w.seed, n.runID, 1, uint64(time.Now().UnixNano()))
		if other == nil || other == n || other.crashed || w.faulty && share(h) < w.plan.lostHint {
			continue
		}
		time.AfterFunc(time.Duration(200+hash(h, other.runID)%1800)*time.Microsecond+time.Duration(h%997), func() {
			if other.alive() {
				other.hub.Wake()
			}
		})
	}
}

func (n *node) alive() bool {
	n.scenario.mu.Lock()
	defer n.scenario.mu.Unlock()
	return !n.crashed
}

// crash crashes a machine. Its later operations have no effect.
func (n *node) crash() {
	w := n.scenario
	w.mu.Lock()
	if n.crashed {
		w.mu.Unlock()
		return
	}
	n.crashed = true
	if w.running[n.machine] == n {
		w.running[n.machine] = nil
	}
	w.logLine("machine %d crashes", n.machine)
	w.crashes++
	w.mu.Unlock()
	close(n.gone)
	n.cancel()
}

// stop shuts a machine down gracefully.
func (n *node) stop() {
	w := n.scenario
	w.mu.Lock()
	if w.running[n.machine] == n {
		w.running[n.machine] = nil
	}
	w.logLine("machine %d shuts down", n.machine)
	w.mu.Unlock()
	n.cancel()
	<-n.ended
}

// sleep waits. It returns false if the machine crashed or ctx ended.
func (n *node) sleep(ctx context.Context, d time.Duration) bool {
	if d < 5*time.Millisecond {
		time.Sleep(d)
		return ctx.Err() == nil && n.alive()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return n.alive()
	case <-n.gone:
	case <-ctx.Done():
	}
	return false
}

// gate delays the operations of a frozen machine. They continue in their original order, each
// at a distinct time.
func (n *node) gate() bool {
	for place := time.Duration(0); ; {
		n.scenario.mu.Lock()
		wait, crashed := time.Until(n.frozenUntil), n.crashed
		if wait > 0 && place == 0 {
			n.delayed++
			place = n.delayed
		}
		n.scenario.mu.Unlock()
		if crashed || wait <= 0 {
			return !crashed
		}
		select {
		case <-time.After(wait + place*1009):
		case <-n.gone:
		}
	}
}

// excused reports whether a machine could not know at a time that its lease had expired:
// shortly before, it was frozen or could not reach its store.
func (n *node) excused(at time.Time) bool {
	for _, s := range n.blind {
		if s.to.Sub(s.from) >= longAway && !at.Before(s.from) && at.Before(s.to.Add(2*time.Second)) {
			return true
		}
	}
	return false
}
