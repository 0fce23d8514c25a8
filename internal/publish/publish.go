// Package publish notifies everybody who follows what users of this server save: subscribers of
// the hub, readers of the river, and ping targets at other servers. See [Notifier].
package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

// Notifier knows under which addresses somebody follows what a user saves, and notifies them. All
// fields must be set.
type Notifier struct {
	Hub     Hub
	Store   Store
	Readers Readers
	Sources Sources
	Posts   Posts
	Hosted  Hosted
	Targets Targets
	Names   *origin.Names
	Stamp   func(now time.Time, events ...*event.Event)              // numbers events for the log
	Trace   func(ctx context.Context, f author.Feed) context.Context // begins the trace of a saved feed
	Now     func() time.Time
	Log     *slog.Logger

	notifiedViews notifiedViews
}

// Hub takes pings; *hub.Hub is one.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
}

// Store knows what subscribers follow; every hub.Store is one.
type Store interface {
	Following(ctx context.Context, urls []string, now time.Time, limit int) ([]hub.Topic, error)
	FollowedUnder(ctx context.Context, prefix, after string, now time.Time, limit int) ([]string, error)
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
	Topic(ctx context.Context, id int64) (hub.Topic, error)
}

// Readers hear of changes; *river.River is one.
type Readers interface {
	ReceivePushAny(ctx context.Context, urls []string, via string) (known bool, err error)
}

// Sources knows what people read here; every river.Store is one.
type Sources interface {
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// Posts knows when the posts of a view changed; *author.Posts is one.
type Posts interface {
	Stamp(ctx context.Context, user, category string) (int64, error)
}

// Hosted knows the addresses of hosted feeds.
type Hosted interface {
	Addresses(user string) []string // paths of a user's public feed, its own first
	ViewAt(path, query string) (author.View, bool)
}

// Targets notifies other servers; *announce.Announcer is one.
type Targets interface {
	Saved(ctx context.Context, n announce.News) error
}

// Saved takes a saved feed down the ping path, in each form and by each name under
// which somebody follows it.
//
// spec:rsscloud-2009#save-rss
func (n *Notifier) Saved(ctx context.Context, f author.Feed) error {
	if f.Name != author.Public {
		return nil // nobody hears of private feeds
	}
	if !n.Names.Served() {
		return author.ErrNotServing // nobody can read the feed before somebody serves it
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
	for _, u := range urls { // one that cannot be told now keeps none of the others waiting
		_, err := n.Hub.Ping(ctx, hub.Ping{URL: u, Via: "save", ReaderNotified: later == nil, OnlyThisURL: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			later = errors.Join(later, err) // other troubles will not go away
		} else if err != nil {
			n.Log.Warn("tell of a saved feed", "url", u, "err", err)
		}
	}
	return errors.Join(later, n.notifyViews(ctx, f.User))
}

// Followed are the addresses of a user's public feed that somebody follows. Its own
// comes first, followed or not: the list of changes names it.
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

// Addresses are the addresses of a user's public feed, its own first.
func (n *Notifier) Addresses(user string) []string {
	var all []string
	origins := n.Names.All()
	if len(origins) == 0 {
		origins = []string{n.Names.Public()} // a command, while no server runs
	}
	for _, origin := range origins {
		for _, path := range n.Hosted.Addresses(user) {
			all = append(all, origin+path)
		}
	}
	return all
}

// announce queues the notifications of ping targets about a saved feed.
func (n *Notifier) announce(ctx context.Context, f author.Feed) error {
	return n.Targets.Saved(ctx, announce.News{
		User: f.User, Topic: n.Names.Public() + n.Hosted.Addresses(f.User)[0], Name: cmp.Or(f.Title, f.User),
		Home: n.Names.Public() + "/" + f.User + "/", Version: f.Version, SavedAt: f.SavedAt,
	})
}

// Disabled has those told who follow what everyone writes, when somebody's posts are no
// longer among it or are again. Who reads the user's own feed finds that out by reading it,
// and when it is there again at once.
func (n *Notifier) Disabled(ctx context.Context, user string, disabled bool) {
	if !n.Names.Served() {
		return // nobody serves, so nobody has read anything
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if !disabled {
		_, err := n.Readers.ReceivePushAny(ctx, n.Addresses(user), "save")
		n.logError(ctx, "tell readers of "+user, err)
	}
	n.logError(ctx, "tell of what everyone writes", n.notifyViews(ctx, user))
}

// Subscribers are the live subscriptions to a user's public feed.
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

// Events is what the log says of a public feed that was saved.
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
