package polling

import (
	"time"
)

// Refresh reports whether a user may have the feed read now. If not, from is the earliest possible
// time, and why is the reason.
func Refresh(s State, now time.Time) (ok bool, from time.Time, why string) {
	if s.Wait != nil && s.Wait.Until.After(now) && s.Wait.Until.Sub(now) <= LongestRetry {
		return false, s.Wait.Until, "its server sent Retry-After"
	}
	if from = s.CheckedAt.Add(RefreshInterval); from.After(now) && !s.CheckedAt.After(now) {
		return false, from, "it was read less than a minute ago"
	}
	return true, now, ""
}

// Revive restarts the checks of a feed that is gone or failing. The feed is due immediately, and
// all other data stays.
func Revive(s State, now time.Time) State {
	s.Gone, s.Failure, s.Since = nil, nil, time.Time{}
	s.Failures, s.Limited = 0, 0
	s.NextAt, s.Reason = stamp(now), "it was brought back by hand"
	return s
}
