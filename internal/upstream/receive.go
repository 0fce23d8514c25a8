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

// heardEvery is how often it is written down, for one follow, that its hub speaks.
const noteInterval = time.Minute

// tally counts what was rejected of one follow and is not written down yet.
type tally struct {
	n       int64
	written time.Time
}

// Heard takes a notification of RSSCloud or CNWS, in the hub's words for the feed.
// wanted is false when nobody here wants it: the hub should send no more. When err
// is nil, the feed was looked at or will be, also after a crash; else the hub should
// send the news again.
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

// Wants reports whether a hub that asks back speaks of something that we asked for:
// rssCloud's challenge, before it tells us of the feed, or before it ceases to.
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

// takes reports whether news of f is taken: also while a hub that refused to renew
// still honours what it promised.
func (e *Engine) accepts(f *Follow) bool {
	return f.wanted() || f.State != Ending && f.ExpiresAt.After(e.now())
}

// heard takes news of f, which was read a moment ago.
//
// Before its first confirmation a hub may call to test the callback, and nothing in the
// call differs from a notification. So each call is a possible change: the feed is read
// once, when the hub has answered the request.
//
// spec:cloudburst#follow-news-while-asking
func (e *Engine) receive(ctx context.Context, f Follow, s Signal) error {
	now, asking := e.now(), false
	if now.Sub(f.ReceivedAt) >= noteInterval || f.ConfirmedAt.IsZero() {
		is, err := e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
			asking = found && f.isBeingAsked(now) && f.ConfirmedAt.IsZero()
			noted := !asking || f.receivedWhileAsked()
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
		e.Log.Debug("news was not taken", "feed", f.Feed, "door", s.Via, "err", err)
		return nil // sending it again would not help
	case f.isBeingAsked(now):
		// Perhaps a test call, which must not fail for a reason that is not the hub's.
		return e.markMissed(ctx, f.ID, e.Options.Retry[0])
	case f.Protocol == CNWS && code != fault.Unavailable:
		// Its publishers take every error for good.
		return e.markMissed(ctx, f.ID, max(fault.RetryAfter(err), e.Options.Retry[0]))
	}
	return err
}

// lookAgain has the feed looked at: when the question that is under way is answered, else
// soon, after its hub was asked again.
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

// Callback is the follow whose deliveries come in with that token, or a
// fault.NotFound: then the hub should send no more.
func (e *Engine) Callback(ctx context.Context, token string) (Follow, error) {
	f, err := e.byToken(ctx, token)
	if err == nil && !e.accepts(&f) {
		return Follow{}, fault.New(fault.NotFound, "Nobody here wants this feed.")
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

// Confirm answers a hub that asks whether a subscription by WebSub (subscribe), or
// its end, is wanted. Only what was asked for is, and what was said moments ago is
// said again; so is what was asked moments ago by a request that seemed to fail. Topic
// is as the hub names it; lease as it grants it, 0 when it does not say.
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
			return Delete, endEvent(f)
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

// lately reports a moment after which a hub may still ask back.
func (e *Engine) recently(t time.Time) bool { return e.now().Sub(t) <= e.Options.ConfirmWithin }

// Denied takes a hub's word that it does not, or no longer, send.
//
// spec:websub-2018#denied-parameters
func (e *Engine) Denied(ctx context.Context, token, topic, reason string) error {
	f, err := e.byToken(ctx, token)
	if err != nil {
		return err
	}
	_, err = e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		switch {
		case !found || f.Token != token || f.Topic != topic:
			return Leave, nil
		case f.State == Ending:
			return Delete, endEvent(f)
		}
		now, kind := e.now(), event.KindRegister
		f.LastError = "The hub denied the subscription and gave no reason."
		if reason != "" {
			f.LastError = fmt.Sprintf("The hub denied the subscription: %s", clip(reason))
		}
		if f.State == Active || f.State == Lost {
			kind, f.State = event.KindDrop, Lost
		} else {
			f.State = Refused
		}
		f.LastErrorAt, f.Asked, f.Claim, f.ExpiresAt = now, false, 0, time.Time{}
		f.NextAt = now.Add(jitter(e.Options.Again, 0.1))
		return Keep, &event.Event{Kind: kind, Text: fmt.Sprintf("%s (%s): %s", text.Host(f.Hub), f.Protocol, f.LastError)}
	})
	return err
}

// Delivered takes content that a WebSub hub sent and whose signature is right, where
// there is one. Errors: fault.NotFound (nobody wants it: the hub should send no
// more), else as of Heard.
func (e *Engine) Delivered(ctx context.Context, token string, source netip.Addr, hops int, c Content) error {
	f, err := e.Callback(ctx, token)
	if err != nil {
		return err
	}
	// Who has no secret of ours may still send something to an address that leaked.
	c.Signed = c.Signed && f.Secret != ""
	return e.receive(ctx, f, Signal{URL: f.Feed, Via: ViaWebSub, Source: source, Hops: hops, For: f.For, Content: c})
}

// Rejected counts content whose signature was missing or wrong. It is written down
// once a minute at most.
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
		return Keep, &event.Event{Kind: event.KindError, Text: fmt.Sprintf("Content from %s was not signed as it should be and was ignored.", text.Host(f.Hub))}
	})
	return err
}

// Live is what the engine did since its start.
func (e *Engine) Live() Live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Live{Asked: e.requests.Load(), Rejected: e.rejected}
}
