package hub

import (
	"time"

	"cloudburst/internal/lease"
)

// A slow delivery is parked: it leaves its batch and continues in its own row, so that the batch
// can end.

// parkable reports whether the open deliveries of a batch may be parked: the batch is older than
// parkAfter, or it holds up other deliveries while slots are free and no reply is expected soon. If
// no slots are free, the batch must wait: otherwise the run would turn the whole topic into pending
// rows.
func (run *shardRun) parkable(b *deliveryBatch) bool {
	d := run.hub.dispatch
	if !d.hasFreeSlots() {
		return false
	}
	if run.hub.now().Sub(b.begun) >= parkAfter {
		return true
	}
	blocked := parkBlockedAfter
	if run.hub.windows.max > 0 {
		blocked = excludeAfter // a delivery that is parked earlier would still count against the window
	}
	return run.holdsUpOthers() && !d.expectsReply(b.openDeliveries(), blocked)
}

// openDeliveries returns the deliveries that are waiting or started.
func (b *deliveryBatch) openDeliveries() []*delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open []*delivery
	for _, d := range b.list {
		if d.state == waiting || d.state == started {
			open = append(open, d)
		}
	}
	return open
}

// park removes the open deliveries from a batch. Deliveries that are being sent continue under a
// claim of their own. Waiting deliveries become pending, and the retry loop sends them when their
// origin has capacity.
func (run *shardRun) park(b *deliveryBatch, stopping bool) {
	var late []*delivery
	now := run.hub.now()
	b.mu.Lock()
	for _, d := range b.list {
		if d.state != started && d.state != waiting {
			continue
		}
		res := run.hub.detach(d, now, stopping)
		if res.Outcome == Parked {
			late = append(late, d)
		}
		b.results = append(b.results, res)
	}
	b.mu.Unlock()
	run.hub.dispatch.markSlow(late)
}

// detach removes one open delivery from its batch and returns the result to store. The caller holds
// the lock of the batch.
func (h delivering) detach(d *delivery, now time.Time, stopping bool) Result {
	res := Result{Key: d.sub.Key(), Version: d.topic.Version, Outcome: Postponed, NextAt: now}
	if stopping {
		d.state = withdrawn
		return res
	}
	wait, sent := h.dispatch.postponeUnsent(d)
	if !sent {
		d.state, res.NextAt = withdrawn, now.Add(wait)
		return res
	}
	d.state, d.parkClaim = parked, lease.NewClaim()
	d.until = now.Add(h.Options.CallbackTimeout + leaseMargin)
	res.Outcome, res.NewClaim, res.NextAt = Parked, d.parkClaim, d.until
	return res
}

// unpark processes the replies that arrived before the parking was stored.
func (h delivering) unpark(b *deliveryBatch) {
	for _, d := range b.list {
		b.mu.Lock()
		pass := d.state == parked && d.reply != nil
		if d.state == parked {
			d.claim = d.parkClaim
		}
		b.mu.Unlock()
		if pass {
			h.finishRetry(d, *d.reply)
		}
	}
	b.list = nil // a parked delivery must not keep the others in memory
}

// abandon withdraws the waiting deliveries of a run whose shard another node has claimed. Otherwise
// both nodes would send the same deliveries, possibly newer versions before older ones.
func (run *shardRun) abandon(batches []*deliveryBatch) {
	for _, b := range append(batches, run.window...) {
		b.mu.Lock()
		for _, d := range b.list {
			if d.state == waiting {
				d.state = withdrawn
			}
		}
		b.mu.Unlock()
	}
}
