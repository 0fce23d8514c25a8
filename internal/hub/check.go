package hub

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
)

const (
	checkLease    = 30 * time.Second
	checkTimeout  = 60 * time.Second // limit for a whole check, including the store
	maxCheckRaces = 4
	maxCheckTries = 12 // number of consecutive failed checks after which a pending ping is dropped
	checkBatch    = 50
)

// checker contains the methods that check whether topics have changed.
type checker struct{ *Hub }

// check runs the rounds of one topic until none is left. In this process, a topic has at most one
// check at a time.
//
// spec:cloudburst#check-minimum-interval
func (h checker) check(id int64, url string) {
	for {
		h.mu.Lock()
		c := h.checks[id]
		r, related := c.current, c.current.related != nil
		wait := c.last.Add(h.Options.PingInterval).Sub(h.now())
		h.mu.Unlock()
		if wait > 0 {
			h.pause(h.work, wait)
		}
		ctx, cancel := context.WithTimeout(h.work, checkTimeout)
		if related {
			r.err = h.pingRelated(ctx, url, c, r)
		} else {
			r.result, r.err = h.checkOnce(ctx, id, url, c, r)
		}
		cancel()
		close(r.done)

		h.mu.Lock()
		c.current, c.next, c.sent = c.next, nil, false
		if c.current == nil {
			h.forgetCheck(id, c)
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
	}
}

// pingRelated stores pings of the topics on the host of a URL that declare this URL. checkLoop then
// checks them, as fast as their host permits. Pings that arrive meanwhile share the next round.
func (h checker) pingRelated(ctx context.Context, url string, c *checking, r *round) error {
	now := h.now()
	h.mu.Lock()
	c.last, c.sent = now, true
	h.mu.Unlock()
	for after := int64(-1); ; {
		topics, err := h.Store.Following(ctx, []string{url}, after, now, relatedBatch)
		if err != nil || len(topics) == 0 {
			return err
		}
		further := slices.DeleteFunc(topicURLs(topics), func(u string) bool { return slices.Contains(r.related, u) })
		if err := h.Store.Announce(ctx, nil, further, now, now, nil); err != nil {
			return err
		}
		h.wake(h.wakeChecks)
		after = topics[len(topics)-1].ID
	}
}

// forgetCheck removes the state of a topic's checks after the ping interval.
func (h checker) forgetCheck(id int64, c *checking) {
	time.AfterFunc(h.Options.PingInterval, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.checks[id] == c && c.current == nil && !h.now().Before(c.last.Add(h.Options.PingInterval)) {
			delete(h.checks, id)
		}
	})
}

// checkOnce reads the topic and commits the result. If another node committed a check of the topic
// meanwhile, checkOnce repeats the check.
//
// spec:cloudburst#answer-after-commit
func (h checker) checkOnce(ctx context.Context, id int64, url string, c *checking, r *round) (PingResult, error) {
	h.liveChecks.Add(1)
	defer h.liveChecks.Add(-1)
	for range maxCheckRaces {
		topic, err := h.topicFor(ctx, id, r)
		if err != nil {
			return PingResult{}, err
		}
		topic.ID, topic.URL = id, url
		if err := h.fetchSlot(ctx); err != nil {
			return PingResult{}, err
		}
		begun := h.now()
		h.mu.Lock()
		c.last, c.sent = begun, true
		h.mu.Unlock()
		got, failed := h.read(h.traceReading(ctx, topic, r), topic, r)
		<-h.fetching
		read := h.now()
		h.stats.checks.Add(1)
		out := h.outcome(topic, got, failed, r, begun)
		done, err := h.Store.CommitCheck(ctx, out)
		if err != nil {
			return PingResult{}, err
		}
		if done.Raced {
			continue
		}
		h.publish(out.Events...)
		if failed != nil {
			h.wake(h.wakeChecks)
			return PingResult{Known: true}, failed
		}
		if !out.Again.IsZero() && out.Again.Sub(read) < pollIdleEvery {
			h.wake(h.wakeChecks) // the next poll of the loop may be too late
		}
		if out.Changed {
			if done.Topic.KeepContent && out.Body != nil {
				h.contents.Put(id, Content{Version: done.Topic.Version, Type: done.Topic.ContentType, Body: out.Body})
			}
			h.traceChange(&out, &done, r, read, got)
			h.startRuns(id, r.hops, done)
		}
		return PingResult{Known: true, Checked: true, Changed: out.Changed, Version: done.Topic.Version}, nil
	}
	return PingResult{}, fault.New(fault.Unavailable, "Another process is checking the feed; please ping again.")
}

// topicFor returns the topic of a round: the topic that its first ping read, or else the stored
// one. If the former is out of date, its version differs and the commit fails; other differences do
// not matter.
func (h checker) topicFor(ctx context.Context, id int64, r *round) (Topic, error) {
	if t := r.topic; t != nil {
		r.topic = nil
		return *t, nil
	}
	t, err := h.Store.Topic(ctx, id)
	if fault.CodeOf(err) == fault.NotFound {
		err = nil
	}
	return t, err
}

// fetchSlot waits until this process may read another feed. Free the slot with <-h.fetching. The
// wait does not count as the feed's response time.
func (h checker) fetchSlot(ctx context.Context) error {
	select {
	case h.fetching <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Unavailable, ctx.Err(), "This server is reading as many feeds as it can; please try again in a moment.")
	}
}

// outcome decides what a fetch means: unreadable, unchanged or changed.
//
// spec:rsscloud-2009#hash-comparison
func (h checker) outcome(t Topic, got answer, failed error, r *round, begun time.Time) Check {
	now := h.now()
	c := Check{
		TopicID: t.ID, URL: t.URL, Base: t.Version, StartedAt: begun, Now: now, ChangedAt: r.receivedAt,
		Hash: t.Hash, ETag: t.ETag, LastModified: t.LastModified, ContentType: t.ContentType, Size: t.Size, Evidence: t.Evidence,
		Node: h.Bus.Node(), ClaimShards: delivering(h).claimOnCommit(), ClaimUntil: now.Add(shardLease),
	}
	e := event.Event{Kind: event.KindCheck, TopicID: t.ID, Topic: t.URL, OK: failed == nil, Took: now.Sub(begun), Version: t.Version}
	switch {
	case failed != nil:
		c.Err = fault.Message(failed)
		if t.Failures < maxCheckTries {
			c.Retry = now.Add(delivering(h).backoff(t.Failures+1, fault.RetryAfter(failed)))
		}
		e.Text = c.Err
	case got.NotModified || t.Hash != nil && bytes.Equal(got.Hash, t.Hash):
		applyAnswer(&c, t, got, r)
		e.Text = fmt.Sprintf("Not changed since %s (version %d).", t.ChangedAt.Format("15:04:05 on 2 January"), t.Version)
		if got.NotModified {
			e.Text = fmt.Sprintf("Not modified, says its server. %s", e.Text)
		}
	default:
		c.Changed = true
		c.Hash, c.Size, c.ContentType = got.Hash, int64(len(got.Body)), ""
		applyAnswer(&c, t, got, r)
		e.Version = t.Version + 1
		e.Text = fmt.Sprintf("Changed: version %d, %s.", e.Version, bytesOf(c.Size))
		if t.Hash == nil {
			e.Text = fmt.Sprintf("Read for the first time, which counts as a change: version %d, %s.", e.Version, bytesOf(c.Size))
		}
		h.stats.changes.Add(1)
	}
	h.mu.Lock()
	pings, listed := r.pings, r.listed
	h.mu.Unlock()
	if c.Changed {
		h.describe(&c, t, got.Fetched, pings, listed)
		if t.KeepContent && c.Body == nil {
			e.Text = fmt.Sprintf("%s WebSub subscribers are not notified: at most %s are delivered to them.", e.Text, bytesOf(h.Options.MaxContent))
		}
	}
	for _, p := range pings {
		p.Text, p.OK, p.Version = e.Text, e.OK, e.Version
		if c.Changed {
			p.Text = "It had changed; its subscribers are being notified."
		}
		p.Took = now.Sub(p.At)
		c.Events = append(c.Events, p)
	}
	if failed != nil || c.Changed || len(pings) == 0 && r.pinged {
		c.Events = append(c.Events, e) // in all other cases, the events of the pings contain the outcome
	}
	h.stamp(c.Events)
	return c
}

// describe adds the content (unless it is too large), the description and the recent change to a
// check.
//
// spec:cloudburst#websub-content-limit
func (h checker) describe(c *Check, t Topic, got Fetched, pings []event.Event, listed bool) {
	switch {
	case c.Size <= h.Options.MaxContent:
		c.Body = got.Body
		if c.Body == nil {
			c.Body = []byte{}
		}
	case h.Options.NotifyWithoutContent:
		c.Body = []byte{}
	}
	about := got.about()
	c.About = &about
	if listed {
		return
	}
	via := ""
	if len(pings) > 0 {
		via = pings[0].Via
	}
	c.Listed = []Change{{Name: about.Title, URL: cmp.Or(about.Home, t.URL), Feed: t.URL, Via: via}}
	h.numberChanges(c.Listed, c.Now)
}

// startRuns starts runs over the shards that the commit claimed, and wakes shardLoop for the other
// shards.
func (h checker) startRuns(id int64, hops int, done Checked) {
	h.setHops(id, hops)
	for _, shard := range done.Claimed {
		delivering(h).startRun(shard)
	}
	if done.Waiting > 0 {
		h.wake(h.wakeShards)
	}
}

// checkLoop checks topics with stored pings or due follow-ups.
func (h checker) checkLoop(ctx context.Context) {
	loop := lease.Loop[Topic]{
		Claim: func(ctx context.Context, now, until time.Time, limit int, _ int64) ([]Topic, error) {
			return h.Store.ClaimChecks(ctx, now, until, limit)
		},
		Next: delivering(h).nextDue, Do: h.checkAgain,
		AtOnce: checkBatch, For: checkTimeout + leaseMargin, Idle: delivering(h).maxPollDelay(),
		Wake: h.wakeChecks, Now: h.now, Name: "pending pings", Failed: h.report,
		Caught: func(t Topic, panicked any, stack []byte) { h.caught("begin a check", t.URL, panicked, stack) },
	}
	loop.Run(ctx)
}

// checkAgain starts the check of a topic with a stored ping or a due follow-up, or gives the topic the
// next turn of its host.
func (h checker) checkAgain(ctx context.Context, t Topic) {
	receivedAt := t.PingedAt
	if receivedAt.IsZero() {
		receivedAt = h.now()
	}
	if _, err := pinging(h).join(Ping{URL: t.URL, Via: "again", followUp: t.PingedAt.IsZero()}, receivedAt, &t, nil); err != nil {
		if err := h.Store.RecordPing(ctx, t.URL, t.PingedAt, h.turn(h.hostLimit, href.Host(t.URL)), nil); err != nil {
			h.complain(ctx, "postpone a check", err)
		}
		h.wake(h.wakeChecks) // the turn may come before the next poll of the loop
	}
}
