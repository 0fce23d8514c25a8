package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Sink is another server that is told of a feed that is saved here.
type PingTarget struct {
	Kind  string `json:"kind"` // how it is told: rsscloud, rsscloud-xmlrpc, weblogs, weblogs-extended, get, websub
	URL   string `json:"url"`
	User  string `json:"user"`
	Topic string `json:"topic"` // URL of the feed

	State    string     `json:"state"`             // told, owed, telling, given-up
	Version  int64      `json:"version"`           // the newest that it shall hear of
	Notified int64      `json:"told"`              // the one that it heard of last; 0: none
	LastAt   *time.Time `json:"last_at,omitempty"` // it was last told, or that was tried
	Last     string     `json:"last,omitempty"`    // what came of it
	OK       bool       `json:"ok"`                // that went well
	Tries    int        `json:"tries,omitempty"`   // failures in a row
	NextAt   *time.Time `json:"next_at,omitempty"` // it is told again
}

// SinkQuery selects sinks. Zero fields do not restrict.
type PingTargetQuery struct {
	User    string
	Pending bool // only those that have not heard of the newest version
	Limit   int  // most in all; 0: every one
}

// Sinks lists what other servers were told, in order of user, sink and feed.
func (c *Client) PingTargets(ctx context.Context, q PingTargetQuery) iter.Seq2[PingTarget, error] {
	v := url.Values{}
	set(v, "user", q.User)
	if q.Pending {
		v.Set("owing", "true")
	}
	return pages(q.Limit, v, func(v url.Values) ([]PingTarget, string, error) {
		var page struct {
			PingTargets []PingTarget `json:"sinks"`
			Next        string       `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/sinks", v, nil, &page)
		return page.PingTargets, page.Next, err
	})
}

// RetrySinks has those told at once that have not heard of the newest version: the one
// with this URL, or all. It returns how many there are.
func (c *Client) RetryPingTargets(ctx context.Context, sink string) (int, error) {
	v := url.Values{}
	set(v, "url", sink)
	var out struct {
		Retried int `json:"retried"`
	}
	err := c.call(ctx, "POST", "/v1/sinks/retry", v, nil, &out)
	return out.Retried, err
}

// Tick is a change of the test feed that somebody wanted.
type Tick struct {
	At  time.Time `json:"at"`
	URL string    `json:"url"` // of the test feed
}

// TickTestFeed has the test feed change at once, and its subscribers told.
func (c *Client) TickTestFeed(ctx context.Context) (Tick, error) {
	var out Tick
	err := c.call(ctx, "POST", "/v1/testfeed/tick", nil, nil, &out)
	return out, err
}
