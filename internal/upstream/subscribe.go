package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// searchAfter is the number of consecutive failures after which the feed is searched for another
// hub.
const searchAfter = 3

// handle does the due work of a claimed follow. asked reports whether a request was sent to the
// hub, took is the duration of the request, and err is its failure.
func (e *Engine) handle(ctx context.Context, f Follow) (took time.Duration, asked bool, err error) {
	claim := f.Claim
	switch quiet := e.silentUntil(&f); {
	case f.State == Ending:
		return e.end(ctx, f)
	case quiet.After(e.now()):
		e.saveResult(ctx, f.ID, claim, func(f *Follow) *event.Event { f.NextAt = quiet; return nil })
		return 0, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*e.Options.AskTimeout)
	defer cancel()
	host := href.HostPort(f.Hub)
	endpoint, searched := e.findEndpoint(ctx, f)
	f, ok := e.recordRequest(ctx, f, endpoint)
	if !ok {
		return 0, false, nil
	}
	if searched != nil {
		e.recordFailure(ctx, f, searched)
		return 0, false, nil
	}
	e.requests.Add(1)
	asking, stop := context.WithTimeout(ctx, e.Options.AskTimeout)
	defer stop()
	from := e.now()
	a, err := e.Ask.Ask(asking, f)
	took, asked = e.now().Sub(from), href.HostPort(f.Hub) == host
	if err != nil {
		e.recordFailure(ctx, f, err)
		return took, asked, err
	}
	if f.Protocol == RSSCloud {
		e.readPlan(ctx)
	}
	done := e.saveResult(ctx, f.ID, claim, func(f *Follow) *event.Event {
		if a.Hub != "" && checkURL("hub", a.Hub) == nil {
			f.Hub = a.Hub
		}
		if a.Notify != "" {
			f.Notify = a.Notify
		}
		if a.Confirmed {
			return e.confirm(f, 0)
		}
		f.NextAt = e.now().Add(max(e.Options.ConfirmWithin, e.backoff(f.Failures)))
		return nil
	})
	if a.Confirmed && done.State == Active || done.receivedDuringRequest() {
		e.queueCheck(ctx, done)
	}
	return took, asked, nil
}

// silentUntil returns when a CNWS publisher with a confirmed subscription will have been silent for
// too long, or the zero time for all other follows.
//
// spec:cnws-2003#confirm-after-30-days
func (e *Engine) silentUntil(f *Follow) time.Time {
	if f.Protocol != CNWS || f.State != Active || f.Missed || f.Asked {
		return time.Time{}
	}
	last := f.ConfirmedAt
	if f.ReceivedAt.After(last) {
		last = f.ReceivedAt
	}
	return last.Add(e.Options.Silence)
}

// findEndpoint looks for another endpoint when requests to the known endpoint fail, because feeds
// move between hubs. It returns nil if the known endpoint stays. The error concerns reading the
// feed.
func (e *Engine) findEndpoint(ctx context.Context, f Follow) (*Endpoint, error) {
	if f.Named || f.Failures < searchAfter && f.State != Refused && f.State != Lost {
		return nil, nil
	}
	found, known, err := e.discover(ctx, f.Feed, f.For...)
	if err != nil || !known {
		return nil, err
	}
	var endpoints []Endpoint
	for _, d := range found.Endpoints {
		if d.Protocol != f.Protocol || e.isOwn(d.Hub) {
			continue
		}
		if d, err = e.Complete(d); err == nil {
			endpoints = append(endpoints, d)
		}
	}
	for i, d := range endpoints { // choose the endpoint after the failed one
		if d.Hub == f.Hub {
			return &endpoints[(i+1)%len(endpoints)], nil
		}
	}
	if len(endpoints) == 0 {
		return nil, nil
	}
	return &endpoints[0], nil
}

// recordRequest stores that the hub is being asked, before the request is sent: the hub may verify
// the request before it answers, and may reach another process.
//
// spec:websub-2018#subscriber-confirms-pending
func (e *Engine) recordRequest(ctx context.Context, f Follow, endpoint *Endpoint) (Follow, bool) {
	claim, ours := f.Claim, false
	f, err := e.change(ctx, f.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		ours = found && f.Claim == claim && f.State != Ending
		if !ours {
			return Leave, nil
		}
		now := e.now()
		if f.Asked && f.Protocol == WebSub {
			f.Failures++
			f.LastErrorAt, f.LastError = now, fmt.Sprintf("The hub accepted the request but did not verify it within %s.", now.Sub(f.RequestedAt).Round(time.Second))
		}
		if endpoint != nil && endpoint.Hub != f.Hub {
			f.Hub, f.State = endpoint.Hub, Pending // the new hub pushes nothing yet, and pushes to the old callback are rejected
			f.newCallback()
		}
		if endpoint != nil {
			f.Wire, f.Proc = endpoint.Wire, endpoint.Procedure
		}
		if f.State != Active || !f.ExpiresAt.IsZero() && !f.ExpiresAt.After(now) {
			// Changes that happened without an active subscription may be missed. Before the first
			// confirmation, the hub has not promised any notifications.
			f.State, f.Missed = Pending, f.Missed || !f.ConfirmedAt.IsZero()
			f.SinceAt = time.Time{}
		}
		f.RequestedAt, f.Asked, f.Base = now, true, e.PublicURL()
		return Keep, nil
	})
	if err != nil {
		e.logError(ctx, "store a request to a hub", err)
		return f, false
	}
	return f, ours
}

// recordFailure stores that a request failed, and when the request is repeated.
func (e *Engine) recordFailure(ctx context.Context, f Follow, err error) {
	if ctx.Err() == context.Canceled { // the program is stopping, so the hub is not at fault
		e.saveResult(ctx, f.ID, f.Claim, func(f *Follow) *event.Event {
			f.NextAt, f.Asked = e.now(), false
			return nil
		})
		return
	}
	lost := false
	done := e.saveResult(ctx, f.ID, f.Claim, func(f *Follow) *event.Event {
		now := e.now()
		kind := event.KindRegister
		lost = f.State == Active
		f.Failures++
		f.Asked = false
		f.LastError, f.LastErrorAt = fault.Message(err), now
		if _, ok := errors.AsType[fetch.NotAllowedError](err); ok {
			f.LastError = err.Error() // the full error names the setting, and this field is not public, unlike the log
		}
		switch code := fault.CodeOf(err); {
		case code == fault.Gone, code == fault.Refused && f.State == Active:
			f.State, kind, f.Missed = Lost, event.KindDrop, f.Missed || lost
			f.NextAt = now.Add(jitter(e.Options.Again, 0.1))
		case code == fault.Refused, code == fault.Invalid:
			f.State = Refused
			f.NextAt = now.Add(jitter(e.Options.Again, 0.1))
		default:
			f.NextAt = now.Add(e.wait(f.Failures, fault.RetryAfter(err)))
			if f.State == Active && !f.ExpiresAt.IsZero() && !f.ExpiresAt.After(now) {
				f.State = Pending
			}
		}
		return &event.Event{Kind: kind, Text: fmt.Sprintf("Subscription request to %s (%s): %s", text.Host(f.Hub), f.Protocol, fault.Message(err))}
	})
	if lost && done.State == Lost || done.receivedDuringRequest() {
		e.queueCheck(ctx, done)
	}
}

// backoff returns the delay after a number of consecutive failures.
func (e *Engine) backoff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return jitter(e.Options.Retry[min(failures, len(e.Options.Retry))-1], 0.2)
}

// wait returns the larger of the backoff and the Retry-After of the hub, within bounds.
func (e *Engine) wait(failures int, asked time.Duration) time.Duration {
	longest := e.Options.Retry[len(e.Options.Retry)-1]
	return max(e.backoff(failures), min(asked, longest))
}

// saveResult stores the result of a request if the claim is still valid, and releases the claim. It
// returns the stored row, or the zero Follow if nothing was written.
func (e *Engine) saveResult(ctx context.Context, id, claim int64, do func(f *Follow) *event.Event) Follow {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Options.AskTimeout)
	defer cancel()
	ours := false
	f, err := e.change(ctx, id, func(f *Follow, found bool) (Verdict, *event.Event) {
		if ours = found && f.Claim == claim; !ours {
			return Leave, nil
		}
		f.Claim = 0
		return Keep, do(f)
	})
	if err != nil {
		e.logError(ctx, "store the answer of a hub", err)
	}
	if err != nil || !ours {
		return Follow{}
	}
	return f
}

// confirm makes f active from now on, for the lease that the hub granted. It returns the event to
// log, or nil.
//
// spec:rsscloud-2009#renew-24h
// spec:websub-2018#lease-renewed
func (e *Engine) confirm(f *Follow, lease time.Duration) *event.Event {
	now := e.now()
	if f.State != Active || f.Missed || f.SinceAt.IsZero() { // before this time, the hub may have omitted changes
		f.SinceAt = now
	}
	f.State, f.ConfirmedAt, f.Asked, f.Claim, f.Failures, f.LastError, f.LastErrorAt = Active, now, false, 0, 0, "", time.Time{}
	switch f.Protocol {
	case WebSub:
		if lease <= 0 {
			lease = e.Options.Lease
		}
		lease = min(lease, 365*24*time.Hour)
		f.ExpiresAt = now.Add(lease)
		f.NextAt = now.Add(time.Duration(float64(lease) * (0.8 + 0.1*rand.Float64())))
	case CNWS:
		f.ExpiresAt = time.Time{}
		f.NextAt = now.Add(e.Options.Silence)
		return &event.Event{Kind: event.KindRegister, OK: true, Text: fmt.Sprintf("%s notifies this server of changes (%s).", text.Host(f.Hub), f.Protocol)}
	default:
		f.ExpiresAt = now.Add(e.Options.Expiry)
		late := max(e.Options.Expiry-e.Options.Renew, 0) / 3
		f.NextAt = e.plan.schedule(now, now.Add(e.Options.Renew), late)
	}
	return &event.Event{Kind: event.KindRegister, OK: true,
		Text: fmt.Sprintf("%s notifies this server of changes (%s) until %s.", text.Host(f.Hub), f.Protocol, f.ExpiresAt.Format("15:04 on 2 January 2006"))}
}

// queueCheck queues a check of the feed if changes may have been missed.
func (e *Engine) queueCheck(ctx context.Context, f Follow) {
	if !f.Missed {
		return
	}
	select {
	case e.checks <- f:
	default:
		e.checkLater(ctx, f, 0)
	}
}

// checkLater postpones the check of a feed that cannot be checked now.
func (e *Engine) checkLater(ctx context.Context, f Follow, wait time.Duration) {
	if err := e.markMissed(ctx, f.ID, max(wait, e.Options.Retry[0])); err != nil {
		e.logError(ctx, "store that a feed needs a check", err) // if this fails, the next renewal causes the check
	}
}

// end notifies a hub that this server no longer follows the feed. A hub that cannot be reached gets
// the same information in the response to its next notification.
func (e *Engine) end(ctx context.Context, f Follow) (took time.Duration, asked bool, err error) {
	waited := f.Asked // after a request, wait once for the verification by the hub
	if !waited {
		asking, stop := context.WithTimeout(ctx, e.Options.AskTimeout)
		defer stop()
		from := e.now()
		err = e.Ask.End(asking, f)
		took, asked = e.now().Sub(from), fault.CodeOf(err) != fault.Unsupported
		if err != nil && ctx.Err() != nil {
			e.saveResult(ctx, f.ID, f.Claim, func(f *Follow) *event.Event { f.NextAt = e.now(); return nil })
			return took, asked, err
		}
		if err == nil && f.Protocol == WebSub {
			e.saveResult(ctx, f.ID, f.Claim, func(f *Follow) *event.Event {
				f.Asked, f.RequestedAt, f.NextAt = true, e.now(), e.now().Add(e.Options.ConfirmWithin)
				return nil
			})
			return took, asked, nil
		}
	}
	_, failed := e.change(context.WithoutCancel(ctx), f.ID, func(now *Follow, found bool) (Verdict, *event.Event) {
		if !found || now.Claim != f.Claim || now.State != Ending {
			return Leave, nil
		}
		return Delete, nil
	})
	if failed != nil {
		e.logError(ctx, "delete a follow", failed)
	}
	return took, asked, err
}
