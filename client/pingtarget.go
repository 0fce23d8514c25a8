package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// PingTarget is another server that this server pings when a hosted feed is saved.
type PingTarget struct {
	Kind  string `json:"kind"` // protocol: rsscloud, rsscloud-xmlrpc, weblogs, weblogs-extended, get or websub
	URL   string `json:"url"`
	User  string `json:"user"`
	Topic string `json:"topic"` // URL of the feed

	State    string     `json:"state"`             // state of the ping: told (delivered), owed (pending), telling (being sent) or given-up
	Version  int64      `json:"version"`           // newest version of the feed
	Notified int64      `json:"told"`              // last version that the target was notified of; 0: no version
	LastAt   *time.Time `json:"last_at,omitempty"` // time of the last attempt
	Last     string     `json:"last,omitempty"`    // outcome of the last attempt
	OK       bool       `json:"ok"`                // the last attempt succeeded
	Tries    int        `json:"tries,omitempty"`   // number of consecutive failed attempts
	NextAt   *time.Time `json:"next_at,omitempty"` // time of the next attempt
}

// PingTargetQuery selects ping targets. A zero field does not restrict the result.
type PingTargetQuery struct {
	User    string
	Pending bool // selects only targets that were not notified of the newest version
	Limit   int  // maximum number of targets; 0 means all
}

// PingTargets lists the ping targets of all feeds, sorted by user, target and feed.
func (c *Client) PingTargets(ctx context.Context, q PingTargetQuery) iter.Seq2[PingTarget, error] {
	v := url.Values{}
	set(v, "user", q.User)
	setTrue(v, "owing", q.Pending)
	return pages[PingTarget](ctx, c, "/v1/sinks", v, "sinks", q.Limit)
}

// RetryPingTargets makes the server ping all targets now that were not notified of the newest
// version. If target is not "", it pings only the target with this URL. It returns the number of
// targets.
func (c *Client) RetryPingTargets(ctx context.Context, target string) (int, error) {
	v := url.Values{}
	set(v, "url", target)
	return memberOf[int](ctx, c, "POST", "/v1/sinks/retry", v, nil, "retried")
}

// Tick is a requested change of the test feed.
type Tick struct {
	At  time.Time `json:"at"`
	URL string    `json:"url"` // URL of the test feed
}

// TickTestFeed changes the test feed and notifies its subscribers now.
func (c *Client) TickTestFeed(ctx context.Context) (Tick, error) {
	return answer[Tick](ctx, c, "POST", "/v1/testfeed/tick", nil, nil)
}
