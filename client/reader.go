package client

import (
	"context"
	"time"
)

// Secret lets one reader read a user's private feed.
type Secret struct {
	Selector  string     `json:"selector"` // names it; no secret
	User      string     `json:"user"`
	Reader    string     `json:"reader"` // what the user calls who has it
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // about

	// Ways are how to read the feed with it, in the answer that makes it and never
	// again.
	Access *FeedAccess `json:"ways,omitempty"`
}

// Ways are the ways in with a secret: the address that holds it, or the plain address
// with a name and a password, by Basic or by WSSE.
type FeedAccess struct {
	URL      string `json:"url"`     // holds the secret
	Address  string `json:"address"` // of the feed without it
	Name     string `json:"name"`
	Password string `json:"password"`
}

// NewSecret makes a secret for one reader of a user's private feed. What it returns
// holds the ways in, which the server does not show again.
func (c *Client) NewSecret(ctx context.Context, user, reader string) (Secret, error) {
	return feedCall[Secret](ctx, c, "POST", map[string]string{"reader": reader}, user, PrivateFeed, "secrets")
}

// Secrets are those of a user's private feed, without the ways in.
func (c *Client) Secrets(ctx context.Context, user string) ([]Secret, error) {
	type list struct {
		Secrets []Secret `json:"secrets"`
	}
	out, err := feedCall[list](ctx, c, "GET", nil, user, PrivateFeed, "secrets")
	return out.Secrets, err
}

// RevokeSecret ends a secret. IsNotFound tells that the user has none of that selector.
func (c *Client) RevokeSecret(ctx context.Context, user, selector string) error {
	_, err := feedCall[struct{}](ctx, c, "DELETE", nil, user, PrivateFeed, "secrets", selector)
	return err
}
