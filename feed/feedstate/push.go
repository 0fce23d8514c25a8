package feedstate

import "time"

// Push is the state of the push subscriptions of a feed. The owner sets Since and Until when
// a hub has confirmed a subscription; Next counts the rest.
type Push struct {
	Since     time.Time `json:"since,omitzero"` // subscribed; zero: not
	Until     time.Time `json:"until,omitzero"` // end of the lease; zero: none
	At        time.Time `json:"at,omitzero"`    // the last announcement
	Announced int       `json:"announced,omitempty"`
	Missed    int       `json:"missed,omitempty"` // changes that a poll found first
	MissedAt  time.Time `json:"missedAt,omitzero"`
	Pending   bool      `json:"pending,omitempty"` // a change was announced, and no check has read the feed since
}

// trusted is the part of the changes that a hub must have announced, in percent.
const trusted = 90

// late is by how much an announcement may come after the poll that found the change,
// and still be no miss.
const late = 10 * time.Minute

// Live reports whether push works: a subscription is active, it has delivered a change, and
// it missed at most a tenth of the changes.
func (p Push) Live(now time.Time) bool {
	if p.Since.IsZero() || p.Since.After(now) || !p.Until.IsZero() && !p.Until.After(now) {
		return false
	}
	return p.Announced > 0 && p.Announced*100 >= (p.Announced+p.Missed)*trusted
}

// count takes in one check: it was made for cause, the one before it was at last, and
// it found a change or not.
func (p *Push) count(cause Cause, changed bool, last, now time.Time) {
	switch {
	case cause == FollowUp: // it verifies what was announced before
	case cause == Delivered, cause == Pushed && changed:
		p.Announced++
	case cause == Pushed && !p.MissedAt.IsZero() && now.Sub(p.MissedAt) < late && p.Missed > 0:
		// The poll was only a little quicker.
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
	if p.Announced+p.Missed > 100 { // what was long ago counts less
		p.Announced, p.Missed = p.Announced/2, p.Missed/2
	}
}
