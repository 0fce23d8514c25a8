package river

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/forward"
)

// listState contains the state of lists, forwardings and followed sources that exists only in
// memory.
type listState struct {
	mu        sync.Mutex
	addresses map[string]chan struct{} // key: URL that is being fetched for the first time; value: closed when the fetch ends
	following map[string]followedSet
	importing map[string]bool // key: name of a user with an import in progress
	// importSlots contains one element for each import that is being written.
	importSlots chan struct{}
}

const (
	listsAtOnce       = 4
	forwardingsAtOnce = 16
	panicRetry        = 6 * time.Hour // wait before work that caused a panic is tried again
)

// listLoop checks due reading lists.
func (r runner) listLoop(ctx context.Context) {
	loop := lease.Loop[ReadingList]{
		Claim: r.Store.ClaimReadingLists, Next: r.Store.NextReadingList, Do: listReader(r).readList, AtOnce: listsAtOnce,
		For: r.options().Lease, Pause: workPause, Idle: r.idle(), Wake: r.wakeups.lists, Now: r.now, Failed: r.failed, Name: "reading lists",
		Caught: func(l ReadingList, panicked any, stack []byte) {
			l.NextAt = r.now().Add(panicRetry)
			r.caught(panicked, stack, func(ctx context.Context) (bool, error) { return r.Store.SaveReadingList(ctx, l) })
		},
	}
	loop.Run(ctx)
}

// forwardLoop sends due forwardings.
func (r runner) forwardLoop(ctx context.Context) {
	loop := lease.Loop[forward.Forwarding]{
		Claim: r.Store.ClaimForwardings, Next: r.Store.NextForwarding, Do: r.forwarder.Send, AtOnce: forwardingsAtOnce,
		For: r.options().Lease, Pause: workPause, Idle: r.idle(), Wake: r.wakeups.forward, Now: r.now, Failed: r.failed, Name: "forwardings",
		Caught: func(n forward.Forwarding, panicked any, stack []byte) {
			n.NextAt = r.now().Add(panicRetry)
			r.caught(panicked, stack, func(ctx context.Context) (bool, error) { return r.Store.SaveForwarding(ctx, n, nil) })
		},
	}
	loop.Run(ctx)
}

// caught logs a panic and postpones the work that caused it.
func (r runner) caught(panicked any, stack []byte, putOff func(context.Context) (bool, error)) {
	r.logger().Error("panic during the work on a reading list or forwarding", "panic", fmt.Sprint(panicked), "stack", string(stack))
	ctx, cancel := saveContext(context.Background())
	defer cancel()
	_, err := putOff(ctx)
	r.logError(ctx, "cannot postpone work after a panic", err)
}

func (r runner) failed(ctx context.Context, doing string, err error) {
	r.logError(ctx, "cannot "+doing, err)
}

// logError logs an error that is not returned to a caller.
func (r *River) logError(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil || r.Log == nil {
		return
	}
	r.Log.Error(what, "code", fault.CodeOf(err).String(), "err", err)
}

// saveContext returns a context for storing results that remains valid for five seconds after the
// program begins to stop.
func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
