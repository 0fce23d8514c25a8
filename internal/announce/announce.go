package announce

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/limit"
)

// Sender pings one target. Package publishhttp implements it.
type Sender interface {
	// Send sends n to the target s and returns the target's own reply. Errors: fault.Refused, Invalid
	// and Gone mean that the target rejected the ping. Unavailable means that this server cannot send
	// now. Any other error means that the target was unreachable or requests a pause until
	// RetryAfter.
	Send(ctx context.Context, s Target, n News) (reply string, err error)
}

// News describes one saved version of a feed.
type News struct {
	User    string
	Topic   string // URL of the feed
	Name    string // title of the feed
	Home    string // page that the feed belongs to
	Version int64
	SavedAt time.Time
}

// Options are the options of an [Announcer]. Zero fields mean the default in brackets.
type Options struct {
	Timeout time.Duration   // time limit of one ping [30 s]
	Retry   []time.Duration // pauses after failures in a row; the last one repeats [5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h]
	GiveUp  time.Duration   // time after the save at which retries stop [7 days]
	AtOnce  int             // concurrent pings [32]
	PerHost int             // concurrent pings to one host [4]
}

// maxRefusals limits the attempts to a target that rejects the ping.
const maxRefusals = 3

// Announcer pings the targets of saved feeds. Store, Send and Targets are required. Do not copy it.
type Announcer struct {
	Store Store
	Send  Sender
	// Targets returns the current ping targets of a user.
	Targets func(ctx context.Context, user string) ([]Target, error)
	// Own reports whether a URL belongs to this server. Own URLs are never pinged, because this
	// server's hub already knows about the change. nil: no URL is own.
	Own     func(url string) bool
	Bus     *event.Bus         // nil: no events are published
	TopicID func(string) int64 // topic number in events; nil: events have none
	Now     func() time.Time   // nil: time.Now
	Log     *slog.Logger       // nil: no log
	Options Options

	once    sync.Once
	wakeups chan struct{}
	active  *limit.Semaphore // pings in progress, by host
}

func (a *Announcer) init() {
	a.once.Do(func() {
		if a.Log == nil {
			a.Log = slog.New(slog.DiscardHandler)
		}
		if a.Now == nil {
			a.Now = time.Now
		}
		o := &a.Options
		o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
		o.GiveUp = cmp.Or(o.GiveUp, 7*24*time.Hour)
		o.AtOnce, o.PerHost = cmp.Or(o.AtOnce, 32), cmp.Or(o.PerHost, 4)
		if len(o.Retry) == 0 {
			o.Retry = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
		}
		a.wakeups = make(chan struct{}, 1)
		a.active = limit.NewSemaphore(o.PerHost)
	})
}

// now returns the current time in the precision of the store: milliseconds, UTC.
func (a *Announcer) now() time.Time { return a.Now().UTC().Truncate(time.Millisecond) }

// Saved schedules a ping of every target of the user. When Saved returns nil, the pending pings are
// on disk. Repeated calls with the same version have no effect.
//
// spec:cloudburst#ping-targets-durable
func (a *Announcer) Saved(ctx context.Context, n News) error {
	a.init()
	targets, err := a.Targets(ctx, n.User)
	if err != nil {
		return err
	}
	var keys []Key
	for _, s := range targets {
		if a.Own == nil || !a.Own(s.URL) {
			keys = append(keys, Key{User: n.User, Target: s.String(), Topic: n.Topic})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	now := a.now()
	err = a.Store.ChangeTargets(ctx, keys, func(o *PendingTarget, _ bool) (Verdict, []event.Event) {
		if n.Version <= o.Version {
			return Leave, nil
		}
		o.Version, o.Name, o.Home, o.SavedAt = n.Version, n.Name, n.Home, n.SavedAt.UTC().Truncate(time.Millisecond)
		o.Refused, o.GaveUp = 0, false
		if o.Lease == 0 { // a leased row has a ping in progress, which schedules the next ping
			o.DueAt = date.Later(now, o.RetryAt)
		}
		return Keep, nil
	})
	if err == nil {
		a.Wake()
	}
	return err
}

// List returns sent and pending pings. It also deletes the rows of targets that are no longer
// configured.
func (a *Announcer) List(ctx context.Context, q Query) (list []PendingTarget, err error) {
	a.init()
	named := map[string][]Target{} // key: user name; value: the user's targets
	for {
		batch, err := a.Store.Targets(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, o := range batch {
			known, looked := named[o.User]
			if !looked {
				if known, err = a.Targets(ctx, o.User); err != nil {
					return nil, err
				}
				named[o.User] = known
			}
			if a.wanted(o, known) || o.Lease != 0 { // the ping in progress deletes a leased row itself
				list = append(list, o)
			} else {
				a.drop(ctx, o)
			}
		}
		if len(batch) == 0 || q.Limit <= 0 || len(batch) < q.Limit || len(list) >= q.Limit {
			if q.Limit > 0 && len(list) > q.Limit {
				list = list[:q.Limit]
			}
			return list, nil
		}
		q.After = batch[len(batch)-1].Key
	}
}

// wanted reports whether the target of o is configured and is not a URL of this server.
func (a *Announcer) wanted(o PendingTarget, known []Target) bool {
	s, err := ParseTarget(o.Target)
	return err == nil && slices.Contains(known, s) && (a.Own == nil || !a.Own(s.URL))
}

// Tidy deletes the rows of targets that are no longer configured. Call it about once an hour.
func (a *Announcer) Tidy(ctx context.Context) error {
	q := Query{Limit: 1000}
	for {
		list, err := a.List(ctx, q)
		if err != nil || len(list) < q.Limit {
			return err
		}
		q.After = list[len(list)-1].Key
	}
}

// Retry schedules new pings at once for rows whose target has not accepted the newest version,
// including abandoned rows. target is a URL, or kind and URL, and limits Retry to one target; ""
// means all targets. Retry returns the number of scheduled pings.
func (a *Announcer) Retry(ctx context.Context, target string) (int, error) {
	a.init()
	q, n := Query{Pending: true, Limit: 1000}, 0
	for {
		list, err := a.Store.Targets(ctx, q)
		if err != nil || len(list) == 0 {
			return n, err
		}
		q.After = list[len(list)-1].Key
		var keys []Key
		for _, o := range list {
			if target == "" || o.Target == target || strings.HasSuffix(o.Target, " "+target) {
				keys = append(keys, o.Key)
			}
		}
		now := a.now()
		err = a.Store.ChangeTargets(ctx, keys, func(o *PendingTarget, found bool) (Verdict, []event.Event) {
			if !found || o.Notified >= o.Version {
				return Leave, nil
			}
			o.Tries, o.Refused, o.GaveUp, o.RetryAt = 0, 0, false, time.Time{}
			// The retry period starts again now, because the operator requested the retry.
			o.SavedAt = date.Later(o.SavedAt, now)
			if o.Lease == 0 {
				o.DueAt = now
			}
			return Keep, nil
		})
		if err != nil {
			return n, err
		}
		n += len(keys)
		a.Wake()
	}
}

// notify sends the ping of a leased row.
func (a *Announcer) notify(ctx context.Context, o PendingTarget) {
	s, err := ParseTarget(o.Target)
	if err == nil {
		var known []Target
		if known, err = a.Targets(ctx, o.User); err != nil {
			a.settle(ctx, o, func(o *PendingTarget) *event.Event { o.DueAt = a.now().Add(a.Options.Retry[0]); return nil })
			return
		}
		if !a.wanted(o, known) {
			err = fault.New(fault.NotFound, "%s is no longer a ping target.", o.Target)
		}
	}
	if err != nil { // the user no longer has this target
		a.drop(ctx, o)
		return
	}
	within, stop := context.WithTimeout(ctx, a.Options.Timeout)
	defer stop()
	begun := a.now()
	reply, err := a.Send.Send(within, s, News{User: o.User, Topic: o.Topic, Name: o.Name, Home: o.Home, Version: o.Version, SavedAt: o.SavedAt})
	took := a.now().Sub(begun)
	switch {
	case err == nil:
		a.settle(ctx, o, func(now *PendingTarget) *event.Event { return a.succeeded(now, o.Version, reply, s, took) })
	case ctx.Err() != nil: // a shutdown is not a failure of the target
		a.settle(ctx, o, func(now *PendingTarget) *event.Event { now.DueAt = a.now(); return nil })
	default:
		a.settle(ctx, o, func(now *PendingTarget) *event.Event { return a.failed(now, o.Version, err, s, took) })
	}
}

// succeeded records that a target accepted a version.
func (a *Announcer) succeeded(o *PendingTarget, version int64, reply string, s Target, took time.Duration) *event.Event {
	now := a.now()
	o.Notified = max(o.Notified, version)
	o.Tries, o.Refused, o.GaveUp, o.RetryAt = 0, 0, false, time.Time{}
	o.LastAt, o.OK, o.Last = now, true, cmp.Or(reply, "The target accepted the ping.")
	o.DueAt = time.Time{}
	if o.Version > o.Notified {
		o.DueAt = now
	}
	return a.event(o, s, took, fmt.Sprintf("Pinged %s about version %d (%s): %s", s.Host(), version, s.Kind, o.Last))
}

// failed records a failed ping and schedules the retry.
//
// spec:cloudburst#ping-targets-retry
func (a *Announcer) failed(o *PendingTarget, version int64, err error, s Target, took time.Duration) *event.Event {
	now := a.now()
	o.LastAt, o.OK, o.Last = now, false, fault.Message(err)
	text := fmt.Sprintf("Pinging %s about version %d (%s) failed: %s", s.Host(), version, s.Kind, o.Last)
	o.Tries++
	wait, code := a.wait(o.Tries), fault.CodeOf(err)
	newer := o.Version > version
	switch {
	case code == fault.Unavailable: // nothing was sent, so the target has not failed
		o.Tries--
	case code == fault.Refused || code == fault.Invalid || code == fault.Gone:
		if !newer {
			o.Refused++
		}
		wait = a.wait(o.Refused)
		o.GaveUp = o.Refused >= maxRefusals
	case !newer && now.Add(wait).Sub(o.SavedAt) > a.Options.GiveUp:
		o.GaveUp = true
	}
	if after := min(fault.RetryAfter(err), a.maxWait()); after > 0 {
		o.RetryAt = now.Add(after)
		wait = max(wait, after)
	}
	switch {
	case o.GaveUp:
		o.DueAt = time.Time{}
		text = fmt.Sprintf("%s There are no more retries until the next change.", text)
	case newer:
		o.DueAt = date.Later(now, o.RetryAt)
	default:
		o.DueAt = now.Add(wait)
	}
	e := a.event(o, s, took, text)
	e.OK = false
	return e
}

func (a *Announcer) maxWait() time.Duration { return a.Options.Retry[len(a.Options.Retry)-1] }

// wait returns the pause after the given number of failures in a row.
func (a *Announcer) wait(failures int) time.Duration {
	return a.Options.Retry[min(max(failures, 1), len(a.Options.Retry))-1]
}

func (a *Announcer) event(o *PendingTarget, s Target, took time.Duration, text string) *event.Event {
	e := &event.Event{Kind: event.KindTarget, Topic: o.Topic, OK: true, Text: text, Via: s.Kind, Peer: s.Host(), Took: took}
	if a.TopicID != nil {
		e.TopicID = a.TopicID(o.Topic)
	}
	return e
}

// settleTimeout limits the time to record the result of a ping.
const settleTimeout = 10 * time.Second

// settle records the result of a ping if its lease is still valid, and releases the lease.
func (a *Announcer) settle(ctx context.Context, was PendingTarget, do func(o *PendingTarget) *event.Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var events []event.Event
	err := a.Store.ChangeTargets(ctx, []Key{was.Key}, func(o *PendingTarget, found bool) (Verdict, []event.Event) {
		events = nil
		if !found || o.Lease != was.Lease {
			return Leave, nil
		}
		o.Lease = 0
		if e := do(o); e != nil && a.Bus != nil {
			a.Bus.Stamp(a.now(), e)
			events = []event.Event{*e}
		}
		return Keep, events
	})
	if err != nil { // the lease expires, and another run sends the ping again
		a.Log.WarnContext(ctx, "cannot store the result of a ping", "target", was.Target, "topic", was.Topic, "err", err)
		return
	}
	if a.Bus != nil {
		a.Bus.Publish(events...)
	}
}

// drop deletes the row of a target that is no longer configured.
func (a *Announcer) drop(ctx context.Context, was PendingTarget) {
	err := a.Store.ChangeTargets(ctx, []Key{was.Key}, func(o *PendingTarget, found bool) (Verdict, []event.Event) {
		if !found || o.Lease != was.Lease {
			return Leave, nil
		}
		return Delete, nil
	})
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "cannot delete a ping target", "target", was.Target, "err", err)
	}
}
