package announce

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
)

const (
	leaseMargin = 15 * time.Second // of a lease, beyond the longest ping
	deferFor    = 2 * time.Second  // how long a ping waits whose host has enough of them
)

// desk counts the pings under way.
type hostCounter struct {
	mu   sync.Mutex
	busy map[string]int // by host
}

// begin takes a place for a ping to host; false: it has its share already.
func (d *hostCounter) acquire(host string, limit int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[host] >= limit {
		return false
	}
	d.busy[host]++
	return true
}

func (d *hostCounter) release(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[host]--; d.busy[host] <= 0 {
		delete(d.busy, host)
	}
}

// Wake tells Run that rows may be due.
func (a *Announcer) Wake() {
	a.init()
	lease.Wake(a.wakeups)
}

// Run tells sinks until ctx ends, and returns when what is under way is over or given back.
func (a *Announcer) Run(ctx context.Context) error {
	a.init()
	loop := lease.Loop[PendingTarget]{
		Claim: a.Store.ClaimTargets, Next: a.Store.NextTarget, GiveBack: a.giveBack,
		Admit: func(o PendingTarget, now time.Time) (time.Time, bool) {
			// What is put off for a moment leaves the next look to others.
			return now.Add(deferFor), a.active.acquire(targetHost(o), a.Options.PerHost)
		},
		Do: func(ctx context.Context, o PendingTarget) {
			defer a.Wake() // what was saved meanwhile is due now
			defer a.active.release(targetHost(o))
			a.notify(ctx, o)
		},
		AtOnce: a.Options.AtOnce, For: a.Options.Timeout + leaseMargin, Wake: a.wakeups, Now: a.now, Name: "ping targets",
		Failed: func(ctx context.Context, doing string, err error) {
			a.Log.WarnContext(ctx, "a store error", "doing", doing, "err", err)
		},
		Caught: func(o PendingTarget, panicked any, stack []byte) {
			a.Log.Error("telling a sink panicked", "sink", o.Target, "topic", o.Topic, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
	return nil
}

// targetHost is the host of a row's ping target, normalised; "" for a target that is none,
// which tell drops.
func targetHost(o PendingTarget) string {
	s, _ := ParseTarget(o.Target)
	return href.HostPort(s.URL)
}

func (a *Announcer) giveBack(ctx context.Context, list []lease.Back[PendingTarget]) error {
	for _, b := range list {
		a.settle(ctx, b.Row, func(o *PendingTarget) *event.Event {
			o.DueAt = b.At
			return nil
		})
	}
	return nil
}
