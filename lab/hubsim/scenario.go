package hubsim

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/hub"
)

// Options are the options of a run. The zero value plants no bug and logs nothing.
type Options struct {
	Flaw string       // name of a bug from [Flaws] to plant between the engine and its store
	Log  *slog.Logger // logger of the hubs; nil discards the log
}

// Report is the result of a run.
type Report struct {
	Seed       uint64
	Broken     []string // descriptions of violated guarantees
	Sum        uint64   // hash of the whole history; equal for equal seeds
	Words      func() string
	Ops        int // number of operations on the store
	Faults     int // number of operations that failed or took seconds
	Crashes    int
	Others     int // number of freezes, outages of a store and clock changes
	Acts       int // number of registrations, cancels and pings
	Deliveries int
	Refusals   int // deliveries that did not arrive or had no successful reply
	Took       time.Duration
}

const brokenMost = 40

// scenario is the state of one run.
type scenario struct {
	seed  uint64
	plan  plan
	disk  *Disk
	flaw  flaw
	log   *slog.Logger
	begun time.Time
	byKey map[hub.Key]*member
	gone  sync.WaitGroup // goroutines that execute the planned actions

	mu      sync.Mutex
	faulty  bool
	running []*node // process of each machine; nil if the machine is down
	lived   []*node
	runs    uint64
	feeds   []*feed
	values  map[string]int // key: hash of a feed's content; value: value of the feed
	bodies  map[string]int
	broken  []string
	ops     int
	faults  int
	crashes int
	others  int
	history
}

// Run runs the simulation of one seed. The caller must call it in a bubble of testing/synctest.
func Run(seed uint64, o Options) Report {
	w := &scenario{seed: seed, plan: makePlan(seed), log: o.Log, byKey: map[hub.Key]*member{}, values: map[string]int{}, bodies: map[string]int{},
		faulty: true, history: history{set: map[[2]int]time.Time{}}}
	w.flaw = newFlaw(o.Flaw, w)
	w.disk = NewDisk(w.plan.machines > 1)
	time.Sleep(w.plan.start)
	w.begun = time.Now()
	w.running = make([]*node, w.plan.machines)
	for i := range w.plan.members {
		w.byKey[w.plan.members[i].key] = &w.plan.members[i]
	}
	w.mu.Lock()
	for f := range w.plan.feeds {
		w.feeds = append(w.feeds, &feed{url: feedURL(f)})
		w.turn(f)
	}
	w.mu.Unlock()
	w.play()
	w.check()
	r := Report{Seed: seed, Broken: w.broken, Sum: w.sum(), Words: w.words, Ops: w.ops, Faults: w.faults, Crashes: w.crashes, Others: w.others,
		Acts: len(w.acts), Deliveries: len(w.deliveries), Took: time.Since(w.begun)}
	for _, d := range w.deliveries {
		if d.reply != "ok" {
			r.Refusals++
		}
	}
	return r
}

// violation records a violated guarantee. The caller holds w.mu.
func (w *scenario) violation(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.logLine("BROKEN: %s", text)
	if len(w.broken) < brokenMost {
		w.broken = append(w.broken, text)
	}
}

func (w *scenario) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violation(format, args...)
}

// note appends a line to the history, but only if worth is true.
func (w *scenario) note(worth bool, format string, args ...any) {
	if !worth {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logLine(format, args...)
}

// swept records the subscriptions that a sweep has removed.
func (w *scenario) swept(gone []hub.SubscriptionInfo, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range gone {
		r := removal{member: w.byKey[g.Key()], dropped: g.ExpiresAt.After(milli(now)), clock: now, at: time.Now()}
		w.removals = append(w.removals, r)
		w.logLine("the sweep removes %s (dropped: %v)", r.member, r.dropped)
	}
}

// String returns a description of a member.
func (m *member) String() string {
	return fmt.Sprintf("%s %d of feed %d", m.protocol, m.n, m.feed)
}
