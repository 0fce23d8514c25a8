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

// notifiedViews records, for each URL of a view, the last change that subscribers were notified of.
// Without this record, the program would send more notifications than necessary; hubs ignore a
// repeated notification of an unchanged document. After a start, all views are checked once.
type notifiedViews struct {
	mu     sync.Mutex
	stamps map[string]int64
}

// maxViews is the maximum number of recorded views. When it is exceeded, all records are deleted.
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

// notifyViews notifies the subscribers of the views that contain a user's posts: the categories of
// the user, the feed of all users, and the categories of all users. It checks only URLs that have
// subscribers and whose posts have changed. It runs as a part of the notification of the public
// feed, so that it is repeated after a crash.
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

// notifyViewsUnder is like notifyViews for the views whose URLs have a prefix.
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
	for _, u := range slices.Compact(all) { // continue after an error, so that one view does not delay the others
		_, topic := slices.BinarySearch(followed, u)
		_, source := slices.BinarySearch(read, u)
		later = errors.Join(later, n.notifyView(ctx, u, topic, source))
	}
	return later
}

// notifyView notifies the subscribers of a view, and the river, if the view has changed. followed
// means that the view has subscribers, and read that the river contains it.
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
		} else if err != nil { // the error is permanent, so a retry would fail too
			n.Log.Warn("cannot notify subscribers of a view", "url", address, "err", err)
		}
	}
	n.notifiedViews.set(address, stamp)
	return nil
}

// followedSince reports whether a view had a subscriber at the time of its last change, or may have
// had a subscriber. The hub treats its first check of a topic as a change, because the hub does not
// know earlier versions. This program knows when its own views changed, so it avoids these
// notifications.
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

// readAll reads a list batch by batch to its end.
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
