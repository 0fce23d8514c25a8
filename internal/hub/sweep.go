package hub

import (
	"context"
	"fmt"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/text"
)

const (
	sweepTask  = "sweep"
	sweepChunk = 500
	maxSweep   = 1000               // maximum number of chunks
	topicIdle  = 7 * 24 * time.Hour // a topic without subscribers is removed after this time
	trimChunk  = 5_000
)

// topOfHour returns the next full hour.
func topOfHour(now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }

// sweeping contains the methods that remove expired rows.
type sweeping struct{ *Hub }

// sweepLoop sweeps at the top of each hour, on one node of the cluster.
//
// spec:rsscloud-2009#drop-at-top-of-hour
func (h sweeping) sweepLoop(ctx context.Context) {
	first := topOfHour(h.begun)
	for {
		now := h.now()
		next := topOfHour(now)
		won, err := h.Store.ClaimTask(ctx, sweepTask, now, first, next)
		if err != nil {
			h.complain(ctx, "claim the sweep", err)
		}
		if won {
			if _, _, err := h.sweep(ctx); err != nil {
				h.complain(ctx, "sweep", err)
			}
		}
		if !h.pause(ctx, min(next.Sub(h.now()), time.Minute)) {
			return
		}
	}
}

// SweepNow runs the hourly sweep immediately. It removes expired subscriptions and those with too
// many consecutive failures, and returns the numbers of both.
func (h *Hub) SweepNow(ctx context.Context) (dropped, expired int, err error) {
	h.Init()
	return sweeping{h}.sweep(ctx)
}

func (h sweeping) sweep(ctx context.Context) (dropped, expired int, err error) {
	for range maxSweep {
		now := h.now()
		var events []event.Event
		gone, more, err := h.Store.Sweep(ctx, now, h.Options.MaxErrors, sweepChunk, now.Add(-topicIdle), func(list []SubscriptionInfo) []event.Event {
			events = make([]event.Event, 0, len(list))
			for _, s := range list {
				events = append(events, endEvent(s, now))
			}
			h.stamp(events)
			return events
		})
		if err != nil {
			return dropped, expired, err
		}
		h.publish(events...)
		for _, s := range gone {
			if s.ExpiresAt.After(now) {
				dropped++
			} else {
				expired++
			}
		}
		if !more {
			break
		}
	}
	h.forgetCounts()
	return dropped, expired, nil
}

// endEvent returns the log event of a subscription that the sweep removed.
//
// spec:rsscloud-2009#drop-after-three-errors
// spec:rsscloud-2009#expiry-25h
// spec:rsscloud-2003#expiry-25h
func endEvent(s SubscriptionInfo, now time.Time) event.Event {
	e := event.Event{Kind: event.KindExpire, TopicID: s.TopicID, Topic: s.Topic, OK: true, Via: s.Protocol, Peer: text.Host(s.Callback),
		Text:   fmt.Sprintf("The subscription was not renewed since %s and has expired.", s.RenewedAt.Format("15:04 on 2 January")),
		Detail: detail(event.Exchange{Callback: s.Callback})}
	if s.Protocol == WebSub {
		e.Text = fmt.Sprintf("The lease was not renewed since %s and has ended.", s.RenewedAt.Format("15:04 on 2 January"))
	}
	if s.ExpiresAt.After(now) {
		e.Kind, e.OK = event.KindDrop, false
		e.Text = fmt.Sprintf("Dropped after %d changes in a row that could not be delivered; the last time: %s", s.Failures, s.LastError)
	}
	return e
}

func (h sweeping) forgetCounts() {
	h.mu.Lock()
	h.recount = time.Time{}
	h.mu.Unlock()
}

// trim removes old log rows and old recent changes in chunks.
func (h sweeping) trim(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := h.Store.TrimEvents(ctx, h.now().Add(-h.Options.KeepEvents), trimChunk)
		if err != nil {
			h.complain(ctx, "trim the log", err)
			return
		}
		if n < trimChunk {
			break
		}
	}
	h.trimCrowded(ctx)
	for ctx.Err() == nil {
		n, err := h.Store.TrimChanges(ctx, h.now().Add(-h.Options.KeepChanges), trimChunk)
		if err != nil {
			h.complain(ctx, "trim the list of changes", err)
			return
		}
		if n < trimChunk {
			return
		}
	}
}

// trimCrowded removes the oldest log rows above the maximum number, regardless of their age,
// because unknown clients can cause log rows.
//
// spec:cloudburst#log-rows
func (h sweeping) trimCrowded(ctx context.Context) {
	c, err := h.Counts(ctx)
	for over := c.Events - h.Options.MaxEvents; err == nil && over > 0 && ctx.Err() == nil; {
		var n int
		n, err = h.Store.TrimEvents(ctx, h.now(), int(min(over, trimChunk)))
		if n == 0 {
			break
		}
		over -= int64(n)
	}
	if err != nil {
		h.complain(ctx, "trim the log", err)
	}
}
