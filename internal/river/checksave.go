package river

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/item"
)

const (
	saveTries     = 5
	unstoredRetry = 10 * time.Minute // wait before a feed is fetched again whose items could not be stored
)

// checker fetches documents and stores the result of each check.
type checker struct{ *River }

// runJob checks the source of a job and stores the result. It calls fetched after the last request.
func (r checker) runJob(ctx context.Context, j *job, fetched func()) {
	defer func() {
		if p := recover(); p != nil {
			// If a document causes a panic, the program must continue, and must not check the
			// source again soon.
			r.logger().Error("panic during the check of a feed", "source", j.s.ID, "url", fetch.Redact(j.s.State.URL), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			runner(r).giveBack(ctx, []PutOff{{ID: j.s.ID, Claim: j.s.Claim, NextAt: r.now().Add(6 * time.Hour)}})
		}
		if r.scheduler.finish(j, r.now()) {
			pushReceiver(r).checkNow(ctx, j.s.ID, j.s.PushedVia)
		}
	}()
	cause := polling.Pushed
	if !j.pushed() {
		cause = polling.DueFor(j.s.State, r.now())
	}
	got := func() fetchResult { defer fetched(); return r.fetchNow(ctx, &j.s, cause) }() // after a panic, the slot is free too
	ending := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx) // the result is stored even if the program is stopping
	if got.res == nil && fetch.KindOf(got.err) == fetch.Ours && ending {
		runner(r).giveBack(ctx, []PutOff{{ID: j.s.ID, Claim: j.s.Claim, NextAt: r.now()}})
		return
	}
	r.saveWithRetry(ctx, j, got)
}

// saveWithRetry stores the result of a check. It retries while the database is unavailable and
// the claim is valid. After that, the feed is fetched again later.
func (r checker) saveWithRetry(ctx context.Context, j *job, got fetchResult) {
	for i := range saveTries {
		c, cancel := context.WithTimeout(ctx, r.options().Lease/4)
		_, err := r.saveCheck(c, j.s, got, j.s.PushedVia)
		cancel()
		switch {
		case err == nil:
			return
		case fault.CodeOf(err) == fault.Conflict:
			r.logger().Debug("another process checks the feed", "source", j.s.ID)
			return
		}
		if i == 0 || i == saveTries-1 {
			r.logger().Warn("cannot store the result of a check", "source", j.s.ID, "err", err)
		}
		if !r.open.Load() || r.now().Sub(got.at) > r.options().Lease/2 || !lease.Sleep(ctx, nil, time.Second<<i) {
			break
		}
	}
	// The feed must not be fetched again each minute because of a failure of this server.
	runner(r).giveBack(ctx, []PutOff{{ID: j.s.ID, Claim: j.s.Claim, NextAt: r.now().Add(unstoredRetry)}})
}

// saveNew stores the first response for a new, claimed source: its items, its state and the time
// of the next check. Errors: fault.Conflict: the claim was lost; and the errors of the store.
func (r checker) saveNew(ctx context.Context, s Source, got fetchResult) (Check, error) {
	r.Init()
	return r.saveCheck(ctx, s, got, "")
}

// saveCheck interprets a response and stores the whole result in one transaction.
//
// spec:cloudburst#river-one-transaction
func (r checker) saveCheck(ctx context.Context, s Source, got fetchResult, via string) (Check, error) {
	answer := got.toAnswer(&s)
	states, err := r.updatePushState(ctx, &s)
	if err != nil {
		r.logError(ctx, "cannot read the state of a feed's hubs", err)
	}
	if !s.PushedAt.IsZero() && got.cause != polling.Delivered {
		s.State.Push.Pending = true // the push stays pending until a check has read the feed
	}
	now, host := r.now(), polling.HostOf(s.State.URL)
	st, d := polling.Next(s.State, answer, now, polling.Options{Jitter: r.random(), Host: r.scheduler.hostState(host)})
	saved := Saved{Source: s, Now: now}
	if d.Wait != nil && d.Outcome == polling.Failed {
		h := r.scheduler.addWait(host, d.Wait, now)
		saved.Host = &h
	}
	next := &saved.Source
	next.State, next.URL, next.NextAt = st, st.URL, st.DueAt()
	next.PushedAt, next.PushedVia = time.Time{}, ""
	var m item.Merged
	if d.Outcome == polling.Changed && got.parse().feed != nil {
		if m, err = r.mergeInto(ctx, &saved, s, got.parse().feed, got.cause, now); err != nil {
			return Check{}, err
		}
		if got.cause != polling.Delivered {
			describe(next, got.parse().feed, got.res)
		}
	}
	if !sameEndpoints(s.PushEndpoints, next.PushEndpoints) {
		states = r.replanWithHubs(ctx, next, &d, states, now)
	}
	if saved.Check = report(&s, &got, answer, d, m); via != "" {
		saved.Check.Cause, saved.Check.Via = got.cause, via
	}
	ok, err := r.Store.SaveCheck(ctx, saved)
	if err != nil {
		return Check{}, err
	}
	if !ok {
		return Check{}, fault.New(fault.Conflict, "Another process is checking the feed.")
	}
	r.afterSave(ctx, &s, &saved, d, m, states)
	return saved.Check, nil
}

// replanWithHubs plans the next check again if a check found new hubs, because the plan depends
// on hubs. It returns the current states of the hubs.
func (r checker) replanWithHubs(ctx context.Context, next *Source, d *polling.Decision, states []PushState, now time.Time) []PushState {
	before := next.State.Push
	found, err := r.updatePushState(ctx, next)
	if err != nil {
		r.logError(ctx, "cannot read the state of a feed's hubs", err)
		return states
	}
	if next.State.Push != before {
		var again polling.Decision
		next.State, again = polling.Plan(next.State, now, polling.Options{Jitter: r.random(), Host: r.scheduler.hostState(polling.HostOf(next.State.URL))})
		d.At, d.Reason, d.Considered = again.At, again.Reason, again.Considered
		next.NextAt = next.State.DueAt()
	}
	return found
}

// mergeInto merges the items of a document with the stored items, and adds the changes to saved.
func (r checker) mergeInto(ctx context.Context, saved *Saved, s Source, f *feed.Feed, cause polling.Cause, now time.Time) (item.Merged, error) {
	in := item.Merge{
		Source: s.ID, Last: s.Last, Feed: f, Now: now, First: s.State.ReadAt.IsZero(), Partial: cause == polling.Delivered,
		Content: func(it *feed.Item) Content { return r.convert.Content(f, it) },
	}
	in.Read()
	if ids := in.Unsure(); len(ids) > 0 && s.Items+int64(len(s.Last)) > 0 {
		known, err := r.Store.KnownItems(ctx, s.ID, ids)
		if err != nil {
			return item.Merged{}, err
		}
		in.Known = known
	}
	m := in.Result()
	saved.Source.Last = m.Last
	saved.Put, saved.TextFromHTML, saved.Withdrawn = m.Put, true, m.Withdrawn
	seq := r.seqs(len(m.Put) + len(m.Withdrawn))
	for i := range m.Put {
		m.Put[i].Seq, m.Put[i].First = seq, seq
		seq++
	}
	for i := range m.Withdrawn {
		m.Withdrawn[i].Seq = seq
		seq++
	}
	return m, nil
}

// afterSave updates the counters, publishes the items and updates the hubs after a stored check.
func (r checker) afterSave(ctx context.Context, s *Source, saved *Saved, d polling.Decision, m item.Merged, states []PushState) {
	c := &r.counts
	c.checks.Add(1)
	switch {
	case d.Outcome == polling.Unchanged:
		c.unchanged.Add(1)
	case d.Outcome == polling.Failed || d.Outcome == polling.IsGone:
		c.failed.Add(1)
	case saved.Check.Cause == polling.Delivered:
		c.delivered.Add(1)
	}
	c.fresh.Add(int64(m.Fresh))
	c.edited.Add(int64(m.Edited))
	c.withdrawn.Add(int64(len(m.Withdrawn)))
	if m.Fresh > 0 && s.Items+int64(m.Fresh) > int64(r.options().Keep)+sweepFlood {
		lease.Wake(r.wakeups.sweep)
	}
	a := Arrival{SourceID: s.ID}
	for i := range m.Put {
		it := &m.Put[i]
		a.Items = append(a.Items, Arrived{ID: it.ID, Seq: it.Seq, New: i < m.Fresh})
	}
	for i := range m.Withdrawn {
		a.Items = append(a.Items, Arrived{ID: m.Withdrawn[i].ID, Seq: m.Withdrawn[i].Seq})
	}
	if !saved.Source.State.FollowUpAt.IsZero() {
		lease.Wake(r.wakeups.claim) // the follow-up check may be due before the claim loop wakes
	}
	r.publishItems(a)
	r.updateHubs(ctx, s, &saved.Source, d, states)
	if d.MovedTo != "" {
		r.logError(ctx, "cannot unfollow a feed that moved to another followed feed", unifier(r).unfollowMoved(ctx, &saved.Source))
	}
}

// report returns the Check that describes the result of a check to users.
func report(s *Source, got *fetchResult, a polling.Answer, d polling.Decision, m item.Merged) Check {
	c := Check{
		At: got.at, Took: got.took, Cause: a.Cause, URL: fetch.Redact(s.State.URL), Status: a.Status, Outcome: d.Outcome,
		Next: d.At, Why: d.Reason, New: m.Fresh, Edited: m.Edited, Withdrawn: len(m.Withdrawn),
		Sent: got.trace.Sent, Received: got.trace.Received, Hops: redacted(got.hops),
	}
	if d.Gone {
		c.Next = time.Time{}
	}
	if got.res != nil {
		c.Bytes = len(got.res.Body)
	}
	if c.Sent != "" {
		if c.Asked = AskedConditionally; got.asked.Full() {
			c.Asked, c.AskedWhy = AskedInFull, got.asked.Why
		}
	}
	c.Text = m.Outcome(&d, got.res != nil && got.res.NotModified)
	return c
}

func redacted(hops []polling.Hop) []polling.Hop {
	hops = slices.Clone(hops)
	for i := range hops {
		hops[i].From, hops[i].To = fetch.Redact(hops[i].From), fetch.Redact(hops[i].To)
	}
	return hops
}
