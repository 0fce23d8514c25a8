package river

import (
	"context"
	"maps"
	"slices"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

// Refresh checks a source now at the request of a user. Errors: fault.NotFound: the source does
// not exist; TooMany, with RetryAfter and the reason: the last check is less than a minute old,
// or the server asked for a pause; Conflict: a check is running, or the feed is gone.
//
// spec:cloudburst#river-manual-check
func (r *River) Refresh(ctx context.Context, id int64) (Check, error) {
	r.Init()
	s, err := r.Store.Source(ctx, id)
	if err != nil {
		return Check{}, err
	}
	now, key := r.now(), polling.HostOf(s.State.URL)
	if s.State.Gone != nil {
		return Check{}, fault.New(fault.Conflict, "The feed is gone: %s. Revive it to have it read again.", s.State.Gone.Reason)
	}
	ok, from, why := polling.Refresh(s.State, now)
	if ok {
		known, err := r.Store.Hosts(ctx, []string{key})
		if err != nil {
			return Check{}, err
		}
		if from = known[key].Until(now); from.After(now) {
			ok, why = false, "its host asked several feeds to be left alone until then"
		}
	}
	if !ok {
		e := fault.New(fault.TooMany, "The feed can be read again %s: %s.", date.When(from, now), why)
		e.RetryAfter = from.Sub(now)
		return Check{}, e
	}
	if s, err = (runner{r}).claimOne(ctx, id); err != nil {
		return Check{}, err
	}
	got := checker{r}.fetchPaced(ctx, &s, polling.ByHand)
	return checker{r}.saveCheck(context.WithoutCancel(ctx), s, got, "")
}

// CheckSoon makes sources due now at the request of a user who follows them, and returns how many
// become due. Sources stay unchanged if they are gone, are being checked, or may not be checked
// again yet (see Refresh). CheckSoon ignores sources that the user does not follow.
func (r *River) CheckSoon(ctx context.Context, user string, sources []int64) (due int, err error) {
	r.Init()
	mine, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return 0, err
	}
	return checkSoon(ctx, r, slices.DeleteFunc(slices.Clone(sources), func(id int64) bool { return !mine[id] }))
}

// CheckAllSoon is like CheckSoon for all sources that the user follows. It also returns the
// number of these sources.
func (r *River) CheckAllSoon(ctx context.Context, user string) (due, all int, err error) {
	r.Init()
	mine, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return 0, 0, err
	}
	due, err = checkSoon(ctx, r, slices.Collect(maps.Keys(mine)))
	return due, len(mine), err
}

// plannedAtOnce is the number of sources per transaction: few, so other writes do not wait long.
const plannedAtOnce = 100

func checkSoon(ctx context.Context, r *River, sources []int64) (due int, err error) {
	for ids := range slices.Chunk(sources, plannedAtOnce) {
		var n int
		if n, err = r.Store.PlanChecks(ctx, ids, func(s *Source) bool { return makeDue(s, r.now()) }); err != nil {
			break
		}
		if due += n; n > 0 {
			r.Wake()
		}
	}
	return due, err
}

// makeDue makes a source due if a user may request a check now, and reports whether it did.
func makeDue(s *Source, now time.Time) bool {
	if ok, _, _ := polling.Refresh(s.State, now); !ok || s.State.Gone != nil || s.Claim != 0 && s.NextAt.After(now) {
		return false
	}
	s.State.NextAt, s.State.Reason = now, "a user requested it"
	s.NextAt = now
	return true
}
