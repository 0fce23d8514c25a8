package polling

import (
	"net/http"
	"strings"
	"time"
)

// Outcome is the result of a check, and states what the caller must do.
type Outcome string

// The outcomes of a check.
const (
	Changed    Outcome = "changed"    // the caller must store the items
	Unchanged  Outcome = "unchanged"  // the caller must not change any item
	Redirected Outcome = "redirected" // the caller did not follow a redirect document; see Answer.Follow
	Doubtful   Outcome = "doubtful"   // a 304 may refer to another document: repeat the check without validators
	Failed     Outcome = "failed"
	Postponed  Outcome = "postponed" // a local problem prevented the check; it does not count as a failure
	IsGone     Outcome = "gone"      // there are no further checks
)

// Decision is the consequence of a check.
type Decision struct {
	Outcome Outcome   `json:"outcome"`
	At      time.Time `json:"at,omitzero"`      // time of the next check; zero: none, the feed is gone
	Reason  string    `json:"reason,omitempty"` // the reason for At, or why the feed is gone; for people, with times in the time zone of now
	// Considered lists every rule that was applied. The rule that decided is first.
	Considered []Consideration `json:"considered,omitempty"`
	Failure    string          `json:"failure,omitempty"` // why the check failed, for people; "": it did not fail
	MovedTo    string          `json:"movedTo,omitempty"` // new value of State.URL; "": unchanged
	Gone       bool            `json:"gone,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"` // further remarks, for people
	Wait       *Wait           `json:"wait,omitempty"`     // a Retry-After of this answer, to pass to Host.Add; nil: none
	// HostWait is the time until which no feed of this host may be requested. It is set if this
	// answer and the waits in Options.Host agree. Zero: there is no such wait.
	HostWait time.Time `json:"hostWait,omitzero"`
}

func (d *Decision) warn(text string) { d.Warnings = append(d.Warnings, text) }

// String returns a sentence for people: "next check 14:20: max-age 12 h seen 02:20; ttl 60 and
// skipHours considered". Times are in the zone of At.
func (d Decision) String() string { return d.Sentence(d.At) }

// Sentence is like String, but names the day if At is not on the same day as now.
func (d Decision) Sentence(now time.Time) string {
	if d.At.IsZero() {
		return "no further check: " + d.Reason
	}
	return "next check " + clock(d.At, now) + ": " + d.Reason
}

// Options are the options of a decision. The zero value means no jitter and no shared host
// state.
type Options struct {
	// Jitter is a random fraction from 0 to 1. It delays checks by up to a tenth of the wait.
	Jitter float64
	// Host is the state shared by the feeds of one host.
	Host Host
}

// Next applies the answer of a check at now and decides when the next check is due. It does
// not change s.
func Next(s State, a Answer, now time.Time, o Options) (State, Decision) {
	before := s
	s = s.own()
	d := Decision{}
	v := a.verdict(s)
	if a.Cause == Delivered {
		v = verdict{outcome: Changed}
	}
	if v.outcome == IsGone && s.unproven() {
		v = failed(ErrStatus, "%s", v.text)
	}
	d.Outcome = v.outcome
	if v.outcome != Postponed && a.Cause != Delivered {
		s.CheckedAt = stamp(now)
		if a.polled(before, now) {
			s.PolledAt = s.CheckedAt
		}
	}
	if Downgraded(a.Hops) {
		d.warn("a redirect leads from https to http")
	}
	s.take(v, a, before, now, &d)
	if v.outcome != Postponed && a.Cause != Delivered {
		s.patience(a, now, &d, o)
	}
	base := s.base(now)
	if v.outcome == Postponed || v.outcome == Doubtful {
		base = now
	}
	p := newPlan(s, base, now, o)
	p.outcome = v
	p.decide()
	if a.Cause == Pushed || a.Cause == Delivered || a.Cause == FollowUp {
		p.afterPush(before, base, now)
	}
	d.At, d.Reason, d.Considered = p.at, p.reason(), p.list
	d.Gone = s.Gone != nil
	s.NextAt, s.Reason = stamp(d.At), d.Reason
	if d.Gone {
		s.NextAt = time.Time{}
	}
	s.leaveOpen(v, a, now, o)
	return s, d
}

// take changes s according to the verdict on an answer.
func (s *State) take(v verdict, a Answer, before State, now time.Time, d *Decision) {
	switch v.outcome {
	case Changed, Unchanged:
		if a.Cause != Delivered {
			s.accept(v, a, before, now)
			s.follow(a, now, d)
		}
		if !before.ReadAt.IsZero() {
			s.Push.count(a.Cause, v.outcome == Changed, before.CheckedAt, now)
		}
		if v.outcome == Changed {
			s.ChangedAt = stamp(now)
		}
	case Redirected:
		// The validators of a redirect document are not stored: a later 304 would confirm the
		// redirect document, not its target.
		s.heal(now)
		s.follow(a, now, d)
	case Doubtful:
		s.heal(now)
		s.forgetValidators()
		d.warn(v.text)
	case Failed:
		s.fail(v, a, now)
		d.Failure = v.text
	case IsGone:
		// spec:feedstate-2007#gone-410
		s.Failures, s.Limited, s.Failure, s.Since, s.Candidate = 0, 0, nil, time.Time{}, nil
		s.Gone = &Gone{At: stamp(now), Reason: v.text}
		d.Failure = v.text
	}
}

// accept updates s after a feed was read or confirmed as unchanged.
func (s *State) accept(v verdict, a Answer, before State, now time.Time) {
	s.heal(now)
	s.HintsAt = stamp(now)
	fresh, reported := cacheOf(a.Header, now)
	if a.Status == http.StatusNotModified {
		// spec:rfc9111#revalidation
		s.Validators = s.Validators.confirm(a.Header)
		s.notModified(a.Cause, before.tag())
		switch {
		case reported:
			s.Cache = fresh
		case s.Cache.From == "max-age":
			s.Cache.Seen = stamp(now) // Expires is a fixed date, so Seen must stay with it
		}
		return
	}
	s.Cache = Cache{}
	if reported {
		s.Cache = fresh
	}
	// spec:feedstate-2007#validators-stored
	s.Validators = validatorsOf(a.Header, a.from(*s))
	s.fullRead(a, before, now)
	if a.Hints != nil {
		s.Hints = kept(*a.Hints)
	}
	if v.outcome == Changed {
		s.Hash = a.Hash
		s.observe(a.Dates, now)
	}
	if len(a.Hops) == 0 {
		s.prove()
	}
}

// patience applies a Retry-After, which any response may contain.
func (s *State) patience(a Answer, now time.Time, d *Decision, o Options) {
	if w := retryAfter(a.Header, now); w != nil {
		w.URL, w.Status = s.URL, a.Status
		s.Wait = w
		d.Wait = w
	} else if s.Failure == nil || s.Wait != nil && !s.Wait.Until.After(now) {
		s.Wait = nil
	}
	if s.Gone != nil {
		s.Wait = nil
	}
	d.HostWait = o.Host.Add(d.Wait, now).Until(now)
}

// base returns the time from which waits count: the last check that no push caused. A push must
// never delay a poll: otherwise a feed with a push every few minutes would never be polled, and
// changes that its hub misses would not be found. After a failure, base is the last check of any
// cause.
func (s State) base(now time.Time) time.Time {
	at := s.PolledAt
	if at.IsZero() || s.Failure != nil {
		at = s.CheckedAt
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// afterPush keeps the planned time if a push does not change the plan, so that the jitter is not
// drawn again.
func (p *plan) afterPush(before State, base, now time.Time) {
	if p.reason() == before.Reason && base.Equal(before.base(now)) && before.NextAt.Sub(now) <= before.furthest() && !p.skip.Within(before.NextAt) {
		p.at = before.NextAt
	}
}

// Plan decides again without an answer, after another input has changed: the user's interval, a hub
// subscription, or the waits of the host. Waits count from the last check that no push caused.
func Plan(s State, now time.Time, o Options) (State, Decision) {
	s = s.own()
	d, p := plannedOf(s, now, o)
	if d.Gone {
		return s, d
	}
	if p != nil && p.at.Before(now) {
		p.at = stamp(now)
		p.leaveSkipped()
		d.At, d.Reason, d.Considered = p.at, p.reason(), p.list
	}
	s.NextAt, s.Reason = stamp(d.At), d.Reason
	return s, d
}

// Explain states when the next check is due, and why, as the last [Next] or [Plan] decided. At and
// Reason are State.NextAt and State.Reason; the deciding consideration is the first one in Reason.
// If the host has requested a later wait since then, that wait decides.
func Explain(s State, now time.Time, o Options) Decision {
	d, p := plannedOf(s, now, Options{})
	if d.Gone || p == nil || s.NextAt.IsZero() {
		return d
	}
	if d.Reason != s.Reason {
		d.Considered = p.asStored()
	}
	d.At, d.Reason = s.NextAt, s.Reason
	if until := o.Host.Until(now); until.After(d.At) {
		p = &plan{s: s, base: now, at: d.At, list: d.Considered}
		p.overtake(Consideration{Rule: RuleHost, Text: hostText, Until: until, firm: true})
		p.order()
		d.At, d.Reason, d.Considered = p.at, p.reason(), p.list
	}
	return d
}

// asStored returns the considerations of a plan that differs from the stored one: either an overdue
// check was moved, or the inputs have changed since. The current inputs apply from the next check
// on.
func (p *plan) asStored() []Consideration {
	if c := p.find(RuleSkip); c != nil && c.Effect != Ignored && p.list[0].Effect == Decides &&
		strings.HasPrefix(p.s.Reason, p.list[0].Text+", ") && strings.Contains(p.s.Reason, "moved out of "+c.Text) {
		c.Effect, c.Until = Moves, p.s.NextAt
		p.order()
		return p.list
	}
	text, _, _ := strings.Cut(p.s.Reason, "; ")
	out := []Consideration{{Rule: RulePlanned, Text: text, Until: p.s.NextAt, Effect: Decides}}
	for _, c := range p.list {
		switch c.Effect {
		case Decides, Allows, Moves:
			c.Effect = Overrode
		case Bounds:
			continue
		}
		out = append(out, c)
	}
	return out
}

// plannedOf returns the plan that follows from the state alone, or nil if the state does not
// determine a plan.
func plannedOf(s State, now time.Time, o Options) (Decision, *plan) {
	d := Decision{Outcome: Unchanged, Gone: s.Gone != nil}
	if s.Failure != nil {
		d.Outcome, d.Failure = Failed, s.Failure.Text
	}
	if d.Gone {
		d.Outcome, d.Failure = IsGone, s.Gone.Reason
	}
	if s.CheckedAt.IsZero() && !d.Gone {
		d.At, d.Reason = now, "it has never been read"
		return d, nil
	}
	p := newPlan(s, s.base(now), now, o)
	p.decide()
	d.At, d.Reason, d.Considered = p.at, p.reason(), p.list
	return d, p
}
