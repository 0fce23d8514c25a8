package hubsim

import (
	"context"
	"log/slog"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/hub/clock"
)

// node is one process that runs on a machine. A restart creates another node.
type node struct {
	scenario *scenario
	machine  int
	runID    uint64 // unique number of the process
	hub      *hub.Hub
	clock    *clock.Steady
	cancel   context.CancelFunc
	gone     chan struct{} // closed when the process crashes
	ended    chan struct{} // closed when the last relevant goroutine of the process has ended

	// The mutex scenario.mu guards the fields below.
	crashed          bool
	ready            bool          // the process accepts requests
	frozenUntil      time.Time     // the process is frozen until this time
	delayed          time.Duration // number of operations that wait for the end of the freeze
	unavailableUntil time.Time     // the store is unavailable until this time
	jumped           time.Duration
	blind            []span // times when the process was frozen or could not write to its store
}

type span struct{ from, to time.Time }

// begin starts a process on a machine, and returns when the process accepts requests. A single
// machine wakes up when work is due. Several machines poll the store and send hints to each
// other.
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
			time.Sleep(time.Second) // a supervisor restarts the process after one second
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

// wall returns the time on the machine's wall clock. A restart of the machine corrects the clock.
func (n *node) wall() time.Time {
	n.scenario.mu.Lock()
	defer n.scenario.mu.Unlock()
	return time.Now().Add(n.scenario.plan.skew[n.machine] + n.jumped)
}

// random returns a number in [0, 1) that depends on the seed, the process and the time, but not
// on the order of goroutines.
func (n *node) random() float64 {
	return share(hash(n.scenario.seed, n.runID, uint64(time.Now().UnixNano())))
}

// hint wakes up the other machines after a delay. A hint can be lost.
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

// crash crashes a process. Its later operations have no effect.
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

// stop shuts a process down gracefully.
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

// sleep waits for d. It returns false if the process crashed or ctx ended.
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

// gate delays an operation until the end of a freeze. Delayed operations continue in their
// original order, each at a different time. It returns false if the process has crashed.
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

// excused reports whether the process could not know at a time that its lease had expired. This
// is the case if the process was frozen or could not reach its store shortly before.
func (n *node) excused(at time.Time) bool {
	for _, s := range n.blind {
		if s.to.Sub(s.from) >= longAway && !at.Before(s.from) && at.Before(s.to.Add(2*time.Second)) {
			return true
		}
	}
	return false
}
