package account

import (
	"context"
	"errors"
	"time"
)

// Token lets a program do some things in a user's name.
type Token struct {
	ID, User, Label string
	Scopes          []string
	CreatedAt       time.Time
	UsedAt          time.Time // about its last use; zero: never
}

// ErrScope is in the chain of a refusal when the token is good, but not for this.
var ErrScope = errors.New("the token has not this scope")

// Scopes are what tokens can be allowed to do.
func Scopes() []string { return []string{"create", "update", "delete", "media", "read"} }

// NewToken makes a token; plain is shown once. Errors: fault.Invalid (the label or a
// scope), NotFound (no such user), Conflict (it has 100 already).
func (a *Accounts) NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t Token, err error) {
	return "", Token{}, errTodo
}

// Token is a log-in by token for something that needs scope ("": any). Errors:
// fault.Refused (no such token; or, with [ErrScope] in its chain, not for this), TooMany.
func (a *Accounts) Token(ctx context.Context, plain, scope string, from Caller) (Token, error) {
	return Token{}, errTodo
}

// Tokens lists those of a user, the oldest first.
func (a *Accounts) Tokens(ctx context.Context, user string) ([]Token, error) {
	return a.Store.Tokens(ctx, user)
}

// RevokeToken ends a token at once. fault.NotFound.
func (a *Accounts) RevokeToken(ctx context.Context, user, id string) error {
	return a.Store.RemoveToken(ctx, user, id)
}
