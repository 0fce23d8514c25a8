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
	var v Version
	err := c.call(ctx, "GET", "/v1/version", nil, nil, &v)
	return v, err
}

// Status returns the state of the server.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.call(ctx, "GET", "/v1/status", nil, nil, &s)
	return s, err
}

// Minutes returns the history of the server by minute since a given time, oldest first. The zero
// time means the last 24 hours.
func (c *Client) Minutes(ctx context.Context, since time.Time) ([]Minute, error) {
	q := url.Values{}
	setTime(q, "since", since)
	var page struct {
		Minutes []Minute `json:"minutes"`
	}
	err := c.call(ctx, "GET", "/v1/minutes", q, nil, &page)
	return page.Minutes, err
}

// Topic returns the topic with the given feed URL. If the server does not know the feed,
// [IsNotFound] reports true for the error.
func (c *Client) Topic(ctx context.Context, topic string) (Topic, error) {
	var t Topic
	err := c.call(ctx, "GET", "/v1/topic", url.Values{"url": {topic}}, nil, &t)
	return t, err
}

// Topics lists topics, sorted by URL.
func (c *Client) Topics(ctx context.Context, q TopicQuery) iter.Seq2[Topic, error] {
	v := url.Values{}
	set(v, "match", q.Match)
	return pages(q.Limit, v, func(v url.Values) ([]Topic, string, error) {
		var page struct {
			Topics []Topic `json:"topics"`
			Next   string  `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/topics", v, nil, &page)
		return page.Topics, page.Next, err
	})
}

// Subscriptions lists subscriptions, grouped by topic.
func (c *Client) Subscriptions(ctx context.Context, q SubscriptionQuery) iter.Seq2[Subscription, error] {
	v := url.Values{}
	set(v, "topic", q.Topic)
	set(v, "match", q.Match)
	set(v, "protocol", q.Protocol)
	return pages(q.Limit, v, func(v url.Values) ([]Subscription, string, error) {
		var page struct {
			Subscriptions []Subscription `json:"subscriptions"`
			Next          string         `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/subscriptions", v, nil, &page)
		return page.Subscriptions, page.Next, err
	})
}

// Log lists events, newest first.
func (c *Client) Log(ctx context.Context, q LogQuery) iter.Seq2[Event, error] {
	return pages(q.Limit, q.values(), func(v url.Values) ([]Event, string, error) {
		var page struct {
			Events []Event `json:"events"`
			Next   string  `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/log", v, nil, &page)
		return page.Events, page.Next, err
	})
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

// pages iterates over all rows of a list, with one request per page.
func pages[T any](limit int, query url.Values, read func(url.Values) (rows []T, next string, err error)) iter.Seq2[T, error] {
	return pagesOf(pageSize, limit, query, read)
}

// pagesOf is like pages with the given number of rows per request.
func pagesOf[T any](most, limit int, query url.Values, read func(url.Values) (rows []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		query := maps.Clone(query) // each iteration begins with the first page
		for left := limit; ; {
			size := most
			if limit > 0 {
				size = min(left, most)
			}
			query.Set("limit", strconv.Itoa(size))
			rows, next, err := read(query)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			left -= len(rows)
			if next == "" || limit > 0 && left <= 0 {
				return
			}
			query.Set("cursor", next)
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
