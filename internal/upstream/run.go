package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
	"cloudburst/internal/text"
)

const (
	beatsPerAway    = 5       // number of heartbeats in Options.Away
	logVia          = "relay" // Via of the engine's events in the log
	maxQueuedChecks = 1000

	askedRecently = time.Minute // after a start, hubs that were asked within this time are not asked again
	renewWithin   = time.Hour   // after a start, all follows become due within this time
	farAhead      = 1000 * 24 * time.Hour
)

// Init prepares the engine. Every method calls Init first.
func (e *Engine) Init() {
	e.init.Do(func() {
		if e.Log == nil {
			e.Log = slog.New(slog.DiscardHandler)
		}
		if e.Now == nil {
			e.Now = time.Now
		}
		if e.PublicURL == nil {
			e.PublicURL = func() string { return "" }
		}
		e.Options.defaults()
		e.work, e.checks, e.formers = make(chan struct{}, 1), make(chan Follow, maxQueuedChecks), make(chan Follow, maxQueuedChecks)
		e.tallies = map[int64]*tally{}
		e.hosts = hosts{
			maxPerHost: e.Options.PerHub, retry: e.Options.Retry, longest: e.Options.Retry[len(e.Options.Retry)-1], states: map[string]*hostState{},
		}
	})
}

func (o *Options) defaults() {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&o.AskTimeout, 30*time.Second)
	def(&o.Expiry, 25*time.Hour)
	def(&o.Renew, 24*time.Hour)
	def(&o.Silence, 30*24*time.Hour)
	def(&o.Lease, 240*time.Hour)
	def(&o.ConfirmWithin, 10*time.Minute)
	def(&o.Again, 24*time.Hour)
	def(&o.Away, 5*time.Minute)
	if o.Rate <= 0 {
		o.Rate = 5
	}
	if o.Max <= 0 {
		o.Max = 100
	}
	if o.AtOnce <= 0 {
		o.AtOnce = 16
	}
	if o.PerHub <= 0 {
		o.PerHub = 2
	}
	if len(o.Retry) == 0 {
		o.Retry = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}
	}
}

// now returns the time with the precision of the store.
func (e *Engine) now() time.Time { return e.Now().UTC().Truncate(time.Millisecond) }

// Run works until ctx ends. It returns when the requests in progress are finished or released.
func (e *Engine) Run(ctx context.Context) error {
	e.Init()
	var group sync.WaitGroup
	group.Go(func() { e.heartbeatLoop(ctx) })
	for range e.Options.AtOnce {
		group.Go(func() { e.checkLoop(ctx) })
	}
	e.workLoop(ctx)
	group.Wait()
	return nil
}

// Wake notifies the engine that rows may be due.
func (e *Engine) Wake() {
	e.Init()
	lease.Wake(e.work)
}

// workLoop sends the due requests to hubs at a steady pace, even if an outage made all follows due
// at once.
func (e *Engine) workLoop(ctx context.Context) {
	loop := lease.Loop[Follow]{
		Claim: e.Store.ClaimFollows, Next: e.Store.NextFollow, GiveBack: e.giveBack, Between: e.pace,
		Admit:  func(f Follow, now time.Time) (time.Time, bool) { return e.hosts.begin(href.HostPort(f.Hub), now) },
		Do:     e.handleClaimed,
		AtOnce: e.Options.AtOnce, For: 2*e.Options.AskTimeout + time.Minute, Wake: e.work, Now: e.now, Name: "follows",
		Failed: e.logError,
		Caught: func(f Follow, panicked any, stack []byte) {
			e.Log.Error("following a feed panicked", "feed", f.Feed, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
}

// handleClaimed processes a claimed follow. The limit of its host has admitted the request.
func (e *Engine) handleClaimed(ctx context.Context, f Follow) {
	took, asked, err := time.Duration(0), false, error(nil)
	defer func() { e.hosts.end(href.HostPort(f.Hub), e.now(), took, asked && ctx.Err() == nil, err) }()
	took, asked, err = e.handle(ctx, f)
}

// giveBack releases claimed follows that were not processed.
func (e *Engine) giveBack(ctx context.Context, list []lease.Back[Follow]) error {
	back := make([]PutOff, len(list))
	for i, b := range list {
		back[i] = PutOff{ID: b.Row.ID, Claim: b.Row.Claim, NextAt: b.At}
	}
	return e.Store.PutOffFollows(ctx, back)
}

// heartbeatLoop stores at intervals that this server is running, detects a downtime of all servers,
// and renews the registrations when the program starts.
//
// spec:cnws-2003#confirm-after-outage
// spec:cloudburst#renew-after-downtime
// spec:cloudburst#follow-at-start
// spec:rsscloud-2003#reregister-at-start
func (e *Engine) heartbeatLoop(ctx context.Context) {
	for idle, started := false, false; ; {
		some, err := e.Store.NextFollow(ctx)
		switch {
		case err != nil:
			e.logError(ctx, "query the next due follow", err)
		case some.IsZero():
			idle, started = true, true // there are no follows yet
		case e.heartbeat(ctx, !started, idle):
			idle, started = false, true
		}
		if !lease.Sleep(ctx, nil, e.Options.Away/beatsPerAway) {
			return
		}
	}
}

// heartbeat stores the heartbeat and does its work. It reports whether both succeeded.
func (e *Engine) heartbeat(ctx context.Context, first, idle bool) bool {
	now := e.now()
	before, err := e.Store.FollowsAlive(ctx, now)
	if err != nil {
		e.logError(ctx, "store the heartbeat", err)
		return false
	}
	h := Hasten{Now: now, Base: e.PublicURL()}
	away := !idle && !before.IsZero() && now.Sub(before) >= e.Options.Away
	if away {
		// WebSub is not included: its hubs keep a subscription until the lease ends, and send
		// failed deliveries again.
		h.Protocols = []string{RSSCloud, CNWS}
	}
	if !away && !first {
		return true
	}
	n, err := e.Store.HastenFollows(ctx, h)
	if err == nil && first {
		var more int64
		more, err = e.renewAll(ctx, now)
		n += more
	}
	if err != nil {
		e.logError(ctx, "register again", err)
	}
	if n > 0 {
		e.Log.Info("renewing subscriptions at hubs", "feeds", n, "start", first, "away", away)
		e.Wake()
	}
	return err == nil
}

// renewAll makes all follows due at a steady pace, because the address of this machine may have
// changed. It skips follows that were requested in the last minute or that another process has
// claimed.
func (e *Engine) renewAll(ctx context.Context, now time.Time) (int64, error) {
	overdue, rest, err := e.Store.CountFollows(ctx, now, now.Add(farAhead), farAhead)
	if err != nil {
		return 0, err
	}
	for _, n := range rest {
		overdue += n
	}
	over := min(time.Duration(float64(overdue)/e.Options.Rate*float64(time.Second)), renewWithin)
	return e.Store.RenewFollows(ctx, Renew{Now: now, AskedBefore: now.Add(-askedRecently), Over: over})
}

// checkLoop processes the queues of feeds that may have missed changes, and of registrations at
// former clouds.
func (e *Engine) checkLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-e.checks:
			e.checkFeed(ctx, f)
		case f := <-e.formers:
			e.cancelFormer(ctx, f)
		}
	}
}

// checkFeed signals that one feed must be checked, and then clears Missed.
func (e *Engine) checkFeed(ctx context.Context, f Follow) {
	s := Signal{URL: f.Feed, Via: ViaAway, For: f.For, Unsure: true}
	if f.receivedDuringRequest() {
		s.Via = viaOf(f.Protocol)
	}
	if err := e.Signal(ctx, s); err != nil {
		e.Log.Debug("cannot check a feed that may have changed", "feed", f.Feed, "err", err)
		switch fault.CodeOf(err) {
		case fault.TooMany, fault.Unavailable, fault.Internal:
			e.checkLater(ctx, f, fault.RetryAfter(err))
			return
		case fault.Refused, fault.Invalid: // a later check would be rejected too
		default:
			return // the next renewal causes another check
		}
	}
	_, err := e.Store.ChangeFollow(ctx, f.ID, func(now *Follow, found bool) (Verdict, []event.Event) {
		if !found || !now.ConfirmedAt.Equal(f.ConfirmedAt) || now.ReceivedAt.After(f.ReceivedAt) {
			return Leave, nil
		}
		now.Missed = false
		return Keep, nil
	})
	if err != nil {
		e.logError(ctx, "store that a feed was checked", err)
	}
}

// change calls Store.ChangeFollow, with event stamping before and publishing after the transaction.
// The log is public, so it contains no event about a feed that only the reader follows.
//
// spec:cloudburst#river-feeds-private
func (e *Engine) change(ctx context.Context, id int64, do func(f *Follow, found bool) (Verdict, *event.Event)) (Follow, error) {
	var events []event.Event
	f, err := e.Store.ChangeFollow(ctx, id, func(f *Follow, found bool) (Verdict, []event.Event) {
		events = nil
		public := f.isPublic()
		v, ev := do(f, found)
		if ev != nil && (public || f.isPublic()) {
			ev.TopicID, ev.Topic, ev.Peer, ev.Via = topicID(f.Feed), f.Feed, text.Host(f.Hub), logVia
			e.Bus.Stamp(e.now(), ev)
			events = []event.Event{*ev}
		}
		return v, events
	})
	if err == nil {
		e.Bus.Publish(events...)
	}
	return f, err
}

// logError logs a store error of a loop, unless the program is stopping.
func (e *Engine) logError(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	if fault.CodeOf(err) == fault.Unavailable {
		e.Log.Warn("the store is unavailable", "doing", what, "err", err)
		return
	}
	e.Log.Error("a store error", "doing", what, "err", err)
}

// jitter returns d, randomly changed by at most the given share in either direction.
func jitter(d time.Duration, share float64) time.Duration {
	return time.Duration(float64(d) * (1 + share*(2*rand.Float64()-1)))
}
