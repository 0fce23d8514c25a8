package hubsim

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
)

// ClaimShards implements hub.Store.ClaimShards.
func (d *Disk) ClaimShards(_ context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []*partRow
	for _, id := range d.order {
		for _, p := range d.topics[id].part {
			if reached(p.due, now) {
				due = append(due, p)
			}
		}
	}
	slices.SortStableFunc(due, func(a, b *partRow) int { return a.due.Compare(b.due) })
	var claimed []hub.Shard
	for _, p := range due[:min(max(limit, 0), len(due))] {
		// Subscribers that received an older version in the interrupted round must also receive
		// the newer version, so the round starts again.
		if p.pass != p.Want {
			p.pass, p.Pos = p.Want, 0
		}
		p.Epoch++
		p.owned, p.owner, p.due = true, node, milli(until)
		part := p.Shard
		part.Topic = d.topics[p.TopicID].Topic
		claimed = append(claimed, part)
	}
	return claimed, nil
}

// Batch implements hub.Store.Batch.
func (d *Disk) Batch(_ context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var page []hub.Subscription
	for _, s := range d.subs[p.TopicID] {
		if b := hub.Bucket(s.ID); len(page) >= limit || b > p.Hi {
			break
		} else if b < p.Lo || s.ID <= after || !s.ExpiresAt.After(milli(now)) {
			continue
		}
		page = append(page, hub.Subscription{TopicID: s.TopicID, ID: s.ID, Protocol: s.Protocol, Callback: s.Callback, Procedure: s.Procedure, Secret: s.Secret,
			Failures: s.Failures, FailingSince: s.FailingSince, Tries: s.Tries, NextAt: s.NextAt, Counted: s.Counted, Sent: s.Sent})
	}
	return page, nil
}

// part returns the stored shard, or nil if another claim with a later epoch holds it.
func (d *Disk) part(p hub.Shard) *partRow {
	t := d.topics[p.TopicID]
	if t == nil {
		return nil
	}
	for _, row := range t.part {
		if row.N == p.N && row.Epoch == p.Epoch && row.owned {
			return row
		}
	}
	return nil
}

// Checkpoint implements hub.Store.Checkpoint.
func (d *Disk) Checkpoint(_ context.Context, c hub.Checkpoint) (again bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.part(c.Shard)
	if p == nil {
		return false, record.ErrLost
	}
	if c.Finish {
		p.Done, p.Pos, p.owned, p.owner, p.due = c.Shard.Want, 0, false, 0, time.Time{}
		if again = p.Want > c.Shard.Want; again {
			p.due = milli(c.Now)
		}
	} else {
		p.Pos, p.due = c.Pos, milli(c.Until)
	}
	d.settle(c.Now, c.Results)
	d.log(c.Events)
	return again, nil
}

// ReleaseShards implements hub.Store.ReleaseShards.
func (d *Disk) ReleaseShards(_ context.Context, now time.Time, parts []hub.Shard) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range parts {
		if row := d.part(p); row != nil {
			row.owned, row.owner, row.due = false, 0, milli(now)
		}
	}
	return nil
}

// Split implements hub.Store.Split.
func (d *Disk) Split(_ context.Context, topicID int64, n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.topics[topicID]
	if t == nil || len(t.part) == 0 || len(t.part) >= n {
		return nil
	}
	old := t.part
	for _, p := range old {
		if !p.idle() {
			return nil
		}
	}
	next := old[len(old)-1].N + 1
	for _, p := range old {
		whole, first := *p, int(p.Lo)
		width := int(p.Hi) - first + 1
		pieces := min((n+len(old)-1)/len(old), width)
		p.Hi = int32(first + width/pieces - 1)
		for i := 1; i < pieces; i++ {
			piece := whole
			piece.N, piece.Pos, piece.owned = next, 0, false
			piece.Lo, piece.Hi = int32(first+width*i/pieces), int32(first+width*(i+1)/pieces-1)
			t.part = append(t.part, &piece)
			next++
		}
	}
	return nil
}
