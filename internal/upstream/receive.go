package upstream

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// noteInterval is the minimum time between two updates of ReceivedAt of one follow.
const noteInterval = time.Minute

// tally counts the rejected deliveries of one follow that are not stored yet.
type tally struct {
	n       int64
	written time.Time
}

// Receive processes a notification by RSSCloud or CNWS. topic is the feed's URL as the hub knows
// it. If no part of the program follows the feed, wanted is false, and the hub should stop sending.
// If err is nil, the feed was checked or will be checked, even after a crash. Otherwise the hub
// should send the notification again.
func (e *Engine) Receive(ctx context.Context, topic, protocol string, source netip.Addr, hops int) (wanted bool, err error) {
	e.Init()
	list, err := e.Store.FollowsOf(ctx, topic)
	if err != nil {
		return true, err
	}
	for _, f := range list {
		if f.Protocol != protocol || f.Topic != topic || !e.accepts(&f) {
			continue
		}
		wanted = true
		if failed := e.receive(ctx, f, Signal{URL: f.Feed, Via: viaOf(protocol), Source: source, Hops: hops, For: f.For}); failed != nil {
			err = failed
		}
	}
	return wanted, err
}

// Wants reports whether this server wants to be verified for a feed: it follows the feed, or is
// just ending the subscription. Clouds ask by the rssCloud challenge before notifications start or
// end.
func (e *Engine) Wants(ctx context.Context, topic, protocol string) (bool, error) {
	e.Init()
	list, err := e.Store.FollowsOf(ctx, topic)
	for _, f := range list {
		if f.Protocol == protocol && f.Topic == topic && (f.wanted() || f.State == Ending && f.Claim != 0) {
			return true, nil
		}
	}
	return false, err
}

// accepts reports whether notifications for f are accepted. After a refused renewal that is still
// the case until the lease ends.
func (e *Engine) accepts(f *Follow) bool {
	return f.wanted() || f.State != Ending && f.ExpiresAt.After(e.now())
}

// receive processes a notification for f. The caller has just read f from the store.
//
// Before it confirms a registration, a hub may call the callback as a test, and a test call looks
// like a notification. Each such call may therefore mean a change: the feed is checked once, after
// the hub has answered the request.
//
// spec:cloudburst#follow-push-before-answer
func (e *Engine) receive(ctx context.Context, f Follow, s Signal) error {
	now, asking := e.now(), false
	if now.Sub(f.ReceivedAt) >= noteInterval || f.ConfirmedAt.IsZero() {
		is, err := e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
			asking = found && f.requestInProgress(now) && f.ConfirmedAt.IsZero()
			noted := !asking || f.receivedDuringRequest()
			if !found || now.Sub(f.ReceivedAt) < noteInterval && noted {
				return Leave, nil
			}
			f.ReceivedAt, f.Missed = date.Later(f.ReceivedAt, now), f.Missed || asking
			return Keep, nil
		})
		if err != nil {
			return err
		}
		f = is
	}
	if asking || f.ConfirmedAt.IsZero() && !e.recently(f.RequestedAt) {
		return nil
	}
	err := e.Signal(ctx, s)
	switch code := fault.CodeOf(err); {
	case err == nil:
		return nil
	case code == fault.Refused, code == fault.Invalid:
		e.Log.Debug("a notification was rejected", "feed", f.Feed, "via", s.Via, "err", err)
		return nil // the hub must not send the notification again: the result would be the same
	case f.requestInProgress(now):
		// The call may be a test by the hub, which must not fail for a local reason.
		return e.markMissed(ctx, f.ID, e.Options.Retry[0])
	case f.Protocol == CNWS && code != fault.Unavailable:
		// CNWS publishers treat every error as permanent, so report success and check the feed
		// later.
		return e.markMissed(ctx, f.ID, max(fault.RetryAfter(err), e.Options.Retry[0]))
	}
	return err
}

// markMissed makes sure that the feed is checked. If a request to the hub is in progress, the check
// follows the hub's answer; otherwise a new request is sent soon, and the check follows that.
func (e *Engine) markMissed(ctx context.Context, id int64, wait time.Duration) error {
	_, err := e.change(ctx, id, func(f *Follow, found bool) (Verdict, *event.Event) {
		if !found || f.State == Ending {
			return Leave, nil
		}
		f.Missed = true
		if at := e.now().Add(wait); f.State == Active && f.Claim == 0 && at.Before(f.NextAt) {
			f.NextAt = at
		}
		return Keep, nil
	})
	return err
}

// Callback returns the follow that has the token of a delivery. It returns fault.NotFound if there
// is none; then the hub should stop sending.
func (e *Engine) Callback(ctx context.Context, token string) (Follow, error) {
	f, err := e.byToken(ctx, token)
	if err == nil && !e.accepts(&f) {
		return Follow{}, fault.New(fault.NotFound, "This server is not subscribed to this feed.")
	}
	return f, err
}

func (e *Engine) byToken(ctx context.Context, token string) (Follow, error) {
	e.Init()
	f, err := e.Store.FollowByToken(ctx, token)
	if err == nil && f.Protocol != WebSub {
		return Follow{}, fault.New(fault.NotFound, "There is no such callback.")
	}
	return f, err
}

// Confirm answers the verification request of a WebSub hub, for a subscription (subscribe) or for
// its end. It confirms only what this server requested. For a short time it also repeats a
// confirmation, and confirms a request that seemed to have failed. topic is the URL that the hub
// sent. lease is the granted lease; 0 if the hub sent none.
//
// spec:websub-2018#subscriber-confirms-pending
func (e *Engine) Confirm(ctx context.Context, token, topic string, subscribe bool, lease time.Duration) (bool, error) {
	f, err := e.byToken(ctx, token)
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	yes := false
	f, err = e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		yes = false
		switch {
		case !found || f.Token != token || f.Topic != topic:
			return Leave, nil
		case !subscribe:
			if yes = f.State == Ending; !yes {
				return Leave, nil
			}
			return Delete, nil
		case !f.wanted() || !f.Asked && !e.recently(f.RequestedAt) && !e.recently(f.ConfirmedAt):
			return Leave, nil
		}
		yes = true
		return Keep, e.confirm(f, lease)
	})
	if err != nil {
		return false, err
	}
	if yes && subscribe {
		e.queueCheck(ctx, f)
	}
	return yes, nil
}

// recently reports whether a hub may still verify a request that was sent at t.
func (e *Engine) recently(t time.Time) bool { return e.now().Sub(t) <= e.Options.ConfirmWithin }

// Denied processes a message of the hub that it does not send notifications, or no longer does. After
// the loss of a subscription, the feed is checked, and from then on polled as if it had no hub.
//
// spec:cloudburst#follow-lost
// spec:websub-2018#denied-parameters
func (e *Engine) Denied(ctx context.Context, token, topic, reason string) error {
	f, err := e.byToken(ctx, token)
	if err != nil {
		return err
	}
	lost := false
	f, err = e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		lost = false
		switch {
		case !found || f.Token != token || f.Topic != topic:
			return Leave, nil
		case f.State == Ending:
			return Delete, nil
		}
		now, kind := e.now(), event.KindRegister
		f.LastError = "The hub denied the subscription and gave no reason."
		if reason != "" {
			f.LastError = fmt.Sprintf("The hub denied the subscription: %s", clip(reason))
		}
		if lost = f.State == Active; lost || f.State == Lost {
			kind, f.State, f.Missed = event.KindDrop, Lost, f.Missed || lost
		} else {
			f.State = Refused
		}
		f.LastErrorAt, f.Asked, f.Claim, f.ExpiresAt = now, false, 0, time.Time{}
		f.NextAt = now.Add(jitter(e.Options.Again, 0.1))
		return Keep, &event.Event{Kind: kind, Text: fmt.Sprintf("%s (%s): %s", text.Host(f.Hub), f.Protocol, f.LastError)}
	})
	if err == nil && lost {
		e.queueCheck(ctx, f)
	}
	return err
}

// Delivered processes content that a WebSub hub sent. If the subscription has a secret, the caller
// has verified the signature. Errors: fault.NotFound (no part of the program follows the feed, and
// the hub should stop sending), otherwise the errors of Receive.
func (e *Engine) Delivered(ctx context.Context, token string, source netip.Addr, hops int, c Content) error {
	f, err := e.Callback(ctx, token)
	if err != nil {
		return err
	}
	// Without a secret, anyone who knows the callback URL can be the sender.
	c.Signed = c.Signed && f.Secret != ""
	return e.receive(ctx, f, Signal{URL: f.Feed, Via: ViaWebSub, Source: source, Hops: hops, For: f.For, Content: c})
}

// Rejected counts content with a missing or wrong signature. It stores the count at most once a
// minute.
//
// spec:websub-2018#signature-mismatch
func (e *Engine) Rejected(ctx context.Context, token string) error {
	f, err := e.byToken(ctx, token)
	if err != nil {
		return err
	}
	now := e.now()
	e.mu.Lock()
	t := e.tallies[f.ID]
	if t == nil {
		if len(e.tallies) > 10_000 {
			clear(e.tallies)
		}
		t = &tally{}
		e.tallies[f.ID] = t
	}
	t.n++
	e.rejected++
	n := t.n
	write := now.Sub(t.written) >= noteInterval
	if write {
		t.n, t.written = 0, now
	}
	e.mu.Unlock()
	if !write {
		return nil
	}
	_, err = e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		if !found {
			return Leave, nil
		}
		f.Rejected += n
		return Keep, &event.Event{Kind: event.KindError, Text: fmt.Sprintf("Content from %s had a missing or wrong signature and was ignored.", text.Host(f.Hub))}
	})
	return err
}

// Live returns the totals of the engine since its start.
func (e *Engine) Live() Live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Live{Asked: e.requests.Load(), Rejected: e.rejected}
}
