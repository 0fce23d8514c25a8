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

// Notifier finds the URLs by which a user's feeds are followed, and sends the notifications. All
// fields must be set.
type Notifier struct {
	Hub     Hub
	Store   Store
	Readers Readers
	Sources Sources
	Posts   Posts
	Hosted  Hosted
	// Topics returns the paths of the topics of all readers of a private feed.
	Topics  func(ctx context.Context, user, feed string) ([]string, error)
	Targets Targets
	// FollowOwn makes an author of posts follow their own feed, so that their posts are in their
	// river. It is called after the first version of the feed.
	FollowOwn func(ctx context.Context, user string) error
	Names     *origin.Names
	Stamp     func(now time.Time, events ...*event.Event)              // numbers events for the log
	Publish   func(events ...event.Event)                              // shows events to open pages
	Trace     func(ctx context.Context, f author.Feed) context.Context // begins the trace of a saved feed
	Now       func() time.Time
	Log       *slog.Logger

	notifiedViews notifiedViews
}

// Hub takes pings; *hub.Hub is one.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
}

// Store finds subscriptions; every hub.Store is one.
type Store interface {
	Following(ctx context.Context, urls []string, now time.Time, limit int) ([]hub.Topic, error)
	FollowedUnder(ctx context.Context, prefix, after string, now time.Time, limit int) ([]string, error)
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
	Topic(ctx context.Context, id int64) (hub.Topic, error)
	AppendEvents(ctx context.Context, events []event.Event) error
}

// Readers receives changes; *river.River is one.
type Readers interface {
	ReceivePushAny(ctx context.Context, urls []string, via string) (known bool, err error)
}

// Sources finds feeds that users read; every river.Store is one.
type Sources interface {
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// Posts returns when the posts of a view changed; *author.Posts is one.
type Posts interface {
	Stamp(ctx context.Context, user, category string) (int64, error)
}

// Hosted returns the URLs of hosted feeds.
type Hosted interface {
	Addresses(user string) []string // paths of a user's public feed, its own first
	ViewAt(path, query string) (author.View, bool)
}

// Targets notifies other servers; *announce.Announcer is one.
type Targets interface {
	Saved(ctx context.Context, n announce.News) error
}

// Saved pings a saved feed by each of its URLs that has subscribers.
//
// spec:rsscloud-2009#save-rss
func (n *Notifier) Saved(ctx context.Context, f author.Feed) error {
	if f.Name != author.Public {
		return n.savedPrivate(ctx, f)
	}
	if !n.Names.Served() {
		return author.ErrNotServing // the feed cannot be read while no server runs
	}
	ctx = n.Trace(ctx, f)
	urls, err := n.Followed(ctx, f.User)
	if err != nil {
		return err
	}
	if err := n.announce(ctx, f); err != nil {
		return err
	}
	_, later := n.Readers.ReceivePushAny(ctx, n.Addresses(f.User), "save")
	for _, u := range urls { // an error of one URL must not delay the others
		_, err := n.Hub.Ping(ctx, hub.Ping{URL: u, Via: "save", ReaderNotified: later == nil, OnlyThisURL: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			later = errors.Join(later, err) // other errors are permanent
		} else if err != nil {
			n.Log.Warn("cannot notify subscribers of a saved feed", "url", u, "err", err)
		}
	}
	later = errors.Join(later, n.notifyViews(ctx, f.User))
	if f.Notified == 0 { // Only once: later the author can unfollow the feed like any other.
		if err := n.FollowOwn(ctx, f.User); err != nil {
			n.Log.Warn("cannot follow the author's own feed", "user", f.User, "err", err)
		}
	}
	return later
}

// Followed returns the URLs of a user's public feed that have subscribers. The feed's own URL
// comes first, with or without subscribers, because recent changes contain it.
func (n *Notifier) Followed(ctx context.Context, user string) ([]string, error) {
	all := n.Addresses(user)
	topics, err := n.Store.Following(ctx, all, n.Now(), len(all))
	if err != nil {
		return nil, err
	}
	urls := all[:1:1]
	for _, t := range topics {
		if t.URL != all[0] && slices.Contains(all, t.URL) {
			urls = append(urls, t.URL)
		}
	}
	return urls, nil
}

// Addresses returns all URLs of a user's public feed, its own first.
func (n *Notifier) Addresses(user string) []string {
	var all []string
	origins := n.Names.All()
	if len(origins) == 0 {
		origins = []string{n.Names.Public()} // a command, while no server runs
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
			if !slices.Contains(origins, origin) { // a domain of the author
				path = strings.TrimPrefix(path, "/"+user)
			}
			all = append(all, origin+path)
		}
	}
	return all
}

// announce queues the notifications of ping targets about a saved feed.
func (n *Notifier) announce(ctx context.Context, f author.Feed) error {
	return n.Targets.Saved(ctx, announce.News{
		User: f.User, Topic: n.Names.Located(n.Hosted.Addresses(f.User)[0]), Name: cmp.Or(f.Title, f.User),
		Home: n.Names.Located("/" + f.User + "/"), Version: f.Version, SavedAt: f.SavedAt,
	})
}

// Disabled notifies subscribers of the feeds of all users when a user's posts are removed from or
// restored to them. Subscribers of the user's own feed are notified when it is restored; its
// removal is found by reading it.
func (n *Notifier) Disabled(ctx context.Context, user string, disabled bool) {
	if !n.Names.Served() {
		return // no server runs, so no feed was read
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if !disabled {
		_, err := n.Readers.ReceivePushAny(ctx, n.Addresses(user), "save")
		n.logError(ctx, "cannot notify the river about the feeds of "+user, err)
	}
	n.logError(ctx, "cannot notify subscribers of the views", n.notifyViews(ctx, user))
}

// Subscribers returns the live subscriptions to a user's public feed.
func (n *Notifier) Subscribers(ctx context.Context, user string) ([]audience.Subscriber, error) {
	var all []audience.Subscriber
	now := n.Now()
	urls, err := n.Followed(ctx, user)
	if err != nil {
		return nil, err
	}
	for _, u := range urls {
		q := hub.SubscriptionQuery{TopicID: hub.TopicID(u), Limit: 1000}
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

// Events returns the log events of a saved public feed.
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
