package client

import (
	"context"
	"time"
)

// Secret gives one reader access to the private feed of a user's group.
type Secret struct {
	Selector  string     `json:"selector"` // identifies the secret; not confidential
	User      string     `json:"user"`
	Reader    string     `json:"reader"` // name that the user chose for the reader
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // approximate time of the last use
	Group     string     `json:"group"`             // slug of the group

	// Access is set only in the response that creates the secret.
	Access *FeedAccess `json:"ways,omitempty"`
}

// FeedAccess has the two ways to read a private feed: a URL that contains the secret, and a URL
// without the secret together with a name and a password for HTTP Basic or WSSE authentication.
type FeedAccess struct {
	URL      string `json:"url"`     // URL of the feed; the URL contains the secret
	Address  string `json:"address"` // URL of the feed without the secret
	Name     string `json:"name"`
	Password string `json:"password"`
}

// NewSecret creates a secret for one reader of the private feed of a user's default group. Only the
// result of NewSecret contains the field Access.
func (c *Client) NewSecret(ctx context.Context, user, reader string) (Secret, error) {
	return Groups{c, user}.NewSecret(ctx, "", reader)
}

// Secrets lists the secrets of the private feeds of all groups of a user, without Access.
func (c *Client) Secrets(ctx context.Context, user string) ([]Secret, error) {
	type list struct {
		Secrets []Secret `json:"secrets"`
	}
	out, err := feedCall[list](ctx, c, "GET", nil, user, PrivateFeed, "secrets")
	return out.Secrets, err
}

// RevokeSecret revokes a secret. If the user has no such secret, [IsNotFound] reports true for the
// error.
func (c *Client) RevokeSecret(ctx context.Context, user, selector string) error {
	_, err := feedCall[struct{}](ctx, c, "DELETE", nil, user, PrivateFeed, "secrets", selector)
	return err
}
