package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"
)

// User is an account on the server.
type User struct {
	Name       string     `json:"name"` // 1 to 32 of the characters a to z, 0 to 9, _ and -
	CreatedAt  time.Time  `json:"created_at"`
	PasswordAt *time.Time `json:"password_at,omitempty"` // time when the password was set
	SeenAt     *time.Time `json:"seen_at,omitempty"`     // approximate time of the last login
	Disabled   bool       `json:"disabled"`              // the user cannot sign in, and their tokens are rejected
	// Administrator means that the user can manage the server on its pages.
	Administrator bool `json:"administrator"`
}

// Token gives a program access to a user's account, limited by scopes.
type Token struct {
	ID        string     `json:"id"`
	User      string     `json:"user"`
	Label     string     `json:"label,omitempty"` // name that the user chose for the token
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // approximate time of the last use
	// Token is the token itself. It is set only in the response that creates the token.
	Token string `json:"token,omitempty"`
}

// TokenRequest describes a new token.
type TokenRequest struct {
	Label  string   `json:"label,omitempty"`
	Scopes []string `json:"scopes"` // scopes of the token: any of create, update, delete, media and read
}

// userPath returns the path of a resource of a user. A name that consists of dots is an error,
// because it would select another path.
func userPath(root string, names ...string) (string, error) {
	for i, n := range names {
		if strings.Trim(n, ".") == "" {
			return "", fmt.Errorf("client: invalid name %q", n)
		}
		names[i] = url.PathEscape(n)
	}
	return root + strings.Join(names, "/"), nil
}

// Users lists the accounts, sorted by name. limit is the maximum number of accounts; 0: all.
func (c *Client) Users(ctx context.Context, limit int) iter.Seq2[User, error] {
	return pages[User](ctx, c, "/v1/users", url.Values{}, "users", limit)
}

// User returns one account. If the account does not exist, [IsNotFound] reports true for the error.
func (c *Client) User(ctx context.Context, name string) (User, error) {
	return userCall[User](ctx, c, "GET", nil, name)
}

// AddUser creates an account. The password is sent only in the request body.
func (c *Client) AddUser(ctx context.Context, name, password string) (User, error) {
	return answer[User](ctx, c, "POST", "/v1/users", nil, map[string]string{"name": name, "password": password})
}

// SetPassword changes a user's password and ends the user's sessions.
func (c *Client) SetPassword(ctx context.Context, name, password string) (User, error) {
	return userCall[User](ctx, c, "POST", map[string]string{"password": password}, name, "password")
}

// DisableUser disables or enables an account.
func (c *Client) DisableUser(ctx context.Context, name string, disabled bool) (User, error) {
	return userCall[User](ctx, c, "POST", map[string]bool{"disabled": disabled}, name, "disabled")
}

// NewToken creates a token for a user. Only the result of NewToken contains the field Token,
// because the server does not store the token.
func (c *Client) NewToken(ctx context.Context, user string, r TokenRequest) (Token, error) {
	return userCall[Token](ctx, c, "POST", r, user, "tokens")
}

// Tokens lists a user's tokens, without the Token field.
func (c *Client) Tokens(ctx context.Context, user string) ([]Token, error) {
	return userMember[[]Token](ctx, c, "tokens", user, "tokens")
}

// RevokeToken revokes a token. If the user has no such token, [IsNotFound] reports true for the
// error.
func (c *Client) RevokeToken(ctx context.Context, user, id string) error {
	_, err := userCall[struct{}](ctx, c, "DELETE", nil, user, "tokens", id)
	return err
}

// userCall calls an endpoint below /v1/users/.
func userCall[T any](ctx context.Context, c *Client, method string, in any, names ...string) (T, error) {
	return pathCall[T](ctx, c, method, in, "/v1/users/", names...)
}

// pathCall calls an endpoint below root.
func pathCall[T any](ctx context.Context, c *Client, method string, in any, root string, names ...string) (out T, err error) {
	path, err := userPath(root, names...)
	if err != nil {
		return out, err
	}
	return answer[T](ctx, c, method, path, nil, in)
}

// userMember returns the member called key of a resource below /v1/users/.
func userMember[T any](ctx context.Context, c *Client, key string, names ...string) (out T, err error) {
	path, err := userPath("/v1/users/", names...)
	if err != nil {
		return out, err
	}
	return memberOf[T](ctx, c, "GET", path, nil, nil, key)
}
