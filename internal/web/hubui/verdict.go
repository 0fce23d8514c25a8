package hubui

import (
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
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
func verdict(t hub.Topic, n tally, changes []change, events []event.Event, now time.Time) (lead, then string, bad bool) {
	notified := notifiedWords(t, n, changes, now)
	switch {
	case !t.PingedAt.IsZero() && t.Failures == 0:
		return "A ping arrived " + shell.RelativeTime(now, t.PingedAt) + ", and the feed is being read.", notified, false
	case t.Failures > 0:
		why := shell.Sentence(t.Error)
		if why == "" {
			why = "The response is not a valid feed."
		}
		lead = "The last ping had no effect: the feed could not be read. " + why
		if t.Failures > 1 {
			then = "That is the " + shell.FormatOrdinal(t.Failures) + " time in a row. "
		}
		return lead, then + notified, true
	case t.CheckedAt.IsZero():
		return "This feed has not been read yet.", "It is read at the first ping.", false
	case t.Evidence.Believed && pingedSince(events, t.ChangedAt):
		return "The last ping had no effect: the feed's server replied that it had not changed.", notified, false
	case t.CheckedAt.After(t.ChangedAt) && pingedSince(events, t.ChangedAt):
		return "The last ping had no effect: the feed was the same as before, byte for byte.", notified, false
	}
	if notified == "" {
		return "This feed was read " + shell.RelativeTime(now, t.CheckedAt) + ", and has not changed since.", "", false
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
func notifiedWords(t hub.Topic, n tally, changes []change, now time.Time) string {
	if t.Version == 0 || t.ChangedAt.IsZero() {
		return ""
	}
	ago := shell.RelativeTime(now, t.ChangedAt)
	if len(changes) == 0 || changes[0].Version != t.Version {
		if n.Live == 0 {
			return "It last changed " + ago + ", and it has no subscribers."
		}
		return "It last changed " + ago + "; " + shell.FormatQuantity(n.Live, "subscriber is", "subscribers are") + " up to date or being notified."
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
		return "The only subscriber was notified in " + shell.FormatDuration(c.Took) + ", " + ago + "."
	case failed == 0:
		return "All " + shell.FormatCount(c.Notified) + " subscribers were notified in " + shell.FormatDuration(c.Took) + ", " + ago + "."
	case c.Notified == 0 && all == 1:
		return "The only subscriber could not be notified of the change found " + ago + "; the hub retries."
	case c.Notified == 0:
		return "None of the " + shell.FormatCount(all) + " subscribers could be notified of the change found " + ago + "; the hub retries."
	}
	again := "they are being retried."
	if failed == 1 {
		again = "it is being retried."
	}
	return shell.FormatCount(c.Notified) + " of " + shell.FormatCount(all) + " subscribers were notified in " + shell.FormatDuration(c.Took) + ", " + ago + "; " + shell.FormatCount(failed) + " could not be, and " + again
}

func unknownWords(events []event.Event) (lead, then string) {
	for _, e := range events {
		if e.Kind == event.KindPing {
			return "This feed has no subscribers, so the last ping notified nobody.", "The next ping notifies the subscribers that register until then."
		}
	}
	return "This feed has no subscribers any more.", "Its past events are still in the log."
}
