package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/hub/content"
)

// The protocol decides how failures count. rssCloud drops a subscription after three consecutive
// failures (see [Hub.SweepNow]), WebSub retries until the lease ends, and CNWS removes a subscriber
// that was unreachable for a day.
//
// spec:websub-2018#delivery-failure-keeps-subscription

const (
	websubRetryEvery = 6 * time.Hour // interval of retries after the delays of Options.Retry
	memoryRetryAfter = time.Second   // delay before a retry if the memory for contents was full
	contentTries     = 8
)

// send sends one delivery.
func (h delivering) send(d *delivery) Reply {
	if d.sub.Protocol != WebSub {
		return h.Notify.Notify(h.work, &d.sub, d.topic, nil, d.hops)
	}
	// spec:websub-2018#delivery-full-content
	held := d.held
	if !held.Share() {
		var err error
		held, err = h.contents.Acquire(h.work, d.topic.ID, d.topic.Version, h.contentSize(d.topic), false)
		if errors.Is(err, content.ErrFull) {
			return Reply{NotTried: true, RetryAfter: h.spread(memoryRetryAfter), Text: "There is no room in memory for the content now."}
		}
		if err != nil {
			return Reply{NotTried: true, RetryAfter: time.Second, Text: "The content could not be read from the store."}
		}
	}
	defer h.contents.Release(held)
	if held.Content == nil {
		return Reply{Skipped: true}
	}
	if held.Content.Version > d.topic.Version && !d.upgrade(held.Content) {
		return Reply{NotTried: true, Text: "It has changed again."}
	}
	return h.Notify.Notify(h.work, &d.sub, d.topic, held.Content, d.hops)
}

// upgrade turns d into a delivery of the newer content c, so that d's own version is not sent as
// well. A delivery of a batch must send the version of its batch: then upgrade returns false, and d
// is retried.
func (d *delivery) upgrade(c *Content) bool {
	if d.batch != nil {
		return false
	}
	t := *d.topic
	t.Version, t.ContentType, t.Size = c.Version, c.Type, int64(len(c.Body))
	d.topic = &t
	return true
}

// contentSize returns the expected size of the stored content of t.
func (h delivering) contentSize(t *Topic) int64 {
	if t.Size > h.Options.MaxContent {
		return 0 // the content is not stored
	}
	return t.Size
}

// pin holds the topic's content in memory during a run, so that all subscribers get the same bytes
// and the store is read once. It waits for memory and renews the lease meanwhile. It returns false
// if the store already has a newer version, the claim is lost, or the program is stopping.
func (run *shardRun) pin(ctx context.Context) bool {
	topic := run.shard.Topic
	if !topic.KeepContent {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pinned := make(chan *content.Held, 1)
	go func() { pinned <- run.hub.holdContent(ctx, topic) }()
	for {
		select {
		case run.held = <-pinned:
			if run.held == nil || run.held.Content == nil {
				return ctx.Err() == nil
			}
			return run.held.Content.Version == topic.Version
		case <-time.After(renewEvery):
			if run.renew(); run.over {
				cancel()
			}
		}
	}
}

// holdContent acquires a content. It returns nil if ctx ended or the store returned errors. Then
// each WebSub delivery acquires the content separately, and deliveries of other protocols proceed.
func (h delivering) holdContent(ctx context.Context, t Topic) *content.Held {
	for range contentTries {
		held, err := h.contents.Acquire(ctx, t.ID, t.Version, h.contentSize(&t), true)
		if err == nil {
			return held
		}
		if ctx.Err() == nil {
			h.logOf(&t).Warn("read a content", "err", err)
		}
		if !h.pause(ctx, storeRetry) {
			return nil
		}
	}
	return nil
}

// applyAgeing turns a failure into the end of a CNWS subscription that was unreachable for too
// long.
//
// spec:cnws-2003#retry-24h
func (h delivering) applyAgeing(d *delivery, r *Reply) {
	if d.sub.Protocol != CNWS || r.OK || r.Gone || r.NotTried || r.Skipped || d.sub.FailingSince.IsZero() {
		return
	}
	if since := h.now().Sub(d.sub.FailingSince); since >= h.Options.Ageing {
		r.Gone = true
		r.Text = fmt.Sprintf("Removed: it could not be reached for %s. The last time: %s", span(since.Round(time.Minute)), r.Text)
	}
}

// nextTry returns the time of the next attempt after the tries-th failure.
//
// spec:cloudburst#websub-retry
// spec:websub-2018#delivery-retried
func (h delivering) nextTry(s Subscription, now time.Time, tries int, requested time.Duration) time.Time {
	switch s.Protocol {
	case WebSub:
		if tries > len(h.Options.Retry) {
			return now.Add(h.spread(websubRetryEvery))
		}
	case CNWS:
		since := s.FailingSince
		if since.IsZero() {
			since = now
		}
		// The last attempt is made when Options.Ageing has passed. Its result decides whether the
		// subscription ends.
		return date.Earlier(now.Add(h.backoff(tries, requested)), since.Add(h.Options.Ageing))
	}
	return now.Add(h.backoff(tries, requested))
}

// resultOf converts a reply into the result to store. It returns false if there is nothing to
// store.
func (h delivering) resultOf(d *delivery, r Reply) (Result, bool) {
	res := Result{Key: d.sub.Key(), Version: d.topic.Version, Claim: d.claim}
	if r.OK {
		res.Outcome = Delivered
		return res, d.claim != 0 || d.sub.Failures > 0
	}
	if r.Skipped {
		res.Outcome = Delivered // nothing was sent because the content is too large, and a retry could not send it either
		return res, d.claim != 0
	}
	now := h.now()
	switch {
	case r.Gone:
		res.Outcome = Gone
	case r.NotTried:
		res.Outcome, res.NextAt = Postponed, now.Add(r.RetryAfter)
	default:
		res.Outcome, res.Error = Failed, r.Text
		res.Tries = d.sub.Tries + 1
		if d.topic.Version > d.sub.Counted {
			res.Tries = 1
		}
		res.NextAt = h.nextTry(d.sub, now, res.Tries, r.RetryAfter)
	}
	return res, true
}
