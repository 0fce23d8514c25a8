package publish

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

// notifiedViews holds, by URL, the last change of which subscribers of a view were notified. It
// only saves work: a repeated notification has no effect, because the document is unchanged.
// After a start, all views are checked once.
type notifiedViews struct {
	mu     sync.Mutex
	stamps map[string]int64
}

// maxViews is the number of remembered views; beyond it all are forgotten.
const maxViews = 100_000

func (t *notifiedViews) upTo(url string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stamps[url]
}

func (t *notifiedViews) set(url string, stamp int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stamps == nil || len(t.stamps) > maxViews {
		t.stamps = map[string]int64{}
	}
	t.stamps[url] = max(t.stamps[url], stamp)
}

// notifyViews notifies subscribers of the views that contain a user's posts: the user's
// categories, all users, and categories of all users. It checks only URLs with subscribers whose
// posts have changed. It is part of notifying the public feed, so that it is repeated after a
// crash.
//
// spec:cloudburst#view-feeds-notify
func (n *Notifier) notifyViews(ctx context.Context, user string) error {
	var later error
	for _, base := range []string{author.View{User: user}.Base() + "category/", author.View{}.Base()} {
		for _, prefix := range n.Names.Bases(base) {
			later = errors.Join(later, n.notifyViewsUnder(ctx, prefix))
		}
	}
	return later
}

// notifyViewsUnder is like notifyViews for the URLs with a prefix.
func (n *Notifier) notifyViewsUnder(ctx context.Context, prefix string) error {
	followed, err := readAll(func(after string) ([]string, error) {
		return n.Store.FollowedUnder(ctx, prefix, after, n.Now(), 1000)
	})
	if err != nil {
		return err
	}
	read, err := readAll(func(after string) ([]string, error) { return n.Sources.SourcesUnder(ctx, prefix, after, 1000) })
	if err != nil {
		return err
	}
	all := slices.Concat(followed, read)
	slices.Sort(all)
	var later error
	for _, u := range slices.Compact(all) { // an error of one view must not delay the others
		_, topic := slices.BinarySearch(followed, u)
		_, source := slices.BinarySearch(read, u)
		later = errors.Join(later, n.notifyView(ctx, u, topic, source))
	}
	return later
}

// notifyView notifies the subscribers and the river of a view, if it has changed.
func (n *Notifier) notifyView(ctx context.Context, address string, followed, read bool) error {
	u, own := n.Names.Path(address)
	if !own {
		return nil
	}
	v, ok := n.Hosted.ViewAt(u.Path, u.RawQuery)
	if !ok || !v.IsAnnounced() {
		return nil
	}
	stamp, err := n.Posts.Stamp(ctx, v.User, v.Category)
	if err != nil || stamp == n.notifiedViews.upTo(address) {
		return err
	}
	if read {
		if _, err = n.Readers.ReceivePushAny(ctx, []string{address}, "save"); err != nil {
			return err
		}
	}
	if followed {
		if followed, err = n.followedSince(ctx, address, time.UnixMicro(stamp)); err != nil {
			return err
		}
	}
	if followed {
		_, err = n.Hub.Ping(ctx, hub.Ping{URL: address, Via: "save", ReaderNotified: true, OnlyThisURL: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			return err
		} else if err != nil { // a permanent error
			n.Log.Warn("cannot notify subscribers of a view", "url", address, "err", err)
		}
	}
	n.notifiedViews.set(address, stamp)
	return nil
}

// followedSince reports whether a topic had subscribers at its last change. The hub treats its
// first check of a topic as a change, because it cannot know; this program does know when its own
// views changed.
func (n *Notifier) followedSince(ctx context.Context, address string, changed time.Time) (bool, error) {
	id := hub.TopicID(address)
	t, err := n.Store.Topic(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return false, err
	}
	if err != nil || t.Hash != nil {
		return true, nil
	}
	const limit = 100
	list, err := n.Store.Subscriptions(ctx, hub.SubscriptionQuery{TopicID: id, Limit: limit})
	if err != nil {
		return false, err
	}
	return len(list) == limit || slices.ContainsFunc(list, func(s hub.SubscriptionInfo) bool {
		return !s.CreatedAt.After(changed)
	}), nil
}

// readAll reads a list to its end.
func readAll(page func(after string) ([]string, error)) (all []string, err error) {
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
