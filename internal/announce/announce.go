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
)

// Sender tells one sink. Package publishhttp has it.
type Sender interface {
	// Send tells s of the news and returns what it said, in its own words. Errors:
	// fault.Refused, Invalid, Gone: it says no; Unavailable: this server cannot send now;
	// anything else: it could not be reached, or asks to be left alone until RetryAfter.
	Send(ctx context.Context, s Target, n News) (reply string, err error)
}

// News is a feed that was saved.
type News struct {
	User    string
	Topic   string // its address
	Name    string // what it calls itself
	Home    string // page that it belongs to
	Version int64
	SavedAt time.Time
}

// Options are the options of an [Announcer]. Zero fields mean the default in brackets.
type Options struct {
	Timeout time.Duration   // of one ping [30 s]
	Retry   []time.Duration // waits after failures, the last one repeats [5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h]
	GiveUp  time.Duration   // after the save, nothing is tried any more [7 days]
	AtOnce  int             // pings under way [32]
	PerHost int             // of them to one host [4]
}

// refusals is how often a sink is asked that says no.
const maxRefusals = 3

// Announcer tells sinks. Store, Send and Sinks are needed. Do not copy it.
type Announcer struct {
	Store Store
	Send  Sender
	// Sinks are those that are told of a user's feed now.
	Targets func(ctx context.Context, user string) ([]Target, error)
	// Own reports a URL of this server, which is never told: it has heard already. nil: none is.
	Own     func(url string) bool
	Bus     *event.Bus         // nil: there is no log
	TopicID func(string) int64 // of the log's lines; nil: none
	Now     func() time.Time   // nil: time.Now
	Log     *slog.Logger       // nil is silent
	Options Options

	once    sync.Once
	wakeups chan struct{}
	active  hostCounter
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
		a.active.busy = map[string]int{}
	})
}

// now is the time as the store keeps it.
func (a *Announcer) now() time.Time { return a.Now().UTC().Truncate(time.Millisecond) }

// Saved has the sinks told of a version that was saved. When it returns nil, what each
// shall hear is on disk. The same version again changes nothing.
//
// spec:cloudburst#sinks-durable
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
		if o.Lease == 0 { // who tells it now sees to it that this one is told next
			o.DueAt = date.Later(now, o.RetryAt)
		}
		return Keep, nil
	})
	if err == nil {
		a.Wake()
	}
	return err
}

// List lists what sinks were told and shall be told. What is kept of sinks that nobody
// names any more is forgotten on the way.
func (a *Announcer) List(ctx context.Context, q Query) (list []PendingTarget, err error) {
	a.init()
	named := map[string][]Target{} // by user
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
			if a.wanted(o, known) || o.Lease != 0 { // who tells it now forgets it himself
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

// wanted reports that a sink is among those that are to be told.
func (a *Announcer) wanted(o PendingTarget, known []Target) bool {
	s, err := ParseTarget(o.Target)
	return err == nil && slices.Contains(known, s) && (a.Own == nil || !a.Own(s.URL))
}

// Tidy forgets what is kept of sinks that nobody names any more. Call it about once an hour.
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

// Retry has sinks told at once that have not heard of the newest version, also those that
// were given up; all of them, or one. It returns how many there are.
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
			// A week is counted anew: somebody wants it to be told.
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

// tell does what a claimed row asks for.
func (a *Announcer) notify(ctx context.Context, o PendingTarget) {
	s, err := ParseTarget(o.Target)
	if err == nil {
		var known []Target
		if known, err = a.Targets(ctx, o.User); err != nil {
			a.settle(ctx, o, func(o *PendingTarget) *event.Event { o.DueAt = a.now().Add(a.Options.Retry[0]); return nil })
			return
		}
		if !a.wanted(o, known) {
			err = fault.New(fault.NotFound, "Nobody wants %s to be told any more.", o.Target)
		}
	}
	if err != nil { // it is not among the sinks any more
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
	case ctx.Err() != nil: // the program ends: nobody's failure
		a.settle(ctx, o, func(now *PendingTarget) *event.Event { now.DueAt = a.now(); return nil })
	default:
		a.settle(ctx, o, func(now *PendingTarget) *event.Event { return a.failed(now, o.Version, err, s, took) })
	}
}

// heard notes that a sink has heard of a version.
func (a *Announcer) succeeded(o *PendingTarget, version int64, reply string, s Target, took time.Duration) *event.Event {
	now := a.now()
	o.Notified = max(o.Notified, version)
	o.Tries, o.Refused, o.GaveUp, o.RetryAt = 0, 0, false, time.Time{}
	o.LastAt, o.OK, o.Last = now, true, cmp.Or(reply, "It took the ping.")
	o.DueAt = time.Time{}
	if o.Version > o.Notified {
		o.DueAt = now
	}
	return a.event(o, s, took, fmt.Sprintf("%s was told of version %d (%s): %s", s.Host(), version, s.Kind, o.Last))
}

// failed notes that a sink has not heard of a version, and when that is tried again.
//
// spec:cloudburst#sinks-retry
func (a *Announcer) failed(o *PendingTarget, version int64, err error, s Target, took time.Duration) *event.Event {
	now := a.now()
	o.LastAt, o.OK, o.Last = now, false, fault.Message(err)
	text := fmt.Sprintf("%s could not be told of version %d (%s): %s", s.Host(), version, s.Kind, o.Last)
	o.Tries++
	wait, code := a.wait(o.Tries), fault.CodeOf(err)
	newer := o.Version > version
	switch {
	case code == fault.Unavailable: // nothing was sent: it is no failure of the sink
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
		text += " It is not told until the next change."
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

// wait is how long to wait after so many failures.
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

// settleWithin is how long the end of a ping may take to be written.
const settleTimeout = 10 * time.Second

// settle writes what came of a ping, while the lease is still ours, and gives it back.
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
	if err != nil { // the lease runs out, and it is told again
		a.Log.WarnContext(ctx, "write what came of telling a sink", "sink", was.Target, "topic", was.Topic, "err", err)
		return
	}
	if a.Bus != nil {
		a.Bus.Publish(events...)
	}
}

// drop ends a row of which nobody wants to hear.
func (a *Announcer) drop(ctx context.Context, was PendingTarget) {
	err := a.Store.ChangeTargets(ctx, []Key{was.Key}, func(o *PendingTarget, found bool) (Verdict, []event.Event) {
		if !found || o.Lease != was.Lease {
			return Leave, nil
		}
		return Delete, nil
	})
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "forget a sink", "sink", was.Target, "err", err)
	}
}
