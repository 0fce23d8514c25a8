package hub

import (
	"context"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/lease"
)

const (
	retryBatch       = 200
	settleEvery      = 100 * time.Millisecond
	maxSettle        = 500
	settleSoon       = 100 // number of outcomes that are written at once, if another node could repeat the deliveries
	pollRetriesEvery = 250 * time.Millisecond
)

// settled is the outcome of one delivery outside a batch.
type settled struct {
	result Result
	event  *event.Event
}

// retryLoop claims due retries while there is capacity in memory.
func (h delivering) retryLoop(ctx context.Context) {
	for h.sleep(ctx, h.wakeRetry, h.pollDelay(ctx, pollRetriesEvery)) {
		for ctx.Err() == nil && h.retrying.Load() < int64(max(h.Options.MaxInFlight, 2*retryBatch)) {
			now := h.now()
			until := now.Add(2*h.Options.CallbackTimeout + leaseMargin)
			claim := lease.NewClaim()
			batch, err := h.Store.ClaimRetries(ctx, now, until, retryBatch, claim)
			if err != nil {
				h.complain(ctx, "claim retries", err)
				break
			}
			if len(batch) == 0 {
				break
			}
			h.stats.writes.Add(1)
			h.retrying.Add(int64(len(batch)))
			h.dispatch.submit(h.retries(batch, claim, until))
			if len(batch) < retryBatch {
				break
			}
		}
	}
}

func (h delivering) retries(batch []Retry, claim int64, until time.Time) []*delivery {
	list := make([]*delivery, 0, len(batch))
	for i := range batch {
		r := &batch[i]
		list = append(list, &delivery{
			sub: r.Subscription, topic: &r.Topic, hops: h.hopsOf(r.TopicID),
			claim: claim, until: until, finish: h.finishClaimed,
		})
	}
	return list
}

// finishClaimed ends a delivery that the retry loop started.
func (h delivering) finishClaimed(d *delivery, r Reply) {
	h.retrying.Add(-1)
	h.finishRetry(d, r)
}

// finishRetry queues an outcome for settleLoop.
func (h delivering) finishRetry(d *delivery, r Reply) {
	h.applyAgeing(d, &r)
	h.countReply(d, r)
	if h.Trace != nil {
		h.traceTry(d, &r)
	}
	res, _ := h.resultOf(d, r)
	s := settled{result: res}
	if !r.NotTried && !r.Skipped {
		var e event.Event
		if r.OK {
			e = h.arrivedEvent(d, r)
		} else {
			e = h.failureEvent(d, r)
		}
		s.event = &e
	}
	h.settleMu.Lock()
	h.settling = append(h.settling, s)
	full := len(h.settling) >= maxSettle || h.windows.max > 0 && len(h.settling) >= settleSoon
	h.settleMu.Unlock()
	h.windows.adjustUnchecked(d.topic.ID, 1)
	h.wake(h.wakeSettle)
	if full {
		h.wake(h.wakeFull)
	}
}

// settleLoop writes outcomes in batches. It ends after the last delivery.
func (h delivering) settleLoop(ctx context.Context) {
	for h.sleep(ctx, h.wakeSettle, pollIdleEvery) {
		h.sleep(ctx, h.wakeFull, settleEvery) // wait, so that more outcomes join the transaction
		h.settle(ctx)
		h.settleMu.Lock()
		left := len(h.settling) > 0
		h.settleMu.Unlock()
		if left {
			h.wake(h.wakeSettle)
		}
	}
	<-h.drained
	last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	h.settle(last)
}

func (h delivering) settle(ctx context.Context) {
	h.settleMu.Lock()
	batch := h.settling
	h.settling = nil
	h.settleMu.Unlock()
	for len(batch) > 0 {
		n := min(len(batch), maxSettle)
		results := make([]Result, 0, n)
		var events []event.Event
		for _, s := range batch[:n] {
			results = append(results, s.result)
			if s.event != nil {
				events = append(events, *s.event)
			}
		}
		h.stamp(events)
		if err := h.Store.Settle(context.WithoutCancel(ctx), h.now(), results, events); err != nil {
			h.complain(ctx, "store the results of deliveries", err)
			h.settleMu.Lock() // queue the results again; the rows stay claimed in the store until the results are written
			h.settling = append(batch, h.settling...)
			h.settleMu.Unlock()
			return
		}
		h.stats.writes.Add(1)
		for _, r := range results {
			h.windows.adjustUnchecked(r.Key.TopicID, -1)
		}
		h.publish(events...)
		if needsRetry(results) {
			h.wake(h.wakeRetry)
		}
		batch = batch[n:]
	}
}

// backoff returns the delay after the n-th failed attempt, varied by up to a fifth. A Retry-After
// of the subscriber replaces it: at least the first delay of the table, at most the last one or an
// hour, whichever is longer. After the end of the table, Retry-After is ignored: otherwise a
// subscriber could request a retry every five seconds forever.
//
// spec:cloudburst#retry
func (h delivering) backoff(n int, requested time.Duration) time.Duration {
	table := h.Options.Retry
	wait := table[min(max(n, 1), len(table))-1]
	if requested > 0 && n <= len(table) {
		return min(max(requested, table[0]), max(table[len(table)-1], time.Hour))
	}
	return h.spread(wait)
}

// spread returns d, varied at random by up to a fifth.
func (h *Hub) spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*h.Random()))
}
