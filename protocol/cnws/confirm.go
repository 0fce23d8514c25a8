package cnws

import "time"

// MaxSilence is how long a publisher may say nothing about a resource before its
// subscriber asks again.
//
// spec:cnws-2003#confirm-after-30-days
const MaxSilence = 30 * 24 * time.Hour

// ConfirmAt is when a subscriber should subscribe again to what he is subscribed to;
// it is due when that is not after now. lastHeard is the last notification of this
// resource, lastConfirmed the last time that the publisher answered true; the zero
// time is never. outage means that notifications may have been missed since then,
// because the subscriber could not be reached: its publishers may have given it up.
//
// A time in the future is a clock that was set back, and counts as now.
//
// spec:cnws-2003#confirm-after-outage
func ConfirmAt(now, lastHeard, lastConfirmed time.Time, outage bool) time.Time {
	last := lastHeard
	if lastConfirmed.After(last) {
		last = lastConfirmed
	}
	if outage || last.IsZero() {
		return now
	}
	if last.After(now) {
		last = now
	}
	return last.Add(MaxSilence)
}

// Outage reports whether a subscriber that was last known to be up at alive has
// missed enough to confirm its subscriptions when it comes up at now. Publishers
// try for a day at least, but one that got an error from a proxy in front of the
// subscriber has given it up at once; so patience should be short. Zero means five
// minutes, the time of a restart.
func Outage(alive, now time.Time, patience time.Duration) bool {
	if patience <= 0 {
		patience = 5 * time.Minute
	}
	return alive.IsZero() || now.Sub(alive) > patience
}
