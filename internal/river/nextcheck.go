package river

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

// NextCheck is the time of the next check with its reason: the same value for all lists, pages,
// JSON and commands.
type NextCheck struct {
	State NextState
	At    time.Time // time of the check for NextPlanned; zero otherwise
	Why   string    // one clause, with times in UTC; "": no reason
}

// NextState is the kind of a NextCheck.
type NextState int

// The kinds of a NextCheck.
const (
	NextNever   NextState = iota // the source is not checked any more
	NextRunning                  // a check is running
	NextDue                      // the check starts as soon as the host has a free slot
	NextPlanned
)

// String is the check in words, without its time: "next check" for NextPlanned.
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

// Sentence is the check with its time and its reason: "next check at 14:20 UTC: max-age 12 h".
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

// hostsPerQuery limits the hosts in one query of their states.
const hostsPerQuery = 1000

// addNextChecks sets the next check of each subscription.
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

// nextCheck returns when the next check of a source is and why. d is the plan of the source.
func nextCheck(s *Source, d polling.Decision, now time.Time) NextCheck {
	at := date.Later(s.NextAt, d.At) // a wait of the host delays the check beyond the stored time
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
		skip, _ := polling.ParseSkip(s.State.Hints.SkipHours, s.State.Hints.SkipDays) // invalid values have no effect here; the reason names them
		return NextCheck{NextPlanned, at, "it was due earlier, but the feed asks to skip " + skip.String() + "; " + d.Reason}
	case s.NextAt.Sub(d.At) > time.Minute:
		return NextCheck{NextPlanned, at, joinClauses("its host has many feeds here, which are read one after another", d.Reason)}
	}
	return NextCheck{NextPlanned, at, d.Reason}
}

func joinClauses(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// followUpReason returns why an announced change is verified once more.
func followUpReason(s *Source) string {
	if s.State.Evidence.Believed {
		return "its server answered 304 after a change was announced"
	}
	return "it had changed less than two seconds before it was read"
}

// afterSkipped reports whether a source waits for the end of skipped hours or days.
func afterSkipped(s *Source) bool {
	before := s.NextAt.UTC().Truncate(time.Hour).Add(-time.Minute)
	return !s.State.Allowed(before, 0).Equal(before)
}

// CheckSoon makes followed sources due now, because their user requests it. Sources that are gone,
// that a check is reading, or that may not be read again yet (see Refresh) stay unchanged. It returns
// how many become due. Sources that the user does not follow are skipped.
func (r *River) CheckSoon(ctx context.Context, user string, sources []int64) (due int, err error) {
	r.Init()
	mine, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return 0, err
	}
	return checkSoon(ctx, r, slices.DeleteFunc(slices.Clone(sources), func(id int64) bool { return !mine[id] }))
}

// CheckAllSoon is CheckSoon for all sources that the user follows. It returns their number too.
func (r *River) CheckAllSoon(ctx context.Context, user string) (due, all int, err error) {
	r.Init()
	mine, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return 0, 0, err
	}
	due, err = checkSoon(ctx, r, slices.Collect(maps.Keys(mine)))
	return due, len(mine), err
}

// dueAtOnce is the number of sources that checkSoon changes at the same time, because the stores
// combine concurrent writes.
const dueAtOnce = 16

func checkSoon(ctx context.Context, r *River, sources []int64) (int, error) {
	var next, due atomic.Int64
	errs := make([]error, min(dueAtOnce, len(sources)))
	var group sync.WaitGroup
	for w := range errs {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(sources)) && errs[w] == nil; i = next.Add(1) - 1 {
				ok, err := makeDue(ctx, r, sources[i])
				if errs[w] = err; ok {
					due.Add(1)
				}
			}
		})
	}
	group.Wait()
	if due.Load() > 0 {
		r.Wake()
	}
	return int(due.Load()), errors.Join(errs...)
}

// makeDue makes a source due if a user may have it read now, and reports whether it did.
func makeDue(ctx context.Context, r *River, id int64) (bool, error) {
	now, waits := r.now(), false
	_, err := r.Store.ChangeSource(ctx, id, func(s *Source) error {
		ok, _, _ := polling.Refresh(s.State, now)
		if waits = !ok || s.State.Gone != nil || s.Claim != 0 && s.NextAt.After(now); waits {
			return fault.New(fault.Conflict, "The feed cannot be checked now.")
		}
		s.State.NextAt, s.State.Reason = now, "a user requested it"
		s.NextAt = now
		return nil
	})
	if waits {
		return false, nil
	}
	return err == nil, err
}
