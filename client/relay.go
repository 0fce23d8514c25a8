package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Relay is a feed that the server follows at another hub, by one protocol.
type Relay struct {
	Feed  string   `json:"feed"`
	Via   string   `json:"via"`   // rsscloud, websub, cnws
	Hub   string   `json:"hub"`   // URL of its door
	Topic string   `json:"topic"` // URL, as the hub names the feed
	State string   `json:"state"` // pending, active, refused, lost, ending
	For   []string `json:"for"`   // what in the server wants it

	CreatedAt   time.Time  `json:"created_at"`
	RequestedAt *time.Time `json:"requested_at,omitempty"` // the hub was last asked
	ConfirmedAt *time.Time `json:"confirmed_at,omitempty"` // it last said yes
	PushedAt    *time.Time `json:"heard_at,omitempty"`     // it last told of a change, to the minute
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`   // its yes runs out
	NextAt      *time.Time `json:"next_at,omitempty"`      // it is asked again

	Failures    int        `json:"failures,omitempty"` // questions in a row that came to nothing
	Rejected    int64      `json:"rejected,omitempty"` // deliveries that were not signed as they should be
	LastError   string     `json:"last_error,omitempty"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
}

// RelayRequest says what to follow. Without Via, it is the best that the feed offers;
// with Hub, Via must be set.
type RelayRequest struct {
	Feed string `json:"feed"`
	Via  string `json:"via,omitempty"`
	Hub  string `json:"hub,omitempty"`
}

// RelayQuery selects relays. Zero fields do not restrict.
type RelayQuery struct {
	Match string // part of the feed's or the hub's URL, case-insensitive
	Via   string
	State string
	Limit int // most relays in all; 0: every one
}

// Relays lists the feeds that the server follows at other hubs, in order of their URL.
func (c *Client) Relays(ctx context.Context, q RelayQuery) iter.Seq2[Relay, error] {
	v := url.Values{}
	set(v, "match", q.Match)
	set(v, "via", q.Via)
	set(v, "state", q.State)
	return pages(q.Limit, v, func(v url.Values) ([]Relay, string, error) {
		var page struct {
			Relays []Relay `json:"relays"`
			Next   string  `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/relays", v, nil, &page)
		return page.Relays, page.Next, err
	})
}

// AddRelay has the server follow a feed, or ask its hub anew. The hub's answer stands
// in the Relay some time later.
func (c *Client) AddRelay(ctx context.Context, r RelayRequest) (Relay, error) {
	var out Relay
	err := c.call(ctx, "POST", "/v1/relays", nil, r, &out)
	return out, err
}

// RemoveRelay ends following a feed, by one protocol or (via "") by all, and returns
// what was ended. IsNotFound tells that it was not followed.
func (c *Client) RemoveRelay(ctx context.Context, feed, via string) ([]Relay, error) {
	v := url.Values{"feed": {feed}}
	set(v, "via", via)
	var out struct {
		Removed []Relay `json:"removed"`
	}
	err := c.call(ctx, "DELETE", "/v1/relays", v, nil, &out)
	return out.Removed, err
}
