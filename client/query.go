package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// TopicQuery selects topics. Zero fields do not restrict.
type TopicQuery struct {
	Match string // part of the URL, case-insensitive
	Limit int    // most topics in all; 0: every one
}

// SubscriptionQuery selects subscriptions. Zero fields do not restrict.
type SubscriptionQuery struct {
	Topic    string // URL of the feed
	Match    string // part of the feed's URL or of the callback, case-insensitive
	Protocol string
	Limit    int // most subscriptions in all; 0: every one
}

// LogQuery selects events. Zero fields do not restrict.
type LogQuery struct {
	Topic string    // URL of the feed
	Kinds []string  // any of these
	Text  string    // part of the feed's URL, the text or the peer, case-insensitive
	Since time.Time // from this moment on
	Until time.Time // before this moment
	Limit int       // most events in all; 0: every one
}

// pageSize is how many rows one request asks for; the server gives no more.
const pageSize = 1000

// Version says what is running.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var v Version
	err := c.call(ctx, "GET", "/v1/version", nil, nil, &v)
	return v, err
}

// Status says how the server is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.call(ctx, "GET", "/v1/status", nil, nil, &s)
	return s, err
}

// Minutes is the history since a moment, oldest first; the zero time asks for the
// last day.
func (c *Client) Minutes(ctx context.Context, since time.Time) ([]Minute, error) {
	q := url.Values{}
	setTime(q, "since", since)
	var page struct {
		Minutes []Minute `json:"minutes"`
	}
	err := c.call(ctx, "GET", "/v1/minutes", q, nil, &page)
	return page.Minutes, err
}

// Topic is the feed with that URL. IsNotFound tells that the server has never
// heard of it.
func (c *Client) Topic(ctx context.Context, topic string) (Topic, error) {
	var t Topic
	err := c.call(ctx, "GET", "/v1/topic", url.Values{"url": {topic}}, nil, &t)
	return t, err
}

// Topics lists topics in order of their URL.
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

// Subscriptions lists subscriptions, those of one topic together.
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

// Log lists events, the newest first.
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

// pages iterates over all rows of a list, one request a page.
func pages[T any](limit int, query url.Values, read func(url.Values) (rows []T, next string, err error)) iter.Seq2[T, error] {
	return pagesOf(pageSize, limit, query, read)
}

// pagesOf is pages, of a size of their own.
func pagesOf[T any](most, limit int, query url.Values, read func(url.Values) (rows []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
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
