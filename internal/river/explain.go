package river

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/fetch"
)

// Explanation states why the next check of a source is planned for its time.
type Explanation struct {
	Source   Source
	Next     NextCheck        // time and reason of the next check, equal to those in all lists
	Sentence string           // Next as a sentence: "next check at 14:20 UTC: max-age 12 h seen 02:20; ttl 60 and skipHours considered"
	Decision polling.Decision // the plan, with all rules that were considered
	Checks   []Check          // last KeptChecks checks, newest first
	Push     []PushState
	Trust    string   // one sentence about how reliable the hubs are; "": the feed has no hubs
	Notes    []string // sentences about unusual conditions: moved, gone, failing, insecure, truncated …
}

// Explain returns the explanation of a source. fault.NotFound: the source does not exist.
func (r *River) Explain(ctx context.Context, id int64) (Explanation, error) {
	r.Init()
	s, err := r.Store.Source(ctx, id)
	if err != nil {
		return Explanation{}, err
	}
	out := Explanation{Source: s}
	if out.Checks, err = r.Store.Checks(ctx, id); err != nil {
		return Explanation{}, err
	}
	key := polling.HostOf(s.State.URL)
	known, err := r.Store.Hosts(ctx, []string{key})
	if err != nil {
		return Explanation{}, err
	}
	now := r.now()
	// Explain describes the stored plan. Later responses of hubs affect only the plan of the next
	// check.
	out.Decision = polling.Explain(s.State, now, polling.Options{Host: known[key]})
	out.Next = nextCheck(&s, out.Decision, now)
	out.Sentence = out.Next.Sentence(now)
	out.Decision.Considered = agreeing(out.Decision.Considered, &s, out.Next)
	planned := s.State.Push
	if out.Push, err = (checker{r}).updatePushState(ctx, &s); err != nil {
		r.logError(ctx, "cannot read the state of a feed's hubs", err) // the explanation is still useful without the state of the hubs
	}
	out.Source.State.Push = s.State.Push
	for i := range out.Push {
		p := &out.Push[i]
		if p.Own { // pings for this hub arrive at this server itself, which stores their time in the source
			p.PushedAt, p.Since = s.State.Push.At, date.Later(p.Since, s.CreatedAt)
		}
		p.PushedAt = date.Later(p.PushedAt, lastPush(p, out.Checks))
	}
	out.Trust = trustOf(&s, planned.Live(s.State.PolledAt), out.Push, now)
	out.Notes = notesOf(&s, out.Checks, now)
	return out, nil
}

// agreeing returns the considerations of a plan, so that the decisive one ends at the time of the
// next check. The planned time can differ from the stored time because of jitter, the pace of the
// host, or a follow-up check.
func agreeing(list []polling.Consideration, s *Source, next NextCheck) []polling.Consideration {
	if next.State != NextPlanned {
		return list
	}
	list = slices.Clone(list)
	followUp := !s.State.FollowUpAt.IsZero() && next.At.Before(s.State.NextAt)
	for i := range list {
		switch {
		case list[i].Effect != polling.Decides:
		case followUp:
			list[i].Effect = polling.Overrode
		default:
			list[i].Until = next.At
		}
	}
	if followUp {
		list = slices.Insert(list, 0, polling.Consideration{Rule: polling.RulePlanned, Text: "a follow-up, because " + followUpReason(s), Until: next.At, Effect: polling.Decides})
	}
	return list
}

// lastPush returns the time of the last check that a hub caused. A renewal of the subscription
// resets the time in the state of the hub, so this time comes from the stored checks.
func lastPush(p *PushState, checks []Check) time.Time {
	for i := range checks {
		c := &checks[i]
		pushed := c.Cause == polling.Pushed || c.Cause == polling.Delivered
		if pushed && c.Via != Away && (p.Own || strings.EqualFold(c.Via, "notify-"+p.Protocol)) {
			return c.At
		}
	}
	return time.Time{}
}

// trustOf returns a sentence that states how many changes the hubs announced, and how this
// affects the plan. planned is true if the current plan relies on push.
//
// spec:cloudburst#river-hub-trust
func trustOf(s *Source, planned bool, states []PushState, now time.Time) string {
	if len(s.PushEndpoints) == 0 {
		return ""
	}
	p := s.State.Push
	if p.Since.IsZero() {
		if slices.ContainsFunc(states, func(st PushState) bool { return st.State == "lost" }) {
			return "Its hubs no longer notify this server: it is polled as if there were none."
		}
		return "Its hubs have not confirmed a subscription yet: it is polled as if there were none."
	}
	if !p.Until.IsZero() && !p.Until.After(now) {
		return "The subscription at its hubs has ended: it is polled as if there were none."
	}
	all := p.Announced + p.Missed
	if all == 0 {
		for i := range states {
			if !states[i].PushedAt.IsZero() {
				return "Its hubs have confirmed the subscription, but no push has brought a change yet: until one does, it is polled as if there were none."
			}
		}
		return "Its hubs have confirmed the subscription, and have announced nothing yet: until they do, it is polled as if there were none."
	}
	percent := p.Announced * 100 / all
	text := fmt.Sprintf("Its hubs announced %d of %d changes (%d %%)", p.Announced, all, percent)
	for i := range states {
		if states[i].Own && p.Missed == 0 {
			text = "This server is its hub, and missed no change"
		}
	}
	switch {
	case !p.Live(now):
		return text + ": that is below 90 %, so it is polled as if there were no hub."
	case !planned:
		return text + ": from the next check on it is polled once a day only."
	}
	return text + ": changes arrive by push, and it is polled once a day as a safety net."
}

// notesOf returns sentences about unusual conditions of a source, for its users.
func notesOf(s *Source, checks []Check, now time.Time) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	st := &s.State
	if st.Gone != nil {
		add("It has been gone since %s (%s). Its items stay; it can be revived.", date.Since(st.Gone.At, now), st.Gone.Reason)
	}
	if st.Failure != nil && st.Gone == nil {
		add("It could not be read since %s, %s: %s.", date.Since(st.Since, now), date.Times(st.Failures+st.Limited), st.Failure.Text)
		if st.Failure.Kind == polling.ErrNotFeed && strings.Contains(st.Failure.Text, "HTML") {
			add("The response looks like a page: the feed may have a new address, which the page may link to.")
		}
	}
	if st.Push.Pending && st.Gone == nil {
		add("A change was announced, and no check has read the feed since. The next check reads it in full.")
	}
	if n := len(st.Moves); n > 0 {
		m := st.Moves[n-1]
		add("It moved from %s to %s; that was %s (%s, seen at three checks or more), and can be undone.", fetch.Redact(m.From), fetch.Redact(m.To), date.When(m.At, now), m.Why)
	}
	if c := st.Candidate; c != nil {
		add("It seems to be moving to %s: seen at %d of %d checks, first %s.", fetch.Redact(c.To), c.Seen, polling.MoveSightings, date.When(c.First, now))
	}
	if len(checks) > 0 && polling.Downgraded(checks[0].Hops) {
		add("A redirect leads from https to http: others on the way can read and change it.")
	}
	if s.Private() && !s.maySendLogin() {
		add("Its login is no longer sent, because the feed has moved to another host.")
	}
	if s.About.Problem != "" {
		add("In its last document: %s", s.About.Problem)
	}
	if st.Hints.Complete || st.Hints.Expired || st.Hints.Archive {
		add("The feed declares that no more items will follow.")
	}
	return notes
}

// Known returns the topic and the push endpoints of a feed that the river has read, so that other
// packages need not fetch the feed. ok is false if the river knows neither.
func (r *River) Known(ctx context.Context, feed string) (topic string, endpoints []PushEndpoint, ok bool, err error) {
	r.Init()
	list, err := r.Store.SourcesAt(ctx, r.canonical(feed))
	if err != nil {
		return "", nil, false, err
	}
	for i := range list {
		if s := &list[i]; !s.Private() && !s.State.ReadAt.IsZero() {
			return s.Topic, s.PushEndpoints, true, nil
		}
	}
	return "", nil, false, nil
}
