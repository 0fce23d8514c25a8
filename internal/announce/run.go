package announce

import (
	"context"
	"fmt"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
)

const (
	leaseMargin = 15 * time.Second // how much longer a lease is than the longest ping
	deferFor    = 2 * time.Second  // delay of a ping whose host has reached its limit
)

// Wake makes Run check for due rows.
func (a *Announcer) Wake() {
	a.init()
	lease.Wake(a.wakeups)
}

// Run sends pings until ctx ends. It returns when each ping in progress has a recorded result or has
// released its row.
func (a *Announcer) Run(ctx context.Context) error {
	a.init()
	loop := lease.Loop[PendingTarget]{
		Claim: a.Store.ClaimTargets, Next: a.Store.NextTarget, GiveBack: a.giveBack,
		Admit: func(o PendingTarget, now time.Time) (time.Time, bool) {
			// A ping of a busy host is deferred, so that its row does not block other rows.
			_, ok := a.active.Acquire(targetHost(o))
			return now.Add(deferFor), ok
		},
		Do: func(ctx context.Context, o PendingTarget) {
			defer a.Wake() // a newer version that was saved during the ping is due now
			defer a.active.Release(targetHost(o))
			a.notify(ctx, o)
		},
		AtOnce: a.Options.AtOnce, For: a.Options.Timeout + leaseMargin, Wake: a.wakeups, Now: a.now, Name: "ping targets",
		Failed: func(ctx context.Context, doing string, err error) {
			a.Log.WarnContext(ctx, "store error", "doing", doing, "err", err)
		},
		Caught: func(o PendingTarget, panicked any, stack []byte) {
			a.Log.Error("pinging a target panicked", "target", o.Target, "topic", o.Topic, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
	return nil
}

// targetHost returns the normalized host of a row's ping target, or "" for an invalid target, which
// notify drops.
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
