package hub

import (
	"context"
	"slices"

	"cloudburst/internal/event"
)

// notifyAggregator passes a ping to the aggregator: the URLs of the ping and all other known URLs
// of its topics. read reports that the aggregator follows one of these URLs and has stored the
// resulting work.
//
// spec:cloudburst#ping-wakes-river
func (h pinging) notifyAggregator(ctx context.Context, p Ping, urls []string, topics []Topic) (read bool, err error) {
	if h.OnPing == nil || p.ReaderNotified {
		return p.ReaderNotified, nil
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, u := range urls {
		add(u)
	}
	for _, t := range topics {
		add(t.URL)
		if t.About.Self != "" && !h.private(t.About.Self) {
			add(t.About.Self)
		}
	}
	return h.OnPing(ctx, names, p.Via)
}

// pingAggregatorOnly answers a ping of a feed without subscribers that the aggregator follows.
// The aggregator reads the feed, so the hub does not.
func (h pinging) pingAggregatorOnly(ctx context.Context, p Ping) (PingResult, error) {
	now := h.now()
	list := []Change{{URL: p.URL, Feed: p.URL, Via: p.Via}}
	h.numberChanges(list, now)
	events := []event.Event{unsubscribedEvent(p)}
	h.stamp(events)
	if err := h.Store.Announce(ctx, list, nil, now, now, events); err != nil {
		return PingResult{}, err
	}
	h.publish(events...)
	return PingResult{Known: true}, nil
}

// unsubscribedEvent returns the log event of a ping without subscribers. It does not reveal that a
// user reads the feed, because the log is public and reading is private.
//
// spec:cloudburst#river-feeds-private
func unsubscribedEvent(p Ping) event.Event {
	return event.Event{Kind: event.KindPing, TopicID: TopicID(p.URL), Topic: p.URL, OK: true, Via: p.Via, Peer: peerOf(p),
		Text: "Nobody here is subscribed to this feed; there is nobody to notify."}
}
