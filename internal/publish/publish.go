// Package publish sends notifications of saved feeds: to subscribers of the hub, to the river,
// and to ping targets at other servers. See [Notifier].
package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/announce"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/origin"
	"cloudburst/internal/text"
)

// Notifier finds the URLs under which feeds of a user have subscribers, and sends notifications.
// All exported fields must be set.
type Notifier struct {
	Hub     Hub
	Store   Store
	Readers Readers
	Sources Sources
	Posts   Posts
	Hosted  Hosted
	// Topics returns the topic paths of all readers of a private feed. Each reader has their own
	// topic.
	Topics  func(ctx context.Context, user, feed string) ([]string, error)
	Targets Targets
	// FollowOwn adds the feed of an author of posts to the author's own river, so that the river
	// contains their posts. It is called after the first version of the feed.
	FollowOwn func(ctx context.Context, user string) error
	Names     *origin.Names
	Stamp     func(now time.Time, events ...*event.Event)              // assigns numbers to events for the log
	Publish   func(events ...event.Event)                              // sends events to open pages
	Trace     func(ctx context.Context, f author.Feed) context.Context // begins the trace of a saved feed
	Now       func() time.Time
	Log       *slog.Logger

	notifiedViews notifiedViews
}

// Hub accepts pings; *hub.Hub implements it.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
}

// Store finds subscriptions; every hub.Store implements it.
type Store interface {
	Following(ctx context.Context, urls []string, after int64, now time.Time, limit int) ([]hub.Topic, error)
	FollowedUnder(ctx context.Context, prefix, after string, now time.Time, limit int) ([]string, error)
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
	Topic(ctx context.Context, id int64) (hub.Topic, error)
	AppendEvents(ctx context.Context, events []event.Event) error
}

// Readers receives notifications for the river; *river.River implements it.
type Readers interface {
	ReceivePushAny(ctx context.Context, urls []string, via string) (known bool, err error)
}

// Sources finds the feeds that users read; every river.Store implements it.
type Sources interface {
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// Posts returns when the posts of a view changed, and the categories of a user; *author.Posts
// implements it.
type Posts interface {
	Stamp(ctx context.Context, user, category string) (int64, error)
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
}

// Hosted returns the URLs of hosted feeds.
type Hosted interface {
	Addresses(user string) []string // paths of a user's public feed; the feed's own path is first
	ViewAt(path, query string) (author.View, bool)
}

// Targets pings other servers; *announce.Announcer implements it.
type Targets interface {
	Saved(ctx context.Context, n announce.News) error
}

// Saved notifies subscribers of a saved feed. For a public feed, it pings the hub for each URL of
// the feed that has subscribers, and notifies ping targets, the river and views.
//
// spec:rsscloud-2009#save-rss
func (n *Notifier) Saved(ctx context.Context, f author.Feed) error {
	if f.Name != author.Public {
		return n.savedPrivate(ctx, f)
	}
	if !n.Names.Served() {
		return author.ErrNotServing // without a running server, nobody can read the feed
	}
	ctx = n.Trace(ctx, f)
	urls, err := n.Followed(ctx, f.User)
	if err != nil {
		return err
	}
	if err := n.announce(ctx, f); err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { // at the same time as the pings, because both wait for the disk
		_, err := n.Readers.ReceivePushAny(ctx, n.Addresses(f.User), "save")
		received <- err
	}()
	var later error
	for _, u := range urls { // continue after an error, so that one URL does not delay the others
		_, err := n.Hub.Ping(ctx, hub.Ping{URL: u, Via: "save", ReaderNotified: true, OnlyThisURL: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			later = errors.Join(later, err) // only temporary errors are returned, so that the caller tries again
		} else if err != nil {
			n.Log.Warn("cannot notify subscribers of a saved feed", "url", u, "err", err)
		}
	}
	later = errors.Join(<-received, later, n.notifyViews(ctx, f.User))
	if f.Notified == 0 { // only after the first version, because the author can unfollow the feed later
		if err := n.FollowOwn(ctx, f.User); err != nil {
			n.Log.Warn("cannot follow the author's own feed", "user", f.User, "err", err)
		}
	}
	return later
}

// Followed returns the URLs of a user's public feed that have subscribers, also under another
// spelling. The feed's own URL is always the first, even without subscribers, because the list of
// recent changes contains it.
func (n *Notifier) Followed(ctx context.Context, user string) ([]string, error) {
	all := n.Addresses(user)
	return n.addFollowed(ctx, all[:1:1], all)
}

// addFollowed appends those of the URLs that have subscribers, also under another spelling, to list.
func (n *Notifier) addFollowed(ctx context.Context, list, urls []string) ([]string, error) {
	err := n.topics(ctx, urls, func(_ hub.Topic, url string) {
		if !slices.Contains(list, url) {
			list = append(list, url)
		}
	})
	return list, err
}

// topics calls do for each topic with subscribers that is one of the URLs, or another spelling of
// one, and with this URL.
func (n *Notifier) topics(ctx context.Context, urls []string, do func(t hub.Topic, url string)) error {
	return n.following(ctx, urls, func(t hub.Topic) {
		if slices.Contains(urls, t.URL) {
			do(t, t.URL)
		} else if slices.Contains(urls, t.About.Self) {
			do(t, t.About.Self)
		}
	})
}

// following calls do for each topic with subscribers that one of the URLs means.
func (n *Notifier) following(ctx context.Context, urls []string, do func(t hub.Topic)) error {
	const limit = 500
	for after := int64(0); ; {
		topics, err := n.Store.Following(ctx, urls, after, n.Now(), limit)
		if err != nil {
			return err
		}
		for _, t := range topics {
			do(t)
		}
		switch {
		case len(topics) < limit:
			return nil
		case after == 0:
			after = -1 // the first batch has another order than the following ones
		default:
			after = topics[limit-1].ID
		}
	}
}

// Addresses returns all URLs of a user's public feed; the feed's own URL is first.
func (n *Notifier) Addresses(user string) []string {
	var all []string
	origins := n.Names.All()
	if len(origins) == 0 {
		origins = []string{n.Names.Public()} // a command is running without a server, so only the configured origin is known
	}
	own := slices.Clone(origins)
	if at := strings.TrimSuffix(n.Names.Located("/"+user+"/"), "/"); at != origins[0]+"/"+user {
		own = append(own, at)
	}
	for _, at := range n.Names.Former("/" + user + "/") {
		own = append(own, strings.TrimSuffix(at, "/"))
	}
	for _, origin := range own {
		for _, path := range n.Hosted.Addresses(user) {
			if !slices.Contains(origins, origin) { // the URL is on a domain of the author
				path = strings.TrimPrefix(path, "/"+user)
			}
			all = append(all, origin+path)
		}
	}
	return all
}

// announce queues notifications to the ping targets about a saved feed.
func (n *Notifier) announce(ctx context.Context, f author.Feed) error {
	return n.Targets.Saved(ctx, announce.News{
		User: f.User, Topic: n.Names.Located(n.Hosted.Addresses(f.User)[0]), Name: cmp.Or(f.Title, f.User),
		Home: n.Names.Located("/" + f.User + "/"), Version: f.Version, SavedAt: f.SavedAt,
	})
}

// Disabled notifies subscribers of the feeds of all users after a user's posts were removed from
// these feeds or restored to them. When the user's own feed is restored, its subscribers are
// notified too. Its removal needs no notification, because readers get an error when they read the
// feed.
func (n *Notifier) Disabled(ctx context.Context, user string, disabled bool) {
	if !n.Names.Served() {
		return // without a running server, nobody can read the feeds
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if !disabled {
		_, err := n.Readers.ReceivePushAny(ctx, n.Addresses(user), "save")
		n.logError(ctx, "cannot notify the river about the feeds of "+user, err)
	}
	n.logError(ctx, "cannot notify subscribers of the views", n.notifyViews(ctx, user))
}

// Subscribers returns the active subscriptions to a user's public feed.
func (n *Notifier) Subscribers(ctx context.Context, user string) ([]audience.Subscriber, error) {
	var all []audience.Subscriber
	now := n.Now()
	var ids []int64
	err := n.topics(ctx, n.Addresses(user), func(t hub.Topic, _ string) { ids = append(ids, t.ID) })
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		q := hub.SubscriptionQuery{TopicID: id, Limit: 1000}
		for {
			list, err := n.Store.Subscriptions(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, s := range list {
				if s.ExpiresAt.After(now) {
					all = append(all, audience.Subscriber{Protocol: s.Protocol, Host: text.Hostname(s.Callback)})
				}
			}
			if len(list) < q.Limit {
				break
			}
			q.After = list[len(list)-1].Key()
		}
	}
	return all, nil
}

// Events returns the events for the log about a saved public feed.
func (n *Notifier) Events(f author.Feed, via string) []event.Event {
	topic := n.Addresses(f.User)[0]
	e := event.Event{
		Kind: event.KindSave, TopicID: hub.TopicID(topic), Topic: topic, OK: true, Via: via,
		Text: fmt.Sprintf("%s saved version %d of the feed, %d bytes with %d items.", f.User, f.Version, f.Size, f.Items),
	}
	n.Stamp(n.Now(), &e)
	return []event.Event{e}
}

func (n *Notifier) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		n.Log.Warn(what, "err", err)
	}
}
