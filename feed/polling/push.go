package polling

import "time"

// Push is the state of a feed's push subscriptions. The caller sets Since and Until when a hub
// confirms a subscription; [Next] sets the other fields.
type Push struct {
	Since     time.Time `json:"since,omitzero"`      // start of the subscription; zero: none
	Until     time.Time `json:"until,omitzero"`      // end of the lease; zero: no end
	At        time.Time `json:"at,omitzero"`         // time of the last announcement
	Announced int       `json:"announced,omitempty"` // number of changes that a hub announced
	Missed    int       `json:"missed,omitempty"`    // number of changes that a poll found first
	MissedAt  time.Time `json:"missedAt,omitzero"`   // time of the last missed change
	Pending   bool      `json:"pending,omitempty"`   // a change was announced, and no check has read the feed since
}

// trusted is the share of changes, in percent, that a hub must announce to be trusted.
const trusted = 90

// late is the maximum time after the poll that found a change within which an announcement still
// counts as in time.
const late = 10 * time.Minute

// Live reports whether push works: a subscription is active, it has delivered a change, and
// it missed at most a tenth of the changes.
func (p Push) Live(now time.Time) bool {
	if p.Since.IsZero() || p.Since.After(now) || !p.Until.IsZero() && !p.Until.After(now) {
		return false
	}
	return p.Announced > 0 && p.Announced*100 >= (p.Announced+p.Missed)*trusted
}

// count records one check with its cause. last is the time of the previous check; changed reports
// whether this check found a change.
func (p *Push) count(cause Cause, changed bool, last, now time.Time) {
	switch {
	case cause == FollowUp: // the check verifies an earlier announcement, so it does not count again
	case cause == Delivered, cause == Pushed && changed:
		p.Announced++
	case cause == Pushed && !p.MissedAt.IsZero() && now.Sub(p.MissedAt) < late && p.Missed > 0:
		// The announcement arrived shortly after the poll, so the change was not missed.
		p.Missed--
		p.Announced++
		p.MissedAt = time.Time{}
	case cause != Pushed && changed && !p.Since.IsZero() && p.Since.Before(last) && !p.At.After(last):
		p.Missed++
		p.MissedAt = stamp(now)
	}
	if cause == Pushed || cause == Delivered {
		p.At = stamp(now)
	}
	if p.Announced+p.Missed > 100 { // reduce the weight of old changes
		p.Announced, p.Missed = p.Announced/2, p.Missed/2
	}
}
