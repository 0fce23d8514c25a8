package river

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
)

// listState is the state in memory of lists, forwardings and followed sources.
type listState struct {
	mu        sync.Mutex
	addresses map[string]chan struct{} // addresses that are being fetched for the first time
	following map[string]followedSet
	importing map[string]bool // users with an import in progress
	// importSlots has an element for each import that is being written.
	importSlots chan struct{}
}

const (
	listsAtOnce       = 4
	forwardingsAtOnce = 16
	panicRetry        = 6 * time.Hour // until work that panicked is tried again
)

// workOnce checks due reading lists and sends due forwardings. did reports that there may be more
// at once. next is when something is due next as far as known (zero: never, until the river is
// woken).
func (r runner) workOnce(ctx context.Context) (did bool, next time.Time) {
	now := r.now()
	until, claim := now.Add(r.options().Lease), newClaim()
	var group sync.WaitGroup
	lists, err := r.Store.ClaimReadingLists(ctx, now, until, listsAtOnce, claim)
	r.logError(ctx, "cannot claim reading lists", err)
	for _, l := range lists {
		group.Go(func() {
			r.runRecovered(func() { listReader(r).readList(ctx, l) }, func(c context.Context) error {
				l.NextAt = r.now().Add(panicRetry)
				_, err := r.Store.SaveReadingList(c, l)
				return err
			})
		})
	}
	var forwardings []forward.Forwarding
	if r.Forward != nil {
		forwardings, err = r.Store.ClaimForwardings(ctx, now, until, forwardingsAtOnce, claim)
		r.logError(ctx, "cannot claim forwardings", err)
	}
	for _, n := range forwardings {
		group.Go(func() {
			r.runRecovered(func() { r.forwarder.Send(ctx, n) }, func(c context.Context) error {
				n.NextAt = r.now().Add(panicRetry)
				_, err := r.Store.SaveForwarding(c, n, nil)
				return err
			})
		})
	}
	group.Wait()
	next, err = r.Store.NextWork(ctx)
	if err != nil {
		r.logError(ctx, "cannot query due reading lists and forwardings", err)
		next = r.now().Add(time.Minute)
	}
	if soon := r.now().Add(time.Minute); r.Forward == nil && next.Before(soon) && !next.IsZero() && len(lists) == 0 {
		next = soon // forwardings wait until this server can send them
	}
	return len(lists)+len(forwardings) > 0 && ctx.Err() == nil, next
}

// runRecovered keeps a panic about one document or target from crashing the program, and postpones
// that work.
func (r runner) runRecovered(do func(), putOff func(context.Context) error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		r.logger().Error("panic during the work on a reading list or forwarding", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		ctx, cancel := saveContext(context.Background())
		defer cancel()
		r.logError(ctx, "cannot postpone work after a panic", putOff(ctx))
	}()
	do()
}

// logError logs an error that no caller handles.
func (r *River) logError(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil || r.Log == nil {
		return
	}
	r.Log.Error(what, "code", fault.CodeOf(err).String(), "err", err)
}

// saveContext returns a context for storing results, also while the program stops.
func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
