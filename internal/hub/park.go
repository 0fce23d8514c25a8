package hub

import "time"

// What is not waited for any more: deliveries leave their page, so that it can end.

// parkable: so old that nothing of it is worth waiting for, or in the way of others
// while there is room to go on and nobody in it will answer soon. When no slot is
// free, pages wait: reading on would only turn the whole topic into rows that are owed.
func (t *telling) parkable(p *page) bool {
	d := t.hub.dispatch
	if !d.room() {
		return false
	}
	if t.hub.now().Sub(p.begun) >= parkAnyway {
		return true
	}
	blocked := parkBlocked
	if t.hub.windows.most > 0 {
		blocked = lentAfter // sooner, and it would be counted no more
	}
	return t.pressed() && !d.soon(p.waitedFor(), blocked)
}

// waitedFor are the deliveries that are still open.
func (p *page) waitedFor() []*delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []*delivery
	for _, d := range p.list {
		if d.state == waiting || d.state == started {
			open = append(open, d)
		}
	}
	return open
}

// park takes what is still open out of a page: what has a slot goes on under a
// claim of its own, what has not is owed and comes back when its origin has room.
func (t *telling) park(p *page, stopping bool) {
	var late []*delivery
	now := t.hub.now()
	p.mu.Lock()
	for _, d := range p.list {
		if d.state != started && d.state != waiting {
			continue
		}
		res := t.hub.setAside(d, now, stopping)
		if res.Outcome == Parked {
			late = append(late, d)
		}
		p.results = append(p.results, res)
	}
	p.mu.Unlock()
	t.hub.dispatch.late(late)
}

// setAside takes one open delivery out of its page, whose lock is held.
func (h delivering) setAside(d *delivery, now time.Time, stopping bool) Result {
	res := Result{Key: d.sub.Key(), Version: d.topic.Version, Outcome: Postponed, NextAt: now}
	if stopping {
		d.state = withdrawn
		return res
	}
	turn, taken := h.dispatch.turnOf(d)
	if !taken {
		d.state, res.NextAt = withdrawn, now.Add(turn)
		return res
	}
	d.state, d.parkClaim = parked, newClaim()
	d.until = now.Add(h.Options.CallbackTimeout + leaseMargin)
	res.Outcome, res.NewClaim, res.NextAt = Parked, d.parkClaim, d.until
	return res
}

// unpark passes on the answers that came before the parking was on disk.
func (h delivering) unpark(p *page) {
	for _, d := range p.list {
		p.mu.Lock()
		pass := d.state == parked && d.reply != nil
		if d.state == parked {
			d.claim = d.parkClaim
		}
		p.mu.Unlock()
		if pass {
			h.finishRetry(d, *d.reply)
		}
	}
}

// abandon starts nothing more of a pass that somebody else goes on with: his deliveries
// of the same would be under way at the same time, and newer ones before ours.
func (t *telling) abandon(pages []*page) {
	for _, p := range append(pages, t.window...) {
		p.mu.Lock()
		for _, d := range p.list {
			if d.state == waiting {
				d.state = withdrawn
			}
		}
		p.mu.Unlock()
	}
}
