package river

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
)

const (
	sweepInterval = time.Hour
	sweepPause    = 10 * time.Second // minimum time between two sweeps if a source has very many new items
	sweepBatch    = 1000
	sweepFlood    = 3000 // number of items of a source beyond Keep that trigger an early sweep
)

// sweepLoop removes old items and unused sources once an hour. It also runs soon after a source
// has very many new items, such as a thousand at each push.
//
// spec:cloudburst#river-flood
func (r runner) sweepLoop(ctx context.Context) {
	for lease.Sleep(ctx, nil, sweepPause) && lease.Sleep(ctx, r.wakeups.sweep, sweepInterval) {
		o := r.options()
		for ctx.Err() == nil {
			n, err := r.Store.SweepRiver(ctx, o.Keep, r.now().Add(-o.KeepFor), sweepBatch)
			if err != nil && fault.CodeOf(err) != fault.Unsupported {
				r.logError(ctx, "cannot remove old items", err)
			}
			if err != nil || n < sweepBatch || !lease.Sleep(ctx, nil, 100*time.Millisecond) {
				break
			}
		}
	}
}
