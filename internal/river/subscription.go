package river

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river/location"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/text"
)

// Remove unfollows sources; [River.UndoRemove] undoes it. fault.NotFound: the user does not
// follow one of the sources, and none of them was removed.
func (r *River) Remove(ctx context.Context, user string, sources ...int64) error {
	r.Init()
	if len(sources) == 0 {
		return nil
	}
	mine, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return err
	}
	for _, id := range sources {
		if !mine[id] {
			return fault.New(fault.NotFound, "You do not follow a feed with the number %d.", id)
		}
	}
	now := r.now()
	if err := r.Store.KeepUnfollowed(ctx, user, sources, now, now.Add(-UndoWithin)); err != nil {
		return err
	}
	return editor{r}.unfollow(ctx, user, sources)
}

// editor changes subscriptions and the sources to which they belong.
type editor struct{ *River }

// unfollow ends subscriptions of a user, and the push subscriptions of feeds that have no
// followers now.
func (r editor) unfollow(ctx context.Context, user string, sources []int64) error {
	orphans, err := r.Store.RiverUnsubscribe(ctx, user, sources)
	if err != nil {
		return err
	}
	r.forget(user)
	for i := range orphans {
		r.leave(ctx, &orphans[i], orphans[i].URL)
	}
	return nil
}

// leave ends the subscriptions of a source at its hubs. If this fails, the hubs notice at their
// next delivery, which this server rejects.
func (r editor) leave(ctx context.Context, s *Source, url string) {
	if r.Push == nil || s.Private() {
		return
	}
	r.logError(ctx, "cannot unsubscribe at the hubs of a feed", r.Push.Leave(ctx, url))
}

// Change changes a subscription. change receives the current subscription, and may be called more
// than once. Title has at most 200 characters, Categories has at most 20 names, and Interval is 0
// or from one minute to 30 days. A subscription from a reading list becomes the user's own.
// Errors: fault.NotFound: the user does not follow the source; Invalid: a field is not valid.
func (r *River) Change(ctx context.Context, user string, source int64, change func(*Subscription) error) (Followed, error) {
	r.Init()
	var before Subscription
	f, err := r.Store.ChangeSubscription(ctx, user, source, func(s *Subscription) error {
		before = *s
		before.Categories = slices.Clone(s.Categories)
		if err := change(s); err != nil {
			return err
		}
		return s.normalize(before)
	})
	if err != nil {
		return Followed{}, err
	}
	if f.Interval != before.Interval {
		if err := (editor{r}).replan(ctx, source); err != nil {
			return Followed{}, err
		}
		return r.findFollowed(ctx, user, source)
	}
	return f, nil
}

// normalize validates and normalizes the fields that a user changed.
func (s *Subscription) normalize(before Subscription) (err error) {
	s.Reader, s.SourceID, s.AddedAt = before.Reader, before.SourceID, before.AddedAt
	if s.Title, err = naming.Title(s.Title); err != nil {
		return err
	}
	if s.Categories, err = naming.Categories(s.Categories); err != nil {
		return err
	}
	if err = checkInterval(s.Interval); err != nil {
		return err
	}
	if s.Title != before.Title || s.Interval != before.Interval || !slices.Equal(s.Categories, before.Categories) {
		s.ListID = 0
	}
	return nil
}

func checkInterval(d time.Duration) error {
	if d != 0 && (d < polling.ShortestUserInterval || d > polling.LongestUserInterval) {
		return fault.New(fault.Invalid, "The time between two checks is %s: it may be from one minute to 30 days, or 0 for what the feed itself asks for.", d)
	}
	return nil
}

// replan plans the next check of a source again, because an input of the plan changed.
func (r editor) replan(ctx context.Context, id int64) error {
	_, err := r.Store.ChangeSource(ctx, id, func(s *Source) error {
		if s.State.CheckedAt.IsZero() && s.State.Gone == nil {
			return nil // the first check is already due
		}
		s.State, _ = polling.Plan(s.State, r.now(), polling.Options{Jitter: rand.Float64()})
		s.NextAt = s.State.DueAt()
		return nil
	})
	if err == nil {
		r.Wake()
	}
	return err
}

// SetLogin sets the login of a source that a user follows (the zero Login: none). A source with a
// login belongs to one user, so adding or removing a login moves the subscription to another
// source. Errors: fault.NotFound: the user does not follow the source; Invalid: the login is not
// valid; Unavailable: this server has no key.
func (r *River) SetLogin(ctx context.Context, user string, source int64, l Login) (Followed, error) {
	r.Init()
	if err := l.Check(); err != nil {
		return Followed{}, err
	}
	sealed, err := location.Seal(r.Key, l)
	if err != nil {
		return Followed{}, err
	}
	f, err := r.findFollowed(ctx, user, source)
	if err != nil {
		return Followed{}, err
	}
	had, wants := f.Source.Private(), sealed.Kind != ""
	switch {
	case !had && !wants:
		return f, nil
	case had && wants:
		_, err = r.Store.ChangeSource(ctx, source, func(s *Source) error {
			s.Login = sealed
			s.State = polling.Revive(s.State, r.now())
			s.NextAt = s.State.NextAt
			return nil
		})
		if err != nil {
			return Followed{}, err
		}
		r.Wake()
		return r.findFollowed(ctx, user, source)
	}
	return editor{r}.moveTo(ctx, f, sealed)
}

// replace makes the user of a subscription follow s instead of the source old. The forwardings and
// filters of old move to s.
func (r editor) replace(ctx context.Context, sub Subscription, s Source, old int64) error {
	_, err := r.Store.RiverSubscribe(ctx, []Addition{{Subscription: sub, Source: s, Replaces: old}}, r.now(), math.MaxInt-1)
	if err != nil {
		return err
	}
	return r.unfollow(ctx, sub.Reader, []int64{old})
}

// moveTo moves a subscription to another source with the same URL and the login l.
func (r editor) moveTo(ctx context.Context, f Followed, l Login) (Followed, error) {
	now := r.now()
	s := Source{ID: SourceID(f.Source.URL), URL: f.Source.URL, Login: l, State: polling.New(f.Source.URL, now), About: f.Source.About, CreatedAt: now, NextAt: now}
	if l.Kind != "" {
		s.ID = rand.Int64N(1<<62) + 1
	}
	s.State.Interval = f.Interval
	sub := f.Subscription
	sub.SourceID, sub.ListID = s.ID, 0
	if err := r.replace(ctx, sub, s, f.SourceID); err != nil {
		return Followed{}, err
	}
	r.Wake()
	return r.findFollowed(ctx, f.Reader, s.ID)
}

// Revive resumes the checks of a source that is gone or failing. Errors: fault.NotFound: the user
// does not follow the source; Conflict: the source is neither gone nor failing; TooMany, with
// RetryAfter: the source was just checked, or its server asked for a pause.
func (r *River) Revive(ctx context.Context, user string, source int64) (Followed, error) {
	r.Init()
	return editor{r}.changeState(ctx, user, source, func(s *Source, now time.Time) error {
		if s.State.Gone == nil && s.State.Failures == 0 && s.State.Failure == nil {
			return fault.New(fault.Conflict, "%s is neither gone nor failing: there is nothing to revive.", s.Name())
		}
		if ok, from, why := polling.Refresh(s.State, now); !ok && s.State.Gone == nil {
			e := fault.New(fault.TooMany, "%s cannot be read now: %s.", s.Name(), why)
			e.RetryAfter = from.Sub(now)
			return e
		}
		s.State = polling.Revive(s.State, now)
		return nil
	})
}

// Undo moves a source back to its previous URL. Errors: fault.NotFound: the user does not follow
// the source; Conflict: the source did not move.
func (r *River) Undo(ctx context.Context, user string, source int64) (Followed, error) {
	r.Init()
	var left string
	f, err := editor{r}.changeState(ctx, user, source, func(s *Source, now time.Time) error {
		state, ok := polling.Undo(s.State, now)
		if !ok {
			return fault.New(fault.Conflict, "%s was not moved.", s.Name())
		}
		left, s.State = s.URL, state
		return nil
	})
	if err == nil && left != f.Source.URL {
		editor{r}.leave(ctx, &f.Source, left)
	}
	return f, err
}

// changeState changes the State of a source that the user follows.
func (r editor) changeState(ctx context.Context, user string, source int64, change func(s *Source, now time.Time) error) (Followed, error) {
	if _, err := r.findFollowed(ctx, user, source); err != nil {
		return Followed{}, err
	}
	_, err := r.Store.ChangeSource(ctx, source, func(s *Source) error {
		if err := change(s, r.now()); err != nil {
			return err
		}
		s.URL, s.NextAt = s.State.URL, s.State.NextAt
		return nil
	})
	if err != nil {
		return Followed{}, err
	}
	r.Wake()
	return r.findFollowed(ctx, user, source)
}

// Subscriptions lists the subscriptions of a user in the order of q.Sort.
func (r *River) Subscriptions(ctx context.Context, q SubscriptionQuery) ([]Followed, error) {
	r.Init()
	list, err := r.Store.RiverSubscriptions(ctx, q)
	if err != nil || !q.Next {
		return list, err
	}
	return list, editor{r}.addNextChecks(ctx, list)
}

// Find returns the subscription of a user by the feed's URL, or by the source's ID in decimal.
// fault.NotFound: the user does not follow the feed; the message names similar subscriptions.
func (r *River) Find(ctx context.Context, user, what string) (Followed, error) {
	r.Init()
	what = strings.TrimSpace(what)
	if id, err := strconv.ParseInt(what, 10, 64); err == nil {
		return r.findFollowed(ctx, user, id)
	}
	a, err := addressOf(r, what)
	if err == nil {
		mine, err := r.Store.RiverFollowing(ctx, user)
		if err != nil {
			return Followed{}, err
		}
		for _, u := range a.URLs {
			list, err := r.Store.SourcesAt(ctx, u)
			if err != nil {
				return Followed{}, err
			}
			for _, s := range list {
				if mine[s.ID] {
					return r.findFollowed(ctx, user, s.ID)
				}
			}
		}
	}
	return Followed{}, editor{r}.notFollowedError(ctx, user, what, a)
}

// notFollowedError returns a fault.NotFound that names similar subscriptions.
func (r editor) notFollowedError(ctx context.Context, user, what string, a location.Location) error {
	words := []string{what}
	if len(a.URLs) > 0 {
		if u, err := url.Parse(a.URLs[0]); err == nil {
			words = append(words, u.Hostname())
		}
	}
	for _, w := range words {
		if w == "" || len(w) > location.Longest {
			continue
		}
		like, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, Match: w, Limit: 3})
		if err != nil {
			return err
		}
		if len(like) == 0 {
			continue
		}
		var names []string
		for _, f := range like {
			names = append(names, fmt.Sprintf("%s (%s, number %d)", text.ClipRunes(f.Name(), 60), location.Brief(f.Source.URL), f.SourceID))
		}
		return fault.New(fault.NotFound, "You do not follow %s. There is %s.", location.Brief(what), strings.Join(names, "; "))
	}
	return fault.New(fault.NotFound, "You do not follow %s.", location.Brief(what))
}

// followedSet is a cached result of Following, with the time at which it expires.
type followedSet struct {
	set   map[int64]bool
	until time.Time
}

const (
	followedFor = 2 * time.Second
	maxFollowed = 1000 // maximum number of users with a cached set
)

// Following returns the set of IDs of the sources that a user follows. The set may be as old as
// followedFor. The caller must not change it.
func (r *River) Following(ctx context.Context, user string) (map[int64]bool, error) {
	r.Init()
	now := r.now()
	r.listState.mu.Lock()
	kept, ok := r.listState.following[user]
	r.listState.mu.Unlock()
	if ok && now.Before(kept.until) {
		return kept.set, nil
	}
	set, err := r.Store.RiverFollowing(ctx, user)
	if err != nil {
		return nil, err
	}
	r.listState.mu.Lock()
	defer r.listState.mu.Unlock()
	if len(r.listState.following) >= maxFollowed || r.listState.following == nil {
		r.listState.following = map[string]followedSet{}
	}
	r.listState.following[user] = followedSet{set, now.Add(followedFor)}
	return set, nil
}

// forget removes the cached result of Following for a user.
func (r *River) forget(user string) {
	r.listState.mu.Lock()
	defer r.listState.mu.Unlock()
	delete(r.listState.following, user)
}

// Rail lists the feeds that a user follows, with their unread counts. To stay fast, it reads the
// subscriptions and no items. fault.Unavailable: the database is down.
func (r *River) Rail(ctx context.Context, q rail.Query) (rail.List, error) {
	r.Init()
	return r.Store.RiverRail(ctx, q)
}

// CountUnread counts the unread items of a user. The key of the result is the ID of the source.
func (r *River) CountUnread(ctx context.Context, user string) (map[int64]Unread, error) {
	r.Init()
	return r.Store.CountUnread(ctx, user)
}
