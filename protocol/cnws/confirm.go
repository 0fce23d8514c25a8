package cnws

import "time"

// MaxSilence is the time without a notification of a resource after which the subscriber confirms
// the subscription.
//
// spec:cnws-2003#confirm-after-30-days
const MaxSilence = 30 * 24 * time.Hour

// ConfirmAt returns when a subscriber should confirm a subscription by subscribing again. The
// confirmation is due if the result is not after now. lastReceived is the time of the resource's
// last notification and lastConfirmed the time of the publisher's last positive result; the zero
// time means never. outage means that the subscriber was unreachable since then, so it may have
// missed notifications, and publishers may have removed its subscriptions.
//
// A time in the future, from a clock that was set back, counts as now.
//
// spec:cnws-2003#confirm-after-outage
func ConfirmAt(now, lastReceived, lastConfirmed time.Time, outage bool) time.Time {
	last := lastReceived
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

// Outage reports whether a subscriber that starts at now and was last running at alive must confirm
// its subscriptions. Publishers retry for at least a day, but a proxy that responds with an error
// for the stopped subscriber ends a subscription at once. patience is the maximum downtime without
// a confirmation. It should be short; zero means five minutes, the duration of a restart.
func Outage(alive, now time.Time, patience time.Duration) bool {
	if patience <= 0 {
		patience = 5 * time.Minute
	}
	return alive.IsZero() || now.Sub(alive) > patience
}
