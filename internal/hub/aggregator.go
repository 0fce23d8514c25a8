package hub

import (
	"context"
	"slices"

	"cloudburst/internal/event"
)

// tellReaders tells those who read feeds in this program of news, by its URLs and by
// every other name under which the topics that it means are known. read reports that
// some of it is theirs; what follows is on disk then.
//
// spec:cloudburst#ping-tells-readers
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

// pingRead answers a ping of a feed to which nobody is subscribed, but which is read
// here: its readers know, and the hub need not read it too.
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

// readEvent says what is said of a feed that nobody here knows: everybody may read the
// log, and what people here read is their own affair.
//
// spec:cloudburst#reading-is-not-told
func unsubscribedEvent(p Ping) event.Event {
	return event.Event{Kind: event.KindPing, TopicID: TopicID(p.URL), Topic: p.URL, OK: true, Via: p.Via, Peer: peerOf(p),
		Text: noSubscribersText}
}
