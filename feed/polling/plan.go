package polling

import (
	"slices"
	"time"

	"cloudburst/internal/date"
)

// Rule names an input of a decision.
type Rule string

// The rules.
const (
	RuleTTL          Rule = "ttl"
	RuleSkip         Rule = "skipHours" // skipHours and skipDays
	RuleSyndication  Rule = "sy:updatePeriod"
	RuleSchedule     Rule = "schedule"
	RulePodcast      Rule = "podcast:updateFrequency"
	RuleMaxAge       Rule = "max-age"
	RuleExpires      Rule = "expires"
	RuleCache        Rule = "cache-control" // no-cache or no-store: the response is stale immediately
	RuleRetryAfter   Rule = "retry-after"
	RuleHost         Rule = "host"
	RuleBackOff      Rule = "back-off"
	RuleUserInterval Rule = "own-interval"
	RulePush         Rule = "push"
	RuleFinished     Rule = "finished" // the feed declares that it is expired, complete or an archive
	RuleDefault      Rule = "default"
	RuleRepeat       Rule = "again"   // the last answer was doubtful, or a local problem prevented the last check
	RulePlanned      Rule = "planned" // an earlier decision, whose inputs no longer apply
	RuleShortest     Rule = "shortest"
	RuleLongest      Rule = "longest"
)

// Effect is the effect of a consideration on the decision.
type Effect string

// The effects.
const (
	Decides  Effect = "decides"  // gives the latest time, and therefore decides
	Allows   Effect = "allows"   // would permit an earlier check
	Moves    Effect = "moves"    // delayed the time that another rule gave
	Bounds   Effect = "bounds"   // limited the time that another rule gave
	Ignored  Effect = "ignored"  // has no valid value; Note states the problem
	Overrode Effect = "overrode" // a stronger rule took its place
)

// Consideration is one rule that was applied in a decision.
type Consideration struct {
	Rule   Rule      `json:"rule"`
	Value  string    `json:"value,omitempty"` // the original text of the value
	Text   string    `json:"text"`            // description for people
	Until  time.Time `json:"until,omitzero"`  // time before which there is no check; zero: none
	Effect Effect    `json:"effect"`
	Note   string    `json:"note,omitempty"` // problem with the value, for people
	firm   bool      // jitter must not make the check earlier than Until
}

// plan is a decision in progress.
type plan struct {
	s       State
	base    time.Time // time from which waits count
	seen    time.Time // time of the last check, for texts
	o       Options
	outcome verdict
	skip    Skip

	at             time.Time
	limit          time.Duration // maximum wait after base
	aligned        time.Duration // minimum period for spreading checks, if many feeds are due at the same moment
	requestedUntil time.Time     // end of the wait that a server requested
	list           []Consideration
}

func newPlan(s State, base, now time.Time, o Options) *plan {
	seen := now
	if !s.CheckedAt.IsZero() && !s.CheckedAt.After(now) {
		seen = s.CheckedAt.In(now.Location())
	}
	return &plan{s: s, base: base, seen: seen, o: o, limit: Longest}
}

func (p *plan) add(c Consideration) {
	if c.Effect == "" {
		c.Effect = Allows
	}
	p.list = append(p.list, c)
}

// after adds a wait that counts from the last check.
func (p *plan) after(rule Rule, d time.Duration, value, text string, firm bool) {
	p.add(Consideration{Rule: rule, Value: value, Text: text, Until: stamp(p.base.Add(d)), firm: firm})
}

func (p *plan) ignore(rule Rule, value, text, note string) {
	p.add(Consideration{Rule: rule, Value: value, Text: text, Effect: Ignored, Note: note})
}

// decide computes the time of the check and the list of considerations.
func (p *plan) decide() {
	switch {
	case p.s.Gone != nil:
		return
	case p.s.Interval > 0:
		p.own()
		return
	case p.outcome.outcome == Postponed:
		p.after(RuleRepeat, 0, "", p.outcome.text, false)
	case p.outcome.outcome == Doubtful:
		p.after(RuleRepeat, 0, "", "once more without validators", false)
	case p.s.Failure != nil:
		p.backOff(0)
	default:
		p.hints()
	}
	p.readSkip()
	first := p.latest()
	if first == nil || p.at.Before(p.base.Add(Shortest)) {
		p.raise(p.base.Add(Shortest))
	}
	p.cut(p.base.Add(Longest))
	p.waits()
	p.skipOver()
	p.spread()
	p.order()
}

// own applies the user's interval. It overrides hints and bounds. It does not override
// skipHours, skipDays, back-off after failures, or a requested wait.
func (p *plan) own() {
	d := ownInterval(p.s.Interval)
	if p.s.Failure != nil {
		p.backOff(d)
	} else {
		p.hints()
		for i := range p.list {
			if p.list[i].Effect == Allows {
				p.list[i].Effect = Overrode
			}
		}
	}
	p.readSkip()
	p.after(RuleUserInterval, d, "", "the user's own interval of "+span(d), true)
	if p.s.Failure == nil && (p.outcome.outcome == Postponed || p.outcome.outcome == Doubtful) {
		p.list[len(p.list)-1].Until = stamp(p.base.Add(min(d, Shortest)))
	}
	p.latest()
	p.waits()
	p.leaveSkipped()
	p.order()
}

// leaveSkipped delays a check until the skipped time ends, whatever the maximum wait.
func (p *plan) leaveSkipped() {
	at := p.skip.leave(p.at, p.o.Jitter)
	if p.skip.Empty() || at.Equal(p.at) {
		return
	}
	c := p.find(RuleSkip)
	c.Effect, c.Until, p.at = Moves, stamp(p.skip.After(p.at)), at
}

func ownInterval(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return min(max(d, ShortestUserInterval), LongestUserInterval)
}

// latest returns the consideration with the latest time, and marks it as the one that decides.
func (p *plan) latest() *Consideration {
	at := -1
	for i, c := range p.list {
		if c.Effect == Decides {
			p.list[i].Effect = Allows
		}
		if (c.Effect == Allows || c.Effect == Decides) && !c.Until.IsZero() && (at < 0 || c.Until.After(p.list[at].Until)) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	c := &p.list[at]
	c.Effect = Decides
	p.at = c.Until
	return c
}

func (p *plan) raise(t time.Time) {
	p.at = stamp(t)
	p.add(Consideration{Rule: RuleShortest, Text: span(Shortest) + " is the shortest wait", Until: p.at, Effect: Bounds})
}

func (p *plan) cut(t time.Time) {
	if !p.at.After(t) {
		return
	}
	p.at = stamp(t)
	p.add(Consideration{Rule: RuleLongest, Text: span(t.Sub(p.base)) + " is the longest wait", Until: p.at, Effect: Bounds})
}

const hostText = "its host asked several feeds to wait"

// waits adds the waits that a server requested explicitly. Their limit is longer than that of
// hints.
func (p *plan) waits() {
	if w := p.s.Wait; w != nil && w.Until.After(p.base) {
		c := Consideration{Rule: RuleRetryAfter, Value: w.Value, Text: "Retry-After " + w.Value, Until: date.Earlier(w.Until, p.base.Add(LongestRetry)), firm: true}
		if w.Status != 200 && w.Status != 0 {
			c.Text += " with " + statusText(w.Status, "")
		}
		p.overtake(c)
	}
	if at := p.o.Host.Add(p.s.Wait, p.base).Until(p.base); !at.IsZero() {
		p.overtake(Consideration{Rule: RuleHost, Text: hostText, Until: date.Earlier(at, p.base.Add(LongestRetry)), firm: true})
	}
}

// overtake adds c, which decides if it is later than the time decided before.
func (p *plan) overtake(c Consideration) {
	c.Until = stamp(c.Until)
	c.Effect = Allows
	if c.Until.After(p.requestedUntil) {
		p.requestedUntil = c.Until
	}
	if c.Until.After(p.at) {
		for i := range p.list {
			if e := &p.list[i].Effect; *e == Decides {
				*e = Allows
			}
		}
		p.list = slices.DeleteFunc(p.list, func(c Consideration) bool { return c.Effect == Bounds })
		p.at, p.limit, c.Effect = c.Until, LongestRetry, Decides
	}
	p.list = append(p.list, c)
}

// skipOver moves a check out of the skipped hours and days.
func (p *plan) skipOver() {
	if p.skip.Empty() || !p.skip.Within(p.at) {
		return
	}
	c := p.find(RuleSkip)
	end := p.base.Add(p.limit)
	at := p.skip.After(p.at)
	c.Effect, c.Until = Moves, stamp(at)
	if !at.After(end) {
		p.at, p.aligned = stamp(at), max(p.aligned, skippedSpread)
		return
	}
	// A check that is slightly too early is better than one that is much later. But it must never
	// be in skipped time, so skipped time is added to the longest wait.
	earliest := p.base.Add(p.limit / 2)
	if p.requestedUntil.After(earliest) {
		earliest = p.requestedUntil
	}
	if at, ok := p.skip.before(end, earliest); ok {
		p.at, c.Until, p.aligned = stamp(at), stamp(at), max(p.aligned, skippedSpread)
		return
	}
	p.at, p.aligned = stamp(at), max(p.aligned, skippedSpread)
	p.limit = at.Sub(p.base) + max(p.limit/10, p.aligned)
	c.Note = "beyond the usual longest wait"
}

// spread delays the check by jitter. The check never becomes earlier than a hint allows, and never
// moves into skipped hours.
func (p *plan) spread() {
	wait, end := p.at.Sub(p.base), p.base.Add(p.limit)
	room := max(wait/10, p.aligned)
	if c := p.decider(); c != nil && !c.firm && p.at.Add(room).After(end) {
		// No hint concerns this time, so the check may also be a little earlier.
		at := p.at.Add(-scale(room, p.o.Jitter))
		if !p.skip.Within(at) && !at.Before(p.base.Add(Shortest)) && !at.Before(p.promised()) {
			p.at = stamp(at)
		}
		return
	}
	room = min(room, end.Sub(p.at))
	if free := p.skip.freeUntil(p.at, room+time.Second); free < room+time.Second {
		room = free - time.Second
	}
	if room > 0 {
		p.at = stamp(p.at.Add(scale(room, p.o.Jitter)))
	}
}

// promised returns the latest time among the considerations that jitter must not make earlier.
func (p *plan) promised() (t time.Time) {
	for _, c := range p.list {
		if c.firm && c.Effect == Allows && c.Until.After(t) {
			t = c.Until
		}
	}
	return t
}

func (p *plan) decider() *Consideration {
	for i := range p.list {
		if p.list[i].Effect == Decides {
			return &p.list[i]
		}
	}
	return nil
}

func (p *plan) find(r Rule) *Consideration {
	for i := range p.list {
		if p.list[i].Rule == r {
			return &p.list[i]
		}
	}
	return nil
}

// order moves the consideration that decided to the front.
func (p *plan) order() {
	slices.SortStableFunc(p.list, func(a, b Consideration) int { return rank(a.Effect) - rank(b.Effect) })
}

func rank(e Effect) int {
	switch e {
	case Decides:
		return 0
	case Moves, Bounds:
		return 1
	case Allows:
		return 2
	case Overrode:
		return 3
	}
	return 4
}
