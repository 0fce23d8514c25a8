package hubui

import (
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// change is one version of a topic and its notifications.
type change struct {
	Version          int64
	At               time.Time // when the hub found the version
	Notified, Failed int
	Took             time.Duration // time from the change to the last notification of the first round
}

// changesOf groups notify events by version. Events and versions are in order, the newest first. A retry is a notify event
// of one subscriber; it moves that subscriber from failed to notified.
func changesOf(events []event.Event) []change {
	found := map[int64]time.Time{}
	for _, e := range events {
		if e.Kind == event.KindCheck && e.Version > 0 {
			// The earliest check with a version is the one that found it.
			found[e.Version] = e.At
		}
	}
	var all []change
	index := map[int64]int{}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Kind != event.KindNotify || e.Version == 0 {
			continue
		}
		at, ok := index[e.Version]
		if !ok {
			at = len(all)
			index[e.Version] = at
			start := found[e.Version]
			if start.IsZero() || start.After(e.At) { // the check that found the version is not among the events read
				start = e.At.Add(-e.Took)
			}
			all = append(all, change{Version: e.Version, At: start})
		}
		c := &all[at]
		c.add(e)
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func (c *change) add(e event.Event) {
	if e.Notified == 1 && e.Failed == 0 && c.Failed > 0 {
		c.Failed-- // a retry succeeded
		c.Notified++
		return
	}
	c.Notified += e.Notified
	c.Failed += e.Failed
	c.Took = max(c.Took, e.At.Sub(c.At), e.Took)
}

// verdict returns the first and the second sentence of a topic's page about its state. bad reports whether
// they describe a problem.
func verdict(v shell.View, t hub.Topic, n tally, changes []change, events []event.Event) (lead, then string, bad bool) {
	notified := notifiedWords(v, t, n, changes)
	switch {
	case !t.PingedAt.IsZero() && t.Failures == 0:
		return v.Say("A ping arrived %s, and the feed is being read.", v.Lang.Relative(v.Now, t.PingedAt)), notified, false
	case t.Failures > 0:
		why := v.Say("The response is not a valid feed.")
		if t.Error != "" {
			why = v.Lang.Fault(shell.Sentence(t.Error))
		}
		lead = v.Say("The last ping had no effect: the feed could not be read. %s", why)
		if t.Failures > 1 {
			then = v.Say("It has failed %d times in a row.", t.Failures) + " "
		}
		return lead, then + notified, true
	case t.CheckedAt.IsZero():
		return v.Say("This feed has not been read yet."), v.Say("It is read at the first ping."), false
	case t.Evidence.Believed && pingedSince(events, t.ChangedAt):
		return v.Say("The last ping had no effect: the feed's server replied that it had not changed."), notified, false
	case t.CheckedAt.After(t.ChangedAt) && pingedSince(events, t.ChangedAt):
		return v.Say("The last ping had no effect: the feed was the same as before, byte for byte."), notified, false
	}
	if notified == "" {
		return v.Say("This feed was read %s, and has not changed since.", v.Lang.Relative(v.Now, t.CheckedAt)), "", false
	}
	return notified, "", n.Failing > 0
}

// pingedSince reports whether the newest ping came after the last change.
func pingedSince(events []event.Event, changed time.Time) bool {
	for _, e := range events {
		if e.Kind == event.KindPing {
			return e.At.After(changed)
		}
	}
	return false
}

// notifiedWords describes the delivery of the last change: "All 1,204 subscribers were notified in
// 0.3 s."
func notifiedWords(v shell.View, t hub.Topic, n tally, changes []change) string {
	if t.Version == 0 || t.ChangedAt.IsZero() {
		return ""
	}
	ago := v.Lang.Relative(v.Now, t.ChangedAt)
	if len(changes) == 0 || changes[0].Version != t.Version {
		if n.Live == 0 {
			return v.Say("It last changed %s, and it has no subscribers.", ago)
		}
		return v.Say("It last changed %s; %s", ago, locale.Quantity(n.Live, "subscriber is up to date or being notified.", "subscribers are up to date or being notified."))
	}
	c := changes[0]
	// The subscriptions are more recent than the log, so they also count retries that succeeded later.
	// Subscribers that failed before the last change are not part of its round.
	failed := n.Failing
	if n.Partial {
		failed = max(failed, c.Failed)
	}
	all := c.Notified + failed
	switch {
	case failed == 0 && c.Notified == 1:
		return v.Say("The only subscriber was notified in %s, %s.", c.Took, ago)
	case failed == 0:
		return v.Say("All %d subscribers were notified in %s, %s.", c.Notified, c.Took, ago)
	case c.Notified == 0 && all == 1:
		return v.Say("The only subscriber could not be notified of the change found %s; the hub retries.", ago)
	case c.Notified == 0:
		return v.Say("None of the %d subscribers could be notified of the change found %s; the hub retries.", all, ago)
	case failed == 1:
		return v.Say("%d of %d subscribers were notified in %s, %s; 1 could not be, and it is being retried.", c.Notified, all, c.Took, ago)
	}
	return v.Say("%d of %d subscribers were notified in %s, %s; %d could not be, and they are being retried.", c.Notified, all, c.Took, ago, failed)
}

func unknownWords(v shell.View, events []event.Event) (lead, then string) {
	for _, e := range events {
		if e.Kind == event.KindPing {
			return v.Say("This feed has no subscribers, so the last ping notified nobody."), v.Say("The next ping notifies the subscribers that register until then.")
		}
	}
	return v.Say("This feed has no subscribers any more."), v.Say("Its past events are still in the log.")
}
