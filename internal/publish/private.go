package publish

import (
	"context"
	"errors"
	"slices"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// topicBatch is the maximum number of topics in one query.
const topicBatch = 300

// savedPrivate pings the hub for the topics of a private feed that have subscribers. Each reader
// has their own topic, which does not contain the name of the feed. No list and no log contains the
// topics. A reader whose secret was revoked has no topic.
//
// spec:cloudburst#private-topic
func (n *Notifier) savedPrivate(ctx context.Context, f author.Feed) error {
	if !n.Names.Served() {
		return author.ErrNotServing
	}
	urls, err := n.followedTopics(ctx, f.User, f.Name)
	if err != nil {
		return err
	}
	var later error
	for _, u := range urls {
		_, err := n.Hub.Ping(ctx, hub.Ping{URL: u, Via: "save", ReaderNotified: true, OnlyThisURL: true})
		if code := fault.CodeOf(err); err != nil && (code == fault.Unavailable || code == fault.TooMany || code == fault.Internal) {
			later = errors.Join(later, err) // only temporary errors are returned, so that the caller tries again
		}
	}
	return later
}

// followedTopics returns the topic URLs of a private feed that have subscribers.
func (n *Notifier) followedTopics(ctx context.Context, user, feed string) (urls []string, err error) {
	paths, err := n.Topics(ctx, user, feed)
	if err != nil {
		return nil, err
	}
	all := n.TopicURLs(paths)
	for some := range slices.Chunk(all, topicBatch) {
		topics, err := n.Store.Following(ctx, some, 0, n.Now(), len(some))
		if err != nil {
			return nil, err
		}
		for _, t := range topics {
			if slices.Contains(some, t.URL) {
				urls = append(urls, t.URL)
			}
		}
	}
	return urls, nil
}

// TopicURLs returns the URLs of paths at each host name of this server.
func (n *Notifier) TopicURLs(paths []string) []string {
	var all []string
	for _, origin := range n.Names.All() {
		for _, path := range paths {
			all = append(all, origin+path)
		}
	}
	return all
}

// Revoked ends the subscriptions of a reader whose secret was revoked. paths has the paths of the
// reader's topics.
func (n *Notifier) Revoked(ctx context.Context, paths []string, remove func(ctx context.Context, keys []hub.Key) error) error {
	for _, u := range n.TopicURLs(paths) {
		q := hub.SubscriptionQuery{TopicID: hub.TopicID(u), Limit: 1000}
		list, err := n.Store.Subscriptions(ctx, q)
		if err != nil {
			return err
		}
		var keys []hub.Key
		for _, s := range list {
			keys = append(keys, s.Key())
		}
		if len(keys) == 0 {
			continue
		}
		if err := remove(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}
