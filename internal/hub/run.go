package hub

import (
	"context"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub/histogram"
)

const drainWithin = 8 * time.Second

// Run works until ctx ends. Then it starts no new work, lets open work finish within 8 s, releases
// the remaining work to the store, and returns.
func (h *Hub) Run(ctx context.Context) error {
	h.Init()
	if err := h.Recover(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	h.logSystem(ctx, "Started.")
	var loops sync.WaitGroup
	loops.Go(func() { delivering{h}.shardLoop(ctx) })
	loops.Go(func() { delivering{h}.retryLoop(ctx) })
	loops.Go(func() { checker{h}.checkLoop(ctx) })
	loops.Go(func() { requesting{h}.intentLoop(ctx) })
	loops.Go(func() { sweeping{h}.sweepLoop(ctx) })
	loops.Go(func() { h.minuteLoop(ctx) })
	if h.rates != nil {
		loops.Go(func() { h.rates.Run(ctx) })
	}
	if h.Hint != nil {
		loops.Go(func() { h.tailLoop(ctx) })
	}
	settling := make(chan struct{})
	go func() { defer close(settling); delivering{h}.settleLoop(ctx) }()
	<-ctx.Done()
	h.stopRuns()
	loops.Wait()
	h.drain()
	<-settling
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	delivering{h}.settle(last) // outcomes of interrupted deliveries, and those that the last checkpoints queued
	h.cutMinute(last, h.now().Truncate(time.Minute).Add(time.Minute))
	h.logSystem(last, "Stopped.")
	return nil
}

// Recover makes the unfinished work of an earlier run of this program due. It must run before the
// first ping, so that it does not release claims of this run. Run calls it unless it was called
// before.
func (h *Hub) Recover(ctx context.Context) error {
	h.Init()
	h.mu.Lock()
	done := h.recovered
	h.mu.Unlock()
	if done {
		return nil
	}
	if err := h.Store.Recover(ctx, h.now()); err != nil {
		return err
	}
	h.mu.Lock()
	h.recovered = true
	h.mu.Unlock()
	return nil
}

// drain stops the dispatcher first, then cancels work that does not finish in time.
func (h *Hub) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.dispatch.stop(ctx)
	close(h.drained)
	h.stopWork()
	ended := make(chan struct{})
	go func() { defer close(ended); h.running.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Second):
	}
}

func (h *Hub) logSystem(ctx context.Context, text string) {
	if err := h.record(ctx, event.Event{Kind: event.KindSystem, OK: true, Text: text}); err != nil {
		h.Log.Warn("cannot write to the event log", "text", text, "err", err)
	}
}

// minuteLoop saves one row of history per minute.
func (h *Hub) minuteLoop(ctx context.Context) {
	for {
		now := h.now()
		next := now.Truncate(time.Minute).Add(time.Minute)
		if !h.pause(ctx, next.Sub(now)) {
			return
		}
		h.cutMinute(ctx, next)
		if next.Minute()%10 == 0 {
			sweeping{h}.trim(ctx)
		}
	}
}

func (h *Hub) cutMinute(ctx context.Context, at time.Time) {
	totals := h.stats.totals()
	h.mu.Lock()
	m := minus(totals, h.minute)
	h.minute = totals
	h.mu.Unlock()
	counts, n := h.stats.latency.Drain()
	m.P50, m.P99 = histogram.Quantile(counts, n, 0.50), histogram.Quantile(counts, n, 0.99)
	m.Queue = h.stats.queue.Swap(0)
	m.At, m.Node = at.Truncate(time.Minute).Add(-time.Minute), h.Bus.Node()
	if m == (Minute{At: m.At, Node: m.Node}) {
		return // nothing happened; charts draw missing minutes as zero
	}
	if err := h.Store.SaveMinute(ctx, m); err != nil {
		h.Log.Warn("cannot store the figures of a minute", "err", err)
	}
}

// Live returns the current state of the hub.
func (h *Hub) Live() Live {
	h.Init()
	l := Live{Node: h.Bus.Node(), Started: h.begun, Checks: int(h.liveChecks.Load()), Totals: h.stats.totals()}
	l.Queue, l.InFlight = h.dispatch.load()
	l.Origins, l.Slow, l.Open = h.dispatch.countOrigins()
	l.Writes = l.Totals.Writes
	return l
}

// Counts returns row counts. It reuses a result for twenty times the duration of the count, so that
// requests for pages cannot keep a large store busy.
func (h *Hub) Counts(ctx context.Context) (Counts, error) {
	h.Init()
	now := h.now()
	h.mu.Lock()
	c, fresh := h.counts, now.Before(h.recount)
	h.mu.Unlock()
	if fresh {
		return c, nil
	}
	c, err := h.Store.Counts(ctx, now)
	if err == nil {
		c.Requests, err = h.Store.Intents(ctx)
	}
	if err == nil {
		done := h.now()
		h.mu.Lock()
		h.counts, h.recount = c, done.Add(20*done.Sub(now))
		h.mu.Unlock()
	}
	return c, err
}

const (
	pollEvery     = time.Second // maximum delay after a lost hint, if nodes share the store
	pollIdleEvery = time.Minute // maximum time between polls, if no other node writes to the store
	minPoll       = 20 * time.Millisecond
)

// pollDelay returns the time until the next poll of the store without a wake-up. If other nodes
// write to the store it is often; otherwise it ends when the next row is due.
func (h delivering) pollDelay(ctx context.Context, often time.Duration) time.Duration {
	if h.Hint != nil {
		return often
	}
	next, err := h.Store.NextDue(ctx)
	if err != nil {
		return often
	}
	if next.IsZero() {
		return pollIdleEvery
	}
	return min(max(next.Sub(h.now()), minPoll), pollIdleEvery)
}

// nextDue returns when the next row is due. If other nodes write rows too, it returns the zero
// time, and the loops poll at intervals of [delivering.maxPollDelay].
func (h delivering) nextDue(ctx context.Context) (time.Time, error) {
	if h.Hint != nil {
		return time.Time{}, nil
	}
	return h.Store.NextDue(ctx)
}

// maxPollDelay returns the maximum time between two polls of the store.
func (h delivering) maxPollDelay() time.Duration {
	if h.Hint != nil {
		return pollEvery
	}
	return pollIdleEvery
}
