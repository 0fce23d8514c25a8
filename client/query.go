package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"
	"time"
)

// TopicQuery selects topics. A zero field does not restrict the result.
type TopicQuery struct {
	Match string // text that the URL contains, case-insensitive
	Limit int    // maximum number of topics; 0 means all
}

// SubscriptionQuery selects subscriptions. A zero field does not restrict the result.
type SubscriptionQuery struct {
	Topic    string // URL of the feed
	Match    string // text that the URL of the feed or of the callback contains, case-insensitive
	Protocol string
	Limit    int // maximum number of subscriptions; 0 means all
}

// LogQuery selects events. A zero field does not restrict the result.
type LogQuery struct {
	Topic string    // URL of the feed
	Kinds []string  // kinds of events to select
	Text  string    // text that the feed's URL, the event's text or the peer contains, case-insensitive
	Since time.Time // time of the earliest event, inclusive
	Until time.Time // time after the latest event, exclusive
	Limit int       // maximum number of events; 0 means all
}

// pageSize is the number of rows per request, which is the maximum that the server accepts.
const pageSize = 1000

// Version returns the version of the running server.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return answer[Version](ctx, c, "GET", "/v1/version", nil, nil)
}

// Status returns the state of the server.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return answer[Status](ctx, c, "GET", "/v1/status", nil, nil)
}

// Minutes returns the history of the server by minute since a given time, oldest first. The zero
// time means the last 24 hours.
func (c *Client) Minutes(ctx context.Context, since time.Time) ([]Minute, error) {
	q := url.Values{}
	setTime(q, "since", since)
	return memberOf[[]Minute](ctx, c, "GET", "/v1/minutes", q, nil, "minutes")
}

// Topic returns the topic with the given feed URL. If the server does not know the feed,
// [IsNotFound] reports true for the error.
func (c *Client) Topic(ctx context.Context, topic string) (Topic, error) {
	return answer[Topic](ctx, c, "GET", "/v1/topic", url.Values{"url": {topic}}, nil)
}

// Topics lists topics, sorted by URL.
func (c *Client) Topics(ctx context.Context, q TopicQuery) iter.Seq2[Topic, error] {
	v := url.Values{}
	set(v, "match", q.Match)
	return pages[Topic](ctx, c, "/v1/topics", v, "topics", q.Limit)
}

// Subscriptions lists subscriptions, grouped by topic.
func (c *Client) Subscriptions(ctx context.Context, q SubscriptionQuery) iter.Seq2[Subscription, error] {
	v := url.Values{}
	set(v, "topic", q.Topic)
	set(v, "match", q.Match)
	set(v, "protocol", q.Protocol)
	return pages[Subscription](ctx, c, "/v1/subscriptions", v, "subscriptions", q.Limit)
}

// Log lists events, newest first.
func (c *Client) Log(ctx context.Context, q LogQuery) iter.Seq2[Event, error] {
	return pages[Event](ctx, c, "/v1/log", q.values(), "events", q.Limit)
}

func (q LogQuery) values() url.Values {
	v := url.Values{}
	set(v, "topic", q.Topic)
	set(v, "text", q.Text)
	for _, k := range q.Kinds {
		v.Add("kind", k)
	}
	setTime(v, "since", q.Since)
	setTime(v, "until", q.Until)
	return v
}

// pages iterates over the rows of a list, with one request per page. The responses contain the rows
// in the member called key. limit is the maximum number of rows; 0: all.
func pages[T any](ctx context.Context, c *Client, path string, query url.Values, key string, limit int) iter.Seq2[T, error] {
	return pagesOf[T](ctx, c, path, query, key, limit, pageSize)
}

// userPages is like pages for an endpoint below /v1/users/.
func userPages[T any](ctx context.Context, c *Client, query url.Values, key string, limit int, names ...string) iter.Seq2[T, error] {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return func(yield func(T, error) bool) {
			var none T
			yield(none, err)
		}
	}
	return pages[T](ctx, c, path, query, key, limit)
}

// pagesOf is like pages with at most this number of rows per request.
func pagesOf[T any](ctx context.Context, c *Client, path string, query url.Values, key string, limit, most int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		query := maps.Clone(query) // each iteration begins with the first page
		for left := limit; ; {
			size := most
			if limit > 0 {
				size = min(left, most)
			}
			query.Set("limit", strconv.Itoa(size))
			page := member[[]T]{key: key}
			if err := c.call(ctx, "GET", path, query, nil, &page); err != nil {
				yield(zero, err)
				return
			}
			for _, row := range page.value {
				if !yield(row, nil) {
					return
				}
			}
			left -= len(page.value)
			if page.next == "" || limit > 0 && left <= 0 {
				return
			}
			query.Set("cursor", page.next)
		}
	}
}

func set(v url.Values, key, value string) {
	if value != "" {
		v.Set(key, value)
	}
}

func setTime(v url.Values, key string, t time.Time) {
	if !t.IsZero() {
		v.Set(key, t.UTC().Format(time.RFC3339Nano))
	}
}
