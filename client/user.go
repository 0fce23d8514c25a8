package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"
)

// User is who has an account on the server.
type User struct {
	Name       string     `json:"name"` // [a-z0-9_-]{1,32}
	CreatedAt  time.Time  `json:"created_at"`
	PasswordAt *time.Time `json:"password_at,omitempty"` // the password was last set
	SeenAt     *time.Time `json:"seen_at,omitempty"`     // they last logged in, about
	Disabled   bool       `json:"disabled"`              // every door is shut to them
}

// Token lets a program act for a user, within scopes.
type Token struct {
	ID        string     `json:"id"`
	User      string     `json:"user"`
	Label     string     `json:"label,omitempty"` // what the user calls it
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // about
	// Token is the token itself, in the answer that makes it and never again.
	Token string `json:"token,omitempty"`
}

// TokenRequest says what a token is for.
type TokenRequest struct {
	Label  string   `json:"label,omitempty"`
	Scopes []string `json:"scopes"` // of create, update, delete, media, read
}

// userPath is the path of a user's things. Names that would lead elsewhere are errors.
func userPath(root string, names ...string) (string, error) {
	for i, n := range names {
		if strings.Trim(n, ".") == "" {
			return "", fmt.Errorf("client: %q names nothing on the server", n)
		}
		names[i] = url.PathEscape(n)
	}
	return root + strings.Join(names, "/"), nil
}

// Users lists the accounts in order of their names; limit 0 is all of them.
func (c *Client) Users(ctx context.Context, limit int) iter.Seq2[User, error] {
	return pages(limit, url.Values{}, func(v url.Values) ([]User, string, error) {
		var page struct {
			Users []User `json:"users"`
			Next  string `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/users", v, nil, &page)
		return page.Users, page.Next, err
	})
}

// User is the account of that name. IsNotFound tells that there is none.
func (c *Client) User(ctx context.Context, name string) (User, error) {
	return userCall[User](ctx, c, "GET", nil, name)
}

// AddUser makes an account. The password travels in the body of the request only.
func (c *Client) AddUser(ctx context.Context, name, password string) (User, error) {
	var out User
	err := c.call(ctx, "POST", "/v1/users", nil, map[string]string{"name": name, "password": password}, &out)
	return out, err
}

// SetPassword gives a user another password and ends their sessions.
func (c *Client) SetPassword(ctx context.Context, name, password string) (User, error) {
	return userCall[User](ctx, c, "POST", map[string]string{"password": password}, name, "password")
}

// DisableUser shuts every door to a user, or opens them again.
func (c *Client) DisableUser(ctx context.Context, name string, disabled bool) (User, error) {
	return userCall[User](ctx, c, "POST", map[string]bool{"disabled": disabled}, name, "disabled")
}

// NewToken makes a token for a user. What it returns holds the token itself, which
// the server does not keep.
func (c *Client) NewToken(ctx context.Context, user string, r TokenRequest) (Token, error) {
	return userCall[Token](ctx, c, "POST", r, user, "tokens")
}

// Tokens are those of a user, without the tokens themselves.
func (c *Client) Tokens(ctx context.Context, user string) ([]Token, error) {
	type list struct {
		Tokens []Token `json:"tokens"`
	}
	out, err := userCall[list](ctx, c, "GET", nil, user, "tokens")
	return out.Tokens, err
}

// RevokeToken ends a token. IsNotFound tells that the user has none of that ID.
func (c *Client) RevokeToken(ctx context.Context, user, id string) error {
	_, err := userCall[struct{}](ctx, c, "DELETE", nil, user, "tokens", id)
	return err
}

// userCall calls a door below /v1/users/.
func userCall[T any](ctx context.Context, c *Client, method string, in any, names ...string) (out T, err error) {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return out, err
	}
	err = c.call(ctx, method, path, nil, in, &out)
	return out, err
}
