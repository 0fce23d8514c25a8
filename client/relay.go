package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Relay is the server's own subscription to a feed at an upstream hub.
type Relay struct {
	Feed  string   `json:"feed"`
	Via   string   `json:"via"`   // protocol: rsscloud, websub or cnws
	Hub   string   `json:"hub"`   // URL of the hub's endpoint
	Topic string   `json:"topic"` // URL of the feed as the hub knows it
	State string   `json:"state"` // state: pending, active, refused, lost or ending
	For   []string `json:"for"`   // parts of the server that use the subscription

	CreatedAt   time.Time  `json:"created_at"`
	RequestedAt *time.Time `json:"requested_at,omitempty"` // time of the last request to the hub
	ConfirmedAt *time.Time `json:"confirmed_at,omitempty"` // time of the last confirmation by the hub
	PushedAt    *time.Time `json:"heard_at,omitempty"`     // time of the last notification from the hub, with a precision of one minute
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`   // end of the subscription's lease
	NextAt      *time.Time `json:"next_at,omitempty"`      // time of the next request

	Failures    int        `json:"failures,omitempty"` // number of consecutive failed requests
	Rejected    int64      `json:"rejected,omitempty"` // number of notifications with an invalid signature
	LastError   string     `json:"last_error,omitempty"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
}

// RelayRequest states the feed to subscribe to. If Via is "", the server selects the best protocol
// that the feed offers. If Hub is set, Via is required.
type RelayRequest struct {
	Feed string `json:"feed"`
	Via  string `json:"via,omitempty"`
	Hub  string `json:"hub,omitempty"`
}

// RelayQuery selects relays. A zero field does not restrict the result.
type RelayQuery struct {
	Match string // text that the URL of the feed or of the hub contains, case-insensitive
	Via   string
	State string
	Limit int // maximum number of relays; 0 means all
}

// Relays lists the server's subscriptions at upstream hubs, sorted by feed URL.
func (c *Client) Relays(ctx context.Context, q RelayQuery) iter.Seq2[Relay, error] {
	v := url.Values{}
	set(v, "match", q.Match)
	set(v, "via", q.Via)
	set(v, "state", q.State)
	return pages[Relay](ctx, c, "/v1/relays", v, "relays", q.Limit)
}

// AddRelay subscribes the server to a feed, or renews the subscription. The hub confirms or rejects
// the subscription later; see the State of the relay.
func (c *Client) AddRelay(ctx context.Context, r RelayRequest) (Relay, error) {
	return answer[Relay](ctx, c, "POST", "/v1/relays", nil, r)
}

// RemoveRelay ends the subscriptions to a feed and returns the removed relays. If via is "", it
// ends the subscriptions of all protocols. If no relay matches, [IsNotFound] reports true for the
// error.
func (c *Client) RemoveRelay(ctx context.Context, feed, via string) ([]Relay, error) {
	v := url.Values{"feed": {feed}}
	set(v, "via", via)
	return memberOf[[]Relay](ctx, c, "DELETE", "/v1/relays", v, nil, "removed")
}
