package river

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
)

// NextCheck contains the time of the next check and its reason. All lists, pages, JSON responses
// and commands show the same value.
type NextCheck struct {
	State NextState
	At    time.Time // time of the check if State is NextPlanned; zero otherwise
	Why   string    // reason as a clause, with times in UTC; "": there is no reason to show
}

// NextState is the kind of a NextCheck.
type NextState int

// Values of NextCheck.State.
const (
	NextNever   NextState = iota // the source is not checked any more
	NextRunning                  // a check is running
	NextDue                      // the check starts when the host has a free slot
	NextPlanned
)

// String describes the check without its time: "next check" for NextPlanned.
func (n NextCheck) String() string {
	switch n.State {
	case NextNever:
		return "no further check"
	case NextRunning:
		return "being checked now"
	case NextDue:
		return "check due now"
	}
	return "next check"
}

// Sentence describes the check with its time and reason: "next check at 14:20 UTC: max-age 12 h".
func (n NextCheck) Sentence(now time.Time) string {
	s := n.String()
	if n.State == NextPlanned {
		s += " " + date.When(n.At, now)
	}
	if n.Why != "" {
		s += ": " + n.Why
	}
	return s
}

// hostsPerQuery is the maximum number of hosts in one query of their states.
const hostsPerQuery = 1000

// addNextChecks sets Followed.Next in each subscription of list.
func (r editor) addNextChecks(ctx context.Context, list []Followed) error {
	now, known := r.now(), map[string]polling.Host{}
	var hosts []string
	for i := range list {
		hosts = append(hosts, list[i].Source.Host())
	}
	slices.Sort(hosts)
	for batch := range slices.Chunk(slices.Compact(hosts), hostsPerQuery) {
		some, err := r.Store.Hosts(ctx, batch)
		if err != nil {
			return err
		}
		maps.Copy(known, some)
	}
	for i := range list {
		s := &list[i].Source
		list[i].Next = nextCheck(s, polling.Explain(s.State, now, polling.Options{Host: known[s.Host()]}), now)
	}
	return nil
}

// nextCheck returns the time and the reason of the next check of a source. d is its plan.
func nextCheck(s *Source, d polling.Decision, now time.Time) NextCheck {
	at := date.Later(s.NextAt, d.At) // if the host must wait, the plan is later than the stored time
	if d.At.Sub(s.NextAt) < time.Minute || s.NextAt.IsZero() || !s.State.FollowUpAt.IsZero() {
		at = s.NextAt
	}
	switch {
	case s.Readers == 0:
		return NextCheck{Why: "nobody follows the feed"}
	case s.State.Gone != nil, s.NextAt.IsZero() && s.PushedAt.IsZero():
		return NextCheck{Why: d.Reason}
	case s.Claim != 0 && s.NextAt.After(now):
		return NextCheck{State: NextRunning}
	case !s.PushedAt.IsZero() && s.PushedVia != Away:
		return NextCheck{State: NextDue, Why: "a change was announced " + date.When(s.PushedAt, now)}
	case !at.After(now):
		return NextCheck{State: NextDue, Why: joinClauses(d.Reason, "the feed is read when its host has a free slot")}
	case !s.State.FollowUpAt.IsZero() && s.State.FollowUpAt.Before(s.State.NextAt):
		return NextCheck{NextPlanned, at, "a follow-up that reads the feed in full, because " + followUpReason(s)}
	case s.NextAt.Sub(d.At) > time.Minute && afterSkipped(s):
		skip, _ := polling.ParseSkip(s.State.Hints.SkipHours, s.State.Hints.SkipDays) // the error is ignored: invalid values skip nothing, and the reason of the plan mentions them
		return NextCheck{NextPlanned, at, "it was due earlier, but the feed asks to skip " + skip.String() + "; " + d.Reason}
	case s.NextAt.Sub(d.At) > time.Minute:
		return NextCheck{NextPlanned, at, joinClauses("its host has many feeds here, which are read one after another", d.Reason)}
	}
	return NextCheck{NextPlanned, at, d.Reason}
}

func joinClauses(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// followUpReason returns why the river verifies an announced change once more.
func followUpReason(s *Source) string {
	if s.State.Evidence.Believed {
		return "its server answered 304 after a change was announced"
	}
	return "it had changed less than two seconds before it was read"
}

// afterSkipped reports whether the next check waits for the end of skipped hours or days.
func afterSkipped(s *Source) bool {
	before := s.NextAt.UTC().Truncate(time.Hour).Add(-time.Minute)
	return !s.State.Allowed(before, 0).Equal(before)
}
