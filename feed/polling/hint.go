package polling

import (
	"fmt"
	"strings"
	"time"

	"cloudburst/feed"
)

// Limits of the stored hints of one feed.
const (
	keptHint    = 64 // maximum bytes of a hint
	keptEntries = 48 // maximum number of entries of a list
)

// kept returns a small copy of hints that does not keep the document in memory.
func kept(h feed.Hints) feed.Hints {
	for _, s := range []*string{&h.TTL, &h.UpdatePeriod, &h.UpdateFrequency, &h.UpdateBase.Raw, &h.PodcastUpdates} {
		*s = keptText(*s)
	}
	h.SkipHours, h.SkipDays = keptList(h.SkipHours), keptList(h.SkipDays)
	h.UpdateBase.UTC = stamp(h.UpdateBase.UTC)
	if h.Schedule != nil {
		c := *h.Schedule
		c.StartDate, c.StopDate = keptText(c.StartDate), keptText(c.StopDate)
		for _, s := range []*feed.Span{&c.IntervalTime, &c.EarliestTime, &c.LatestTime} {
			*s = feed.Span{Day: keptText(s.Day), Hour: keptText(s.Hour), Min: keptText(s.Min), Sec: keptText(s.Sec), Zone: keptText(s.Zone)}
		}
		h.Schedule = &c
	}
	return h
}

func keptText(s string) string {
	if s = strings.TrimSpace(s); len(s) > keptHint {
		s = s[:keptHint]
	}
	return strings.Clone(strings.ToValidUTF8(s, ""))
}

func keptList(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), keptEntries)] {
		out = append(out, keptText(s))
	}
	return out
}

// hints adds the rules that follow from the hints of the feed and of HTTP.
func (p *plan) hints() {
	h := &p.s.Hints
	rhythm := p.ttl() // call every function, so that each hint is considered
	rhythm = p.syndication() || rhythm
	rhythm = p.schedule() || rhythm
	if h.PodcastUpdates != "" {
		p.ignore(RulePodcast, short(h.PodcastUpdates), "podcast:updateFrequency", "it is for people")
	}
	p.cache()
	switch {
	case h.Expired:
		p.after(RuleFinished, Longest, "expired", "the feed says that it is finished", false)
	case h.Complete:
		p.after(RuleFinished, Longest, "complete", "the podcast says that it is complete", false)
	case h.Archive:
		p.after(RuleFinished, Longest, "archive", "the feed is an archive, which does not change", false)
	}
	live := p.push(rhythm)
	if !rhythm && !live {
		p.byDefault()
	}
}

func (p *plan) ttl() bool {
	raw := p.s.Hints.TTL
	if raw == "" {
		return false
	}
	// spec:feedstate-2007#ttl
	d, problem := ParseTTL(raw)
	if problem != "" {
		p.ignore(RuleTTL, short(raw), "ttl "+short(raw), problem)
		return false
	}
	p.after(RuleTTL, d, short(raw), "ttl "+short(raw), true)
	return true
}

func (p *plan) syndication() bool {
	h := p.s.Hints
	// spec:feedstate-2007#syndication
	s, problem, ok := ParseSyndication(h)
	value := strings.TrimSpace(short(h.UpdatePeriod) + " " + short(h.UpdateFrequency))
	if !ok {
		if problem != "" {
			p.ignore(RuleSyndication, value, "sy:updatePeriod "+value, problem)
		}
		return false
	}
	text := "sy: every " + span(s.Every)
	at := s.next(p.base)
	if !s.Base.IsZero() {
		text += " from " + s.Base.Format("2006-01-02 15:04") + " GMT on"
		p.aligned = max(p.aligned, min(s.Every/10, 10*time.Minute))
	}
	p.add(Consideration{Rule: RuleSyndication, Value: value, Text: text, Until: stamp(at), Note: problem, firm: true})
	return true
}

func (p *plan) schedule() bool {
	c := p.s.Hints.Schedule
	if c == nil {
		return false
	}
	// spec:cdf-1997#schedule
	s, problem := ParseSchedule(c)
	if problem == "" && !s.Stop.IsZero() && !s.Stop.After(p.base) {
		problem = "it ended " + s.Stop.Format("2006-01-02")
	}
	if problem != "" {
		p.ignore(RuleSchedule, "", "SCHEDULE", problem)
		return false
	}
	at, length := s.next(p.base)
	p.aligned = max(p.aligned, length)
	p.add(Consideration{Rule: RuleSchedule, Text: "SCHEDULE every " + span(s.Every), Until: stamp(at), firm: true})
	return true
}

func (p *plan) cache() {
	c := p.s.Cache
	switch {
	case c.From == "":
	case c.From == "no-cache" || c.From == "no-store":
		p.add(Consideration{Rule: RuleCache, Value: c.From, Text: c.From, Until: p.base})
	case c.Problem != "":
		p.ignore(ruleOf(c), c.Value, c.From+" "+c.Value, c.Problem)
	default:
		until := c.Until()
		if until.IsZero() {
			until = p.base
		}
		text := c.From + " " + span(c.Fresh)
		if c.From == "expires" {
			text = "expires in " + span(c.Fresh)
		}
		text += " seen " + clock(c.Seen.In(p.seen.Location()), p.seen)
		p.add(Consideration{Rule: ruleOf(c), Value: c.Value, Text: text, Until: stamp(until), firm: true})
	}
}

func ruleOf(c Cache) Rule {
	if c.From == "expires" {
		return RuleExpires
	}
	return RuleMaxAge
}

// push adds the daily check of a feed that has push. The day counts from the last check that no
// push caused. If the lease of the subscription ends earlier, normal polling resumes then.
func (p *plan) push(rhythm bool) bool {
	push, known := p.s.Push, p.seen // seen is the time of the last check or push
	if push.At.After(known) {
		known = push.At
	}
	if !push.Live(known) {
		if push.Announced > 0 && !push.Since.IsZero() && (push.Until.IsZero() || push.Until.After(known)) {
			p.ignore(RulePush, "", "push", fmt.Sprintf("its hub pushed only %d of %d changes", push.Announced, push.Announced+push.Missed))
		}
		return false
	}
	polled := p.s.PolledAt
	if polled.IsZero() || polled.After(p.base) {
		polled = p.base
	}
	text, at := "push works, so this is the daily check", polled.Add(Longest)
	if !push.Until.IsZero() && push.Until.Before(at) {
		text, at = "push works until the lease ends", push.Until
		if !rhythm {
			p.byDefault()
		}
	}
	p.add(Consideration{Rule: RulePush, Text: text, Until: stamp(at)})
	return true
}

func (p *plan) byDefault() {
	// spec:feedstate-2007#default-hour
	d, text := p.s.defaultRhythm(p.base)
	p.after(RuleDefault, d, "", text, false)
}

// backOff adds the wait after failures, which is at least shortest.
func (p *plan) backOff(shortest time.Duration) {
	f, n := *p.s.Failure, p.s.Failures
	if f.Kind == ErrLimited {
		n = p.s.Limited
	}
	text := f.Text
	if n > 1 {
		text += fmt.Sprintf(", %d times in a row", n)
	}
	p.after(RuleBackOff, max(backOff(f, n), shortest), "", text, false)
}

// readSkip parses skipHours and skipDays for the plan.
func (p *plan) readSkip() {
	h := p.s.Hints
	if len(h.SkipHours) == 0 && len(h.SkipDays) == 0 {
		return
	}
	skip, problem := ParseSkip(h.SkipHours, h.SkipDays)
	name := "skipHours"
	switch {
	case len(h.SkipHours) == 0:
		name = "skipDays"
	case len(h.SkipDays) > 0:
		name = "skipHours and skipDays"
	}
	value := short(strings.Join(append(append([]string{}, h.SkipHours...), h.SkipDays...), " "))
	if skip.Empty() {
		p.ignore(RuleSkip, value, name, orElse(problem, "nothing in it"))
		return
	}
	p.skip = skip
	p.add(Consideration{Rule: RuleSkip, Value: value, Text: name + " (" + skip.String() + ")", Note: problem})
}
