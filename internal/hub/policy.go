package hub

import (
	"context"
	"fmt"
	"time"
)

// What a failure means is the protocol's business. rssCloud counts three in a row
// (see the sweep). WebSub keeps the subscription to the end of its lease. CNWS
// gives up whoever could not be reached for a day.
//
// spec:websub-2018#delivery-failed-kept

// websubLater is the wait of WebSub after those of Options.Retry.
const websubLater = 6 * time.Hour

// send makes one delivery.
func (h *Hub) send(d *delivery) Reply {
	if d.sub.Protocol != WebSub {
		return h.Notify.Notify(h.work, d.sub, *d.topic, nil, d.hops)
	}
	// spec:websub-2018#delivery-full-content
	held := d.held
	if !held.share() {
		var err error
		if held, err = h.contents.acquire(h.work, d.topic.ID, d.topic.Version, d.topic.Size); err != nil {
			return Reply{NotTried: true, RetryAfter: time.Second, Text: "The content could not be read from the store."}
		}
	}
	defer h.contents.release(held)
	if held.content == nil {
		return Reply{Skipped: true}
	}
	return h.Notify.Notify(h.work, d.sub, *d.topic, held.content, d.hops)
}

// pin keeps a topic's content at hand while a part of it is told, so that all who
// are told in one pass get the same bytes, and the store is read once. held is nil where
// there is none, or none now: then each delivery asks.
func (h *Hub) pin(ctx context.Context, t Topic) (held *heldContent, release func()) {
	if t.Full {
		if held, err := h.contents.acquire(ctx, t.ID, t.Version, t.Size); err == nil {
			return held, func() { h.contents.release(held) }
		}
	}
	return nil, func() {}
}

// judge turns a failure into an end where the subscription's protocol says so.
//
// spec:cnws-2003#retry-24h
func (h *Hub) judge(d *delivery, r *Reply) {
	if d.sub.Protocol != CNWS || r.OK || r.Gone || r.NotTried || r.Skipped || d.sub.FailingSince.IsZero() {
		return
	}
	if since := h.now().Sub(d.sub.FailingSince); since >= h.Options.Ageing {
		r.Gone = true
		r.Text = fmt.Sprintf("Removed: it could not be reached for %s. The last time: %s", span(since.Round(time.Minute)), r.Text)
	}
}

// nextTry is when to try again after the tries-th failure.
//
// spec:cloudburst#websub-retry
// spec:websub-2018#delivery-retried
func (h *Hub) nextTry(s Subscription, now time.Time, tries int, asked time.Duration) time.Time {
	switch s.Protocol {
	case WebSub:
		if tries > len(h.Options.Retry) && asked == 0 {
			return now.Add(spread(websubLater))
		}
	case CNWS:
		since := s.FailingSince
		if since.IsZero() {
			since = now
		}
		// The last try comes when the time is over, and decides.
		return earlier(now.Add(h.backoff(tries, asked)), since.Add(h.Options.Ageing))
	}
	return now.Add(h.backoff(tries, asked))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
