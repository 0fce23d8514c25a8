package hubsim

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// RecordPing implements hub.Store.RecordPing.
func (d *Disk) RecordPing(_ context.Context, url string, now, due time.Time, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recordPing(url, now, due)
	d.log(events)
	return nil
}

// recordPing stores a ping. If a ping is already pending, the earlier due time counts.
func (d *Disk) recordPing(url string, now, due time.Time) {
	t := d.makeTopic(hub.TopicID(url), url, now)
	t.PingedAt = later(t.PingedAt, milli(now))
	if due = milli(due); t.due.IsZero() || t.due.After(due) {
		t.due = due
	}
	t.used = later(t.used, milli(now))
}

// Announce implements hub.Store.Announce.
func (d *Disk) Announce(_ context.Context, list []hub.Change, pings []string, now, due time.Time, events []event.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range pings {
		d.recordPing(u, now, due)
	}
	d.log(events)
	d.list(list)
	return nil
}

// ClaimChecks implements hub.Store.ClaimChecks.
func (d *Disk) ClaimChecks(_ context.Context, now, until time.Time, limit int) ([]hub.Topic, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []*topicRow
	for _, id := range d.order {
		if t := d.topics[id]; reached(t.due, now) {
			due = append(due, t)
		}
	}
	slices.SortStableFunc(due, func(a, b *topicRow) int { return a.due.Compare(b.due) })
	var claimed []hub.Topic
	for _, t := range due[:min(limit, len(due))] {
		t.due, t.held = milli(until), true
		claimed = append(claimed, t.Topic)
	}
	return claimed, nil
}

// CommitCheck implements hub.Store.CommitCheck.
func (d *Disk) CommitCheck(_ context.Context, c hub.Check) (hub.Checked, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.topics[c.TopicID]
	switch {
	case t == nil && c.Base != 0:
		return hub.Checked{Raced: true}, nil
	case t == nil && c.URL == "":
		return hub.Checked{}, fault.New(fault.NotFound, "There is no topic with the number %d here.", c.TopicID)
	case t == nil:
		t = d.makeTopic(c.TopicID, c.URL, c.Now)
	case t.Version != c.Base:
		return hub.Checked{Raced: true, Topic: t.Topic}, nil
	}
	t.apply(c)
	t.used, t.held = milli(c.Now), false
	done := hub.Checked{Topic: t.Topic}
	d.log(c.Events)
	if c.Err != "" || !c.Changed {
		return done, nil
	}
	if t.KeepContent {
		t.body = nil
		if c.Body != nil {
			t.body = &hub.Content{Version: t.Version, Type: t.ContentType, Body: c.Body}
		}
	}
	t.raise(c, &done)
	d.list(c.Listed)
	return done, nil
}

// apply updates the topic with the result of a check.
func (t *topicRow) apply(c hub.Check) {
	t.CheckedAt = milli(c.Now)
	begun := milli(c.StartedAt)
	if c.Err != "" {
		t.Failures++
		t.Error = c.Err
		answered := !t.PingedAt.After(begun) && !t.AgainAt.After(begun)
		switch retry := milli(c.Retry); {
		case t.PingedAt.IsZero() && t.AgainAt.IsZero():
			t.due = time.Time{}
		case !retry.IsZero() && (answered || t.due.IsZero() || t.due.After(retry)):
			t.due = retry
		case retry.IsZero() && answered:
			t.PingedAt, t.AgainAt, t.due = time.Time{}, time.Time{}, time.Time{}
		}
		return
	}
	t.Failures, t.Error = 0, ""
	if !t.PingedAt.After(begun) {
		t.PingedAt, t.due = time.Time{}, time.Time{}
	}
	t.lookAgain(c)
	if c.Hash != nil {
		t.Hash = c.Hash
	}
	t.ETag, t.LastModified, t.ContentType, t.Size = c.ETag, c.LastModified, c.ContentType, c.Size
	if !c.Changed {
		return
	}
	t.Version++
	t.ChangedAt = milli(c.ChangedAt)
	if t.ChangedAt.IsZero() {
		t.ChangedAt = t.CheckedAt
	}
	if c.About != nil {
		t.About = *c.About
	}
}

// lookAgain stores the time of the next full read, and adds the cost of this check.
func (t *topicRow) lookAgain(c hub.Check) {
	t.Evidence, t.AgainAt = c.Evidence, milli(c.Again)
	t.Evidence.FullAt = milli(t.Evidence.FullAt)
	if !t.AgainAt.IsZero() && (t.due.IsZero() || t.due.After(t.AgainAt)) {
		t.due = t.AgainAt
	}
	if c.NotModified {
		t.NotModified++
		return
	}
	t.FullReads++
	t.FullBytes += c.Size
}

// raise sets the new version as the target of every shard, and claims the first idle shards.
func (t *topicRow) raise(c hub.Check, done *hub.Checked) {
	for _, p := range t.part {
		idle := p.idle()
		p.Want = t.Version
		switch {
		case idle && len(done.Claimed) < c.ClaimShards:
			p.Epoch++
			p.Pos, p.pass = 0, p.Want
			p.owned, p.owner, p.due = true, c.Node, milli(c.ClaimUntil)
			claimed := p.Shard
			claimed.Topic = t.Topic
			done.Claimed = append(done.Claimed, claimed)
		case idle:
			p.due = milli(c.Now)
			done.Waiting++
		case reached(p.due, c.Now):
			done.Waiting++
		}
	}
}

// list adds recent changes. It skips changes that are already stored, because the response to an
// earlier attempt can be lost.
func (d *Disk) list(changes []hub.Change) {
	for _, c := range changes {
		if key := [2]int64{c.Node, c.Seq}; !d.listed[key] {
			d.listed[key] = true
			d.counted++
			c.At = milli(c.At)
			d.changes = append(d.changes, c)
		}
	}
}
