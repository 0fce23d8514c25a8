package publish

import (
	"context"
	"errors"
	"maps"
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

// announcedView has the receivers of a view at one URL.
type announcedView struct {
	topics []string // URLs of the topics with subscribers: the URL of the view, or other spellings of it
	read   bool     // the river contains the view
}

// notifyViews notifies the subscribers of the views that contain a user's posts: the categories of
// the user, the feed of all users, and the categories of all users. It checks only URLs that have
// subscribers and whose posts have changed. It runs as a part of the notification of the public
// feed, so that it is repeated after a crash.
//
// spec:cloudburst#view-feeds-notify
func (n *Notifier) notifyViews(ctx context.Context, user string) error {
	views := map[string]announcedView{}
	for _, base := range []string{author.View{User: user}.Base() + "category/", author.View{}.Base()} {
		for _, prefix := range n.Names.Bases(base) {
			if err := n.addViewsUnder(ctx, prefix, views); err != nil {
				return err
			}
		}
	}
	if err := n.addSpellings(ctx, user, views); err != nil {
		return err
	}
	var later error
	for _, u := range slices.Sorted(maps.Keys(views)) { // continue after an error, so that one view does not delay the others
		later = errors.Join(later, n.notifyView(ctx, u, views[u]))
	}
	return later
}

// addViewsUnder adds the views whose URLs have a prefix.
func (n *Notifier) addViewsUnder(ctx context.Context, prefix string, views map[string]announcedView) error {
	followed, err := readAll(func(after string) ([]string, error) {
		return n.Store.FollowedUnder(ctx, prefix, after, n.Now(), 1000)
	})
	if err != nil {
		return err
	}
	read, err := readAll(func(after string) ([]string, error) { return n.Sources.SourcesUnder(ctx, prefix, after, 1000) })
	for _, u := range read {
		views[u] = announcedView{read: true}
	}
	for _, u := range followed {
		views[u] = announcedView{[]string{u}, views[u].read}
	}
	return err
}

// addSpellings adds the topics that declare the page of a view as their home page and that views does
// not contain yet. Their URLs are other spellings of the URL of a view.
func (n *Notifier) addSpellings(ctx context.Context, user string, views map[string]announcedView) error {
	categories, err := n.Posts.Counts(ctx, user, author.ByCategory, "", 0)
	if err != nil {
		return err
	}
	pages := n.Names.Bases(author.View{}.Base())
	for _, c := range categories {
		pages = append(pages, n.Names.Bases(author.View{User: user, Category: c.Name}.Base())...)
		pages = append(pages, n.Names.Bases(author.View{Category: c.Name}.Base())...)
	}
	var others []hub.Topic
	for some := range slices.Chunk(pages, topicBatch) {
		if err := n.following(ctx, some, func(t hub.Topic) { others = append(others, t) }); err != nil {
			return err
		}
	}
	for _, t := range others {
		if v := views[t.About.Self]; !slices.Contains(views[t.URL].topics, t.URL) {
			views[t.About.Self] = announcedView{append(v.topics, t.URL), v.read}
		}
	}
	return nil
}

// notifyView notifies the subscribers of a view, and the river, if the view has changed.
func (n *Notifier) notifyView(ctx context.Context, address string, receivers announcedView) error {
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
	if receivers.read {
		if _, err = n.Readers.ReceivePushAny(ctx, []string{address}, "save"); err != nil {
			return err
		}
	}
	followed := false
	for _, topic := range receivers.topics {
		if !followed {
			if followed, err = n.followedSince(ctx, topic, time.UnixMicro(stamp)); err != nil {
				return err
			}
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

// followedSince reports whether a topic of a view had a subscriber at the time of the view's last
// change, or may have had a subscriber. The hub treats its first check of a topic as a change,
// because the hub does not know earlier versions. This program knows when its own views changed, so
// it avoids these notifications.
func (n *Notifier) followedSince(ctx context.Context, topic string, changed time.Time) (bool, error) {
	id := hub.TopicID(topic)
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
