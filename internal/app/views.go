package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// viewsTold remembers, by address, up to which change those who follow a feed of a category or of
// everyone were told. It only saves looks: who is told once too often is told nothing, because the
// document is the same, and after a start everything is looked at once.
type viewsTold struct {
	mu    sync.Mutex
	stamp map[string]int64
}

// mostViews is how many are remembered; beyond it all are forgotten.
const mostViews = 100_000

func (t *viewsTold) upTo(url string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stamp[url]
}

func (t *viewsTold) set(url string, stamp int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stamp == nil || len(t.stamp) > mostViews {
		t.stamp = map[string]int64{}
	}
	t.stamp[url] = max(t.stamp[url], stamp)
}

// tellViews has those told who follow feeds that are made of the same posts as the public
// feed of a user: of his categories, of everyone, of everyone's categories. It looks only at
// addresses that somebody follows, and among them at those whose posts have changed since,
// and it is part of telling of the public feed: a version of that which was not told, because
// the process died, leads here again, whatever its change was.
//
// spec:cloudburst#views-told
func (a *App) tellViews(ctx context.Context, user string) error {
	if a.feeds.Views == nil {
		return nil
	}
	var later error
	for _, origin := range a.names.All() {
		for _, base := range []string{author.View{User: user}.Base() + "category/", author.View{}.Base()} {
			later = errors.Join(later, a.tellUnder(ctx, origin+base))
		}
	}
	return later
}

// userDisabled has those told who follow what everyone writes, when somebody's posts are no
// longer among it or are again. Who reads the user's own feed finds that out by reading it,
// and when it is there again at once.
func (a *App) userDisabled(ctx context.Context, user string, disabled bool) {
	a.feeds.ForgetList()
	if !a.names.Served() {
		return // nobody serves, so nobody has read anything
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if !disabled {
		_, err := a.river.HeardAny(ctx, a.formsOf(user), "save")
		a.noteHosted(ctx, "tell readers of "+user, err)
	}
	a.noteHosted(ctx, "tell of what everyone writes", a.tellViews(ctx, user))
}

// publicFeeds are the feeds that everybody can read, of those who are not disabled, by user.
func (a *App) publicFeeds(ctx context.Context) (public []author.Feed, err error) {
	disabled := map[string]bool{}
	for after, more := "", true; more; {
		page, err := a.accounts.Users(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, u := range page {
			if after = u.Name; u.Disabled {
				disabled[u.Name] = true
			}
		}
		more = len(page) == 1000
	}
	for after, more := "", true; more; {
		page, err := a.authors.List(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			after = f.User + "/" + f.Name
			if f.Name == author.Public && f.Version > 0 && (f.MovedTo == "" || f.Temporary) && !f.Gone && !disabled[f.User] {
				public = append(public, f)
			}
		}
		more = len(page) == 1000
	}
	return public, nil
}

// tellUnder is tellViews for the addresses with a beginning.
func (a *App) tellUnder(ctx context.Context, prefix string) error {
	followed, err := allOf(func(after string) ([]string, error) {
		return a.store.FollowedUnder(ctx, prefix, after, a.clock.Now(), 1000)
	})
	if err != nil {
		return err
	}
	read, err := allOf(func(after string) ([]string, error) { return a.river.Store.SourcesUnder(ctx, prefix, after, 1000) })
	if err != nil {
		return err
	}
	all := slices.Concat(followed, read)
	slices.Sort(all)
	var later error
	for _, u := range slices.Compact(all) { // one that cannot be told now keeps none of the others waiting
		_, topic := slices.BinarySearch(followed, u)
		_, source := slices.BinarySearch(read, u)
		later = errors.Join(later, a.tellView(ctx, u, topic, source))
	}
	return later
}

// tellView has the subscribers and the readers of a view told, if it has changed.
func (a *App) tellView(ctx context.Context, address string, followed, read bool) error {
	u, own := a.names.Path(address)
	if !own {
		return nil
	}
	v, ok := a.feeds.ViewAt(u.Path, u.RawQuery)
	if !ok || !v.Told() {
		return nil
	}
	stamp, err := a.posts.Stamp(ctx, v.User, v.Category)
	if err != nil || stamp == a.told.upTo(address) {
		return err
	}
	if read {
		if _, err = a.river.HeardAny(ctx, []string{address}, "save"); err != nil {
			return err
		}
	}
	if followed {
		if followed, err = a.since(ctx, address, time.UnixMicro(stamp)); err != nil {
			return err
		}
	}
	if followed {
		_, err = a.hub.Ping(ctx, hub.Ping{URL: address, Door: "save", Told: true, Alone: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			return err
		} else if err != nil { // it will not go away
			a.log.Warn("tell of a feed of posts", "url", address, "err", err)
		}
	}
	a.told.set(address, stamp)
	return nil
}

// since reports whether anybody followed a topic when it changed last. The hub takes a topic
// that it checks for the first time for a changed one, because it cannot know; of these we do.
func (a *App) since(ctx context.Context, address string, changed time.Time) (bool, error) {
	id := hub.TopicID(address)
	t, err := a.store.Topic(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return false, err
	}
	if err != nil || t.Hash != nil {
		return true, nil
	}
	const most = 100
	list, err := a.store.Subscriptions(ctx, hub.SubscriptionQuery{TopicID: id, Limit: most})
	if err != nil {
		return false, err
	}
	return len(list) == most || slices.ContainsFunc(list, func(s hub.SubscriptionInfo) bool {
		return !s.CreatedAt.After(changed)
	}), nil
}

// allOf reads a list to its end.
func allOf(page func(after string) ([]string, error)) (all []string, err error) {
	for after := ""; ; {
		list, err := page(after)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) < 1000 {
			return all, nil
		}
		after = list[len(list)-1]
	}
}
