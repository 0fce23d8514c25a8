package hub

import "time"

// What is not waited for any more: deliveries leave their page, so that it can end.

// parkable: so old that nothing of it is worth waiting for, or in the way of others
// while there is room to go on and nobody in it will answer soon. When no slot is
// free, pages wait: reading on would only turn the whole topic into rows that are owed.
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
		blocked = excludeAfter // sooner, and it would be counted no more
	}
	return run.holdsUpOthers() && !d.expectsReply(b.openDeliveries(), blocked)
}

// waitedFor are the deliveries that are still open.
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

// park takes what is still open out of a page: what has a slot goes on under a
// claim of its own, what has not is owed and comes back when its origin has room.
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

// setAside takes one open delivery out of its page, whose lock is held.
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
	d.state, d.parkClaim = parked, newClaim()
	d.until = now.Add(h.Options.CallbackTimeout + leaseMargin)
	res.Outcome, res.NewClaim, res.NextAt = Parked, d.parkClaim, d.until
	return res
}

// unpark passes on the answers that came before the parking was on disk.
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
}

// abandon starts nothing more of a pass that somebody else goes on with: his deliveries
// of the same would be under way at the same time, and newer ones before ours.
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
