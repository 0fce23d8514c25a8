package account

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// User is somebody who has feeds here.
type User struct {
	Name       string
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was set
	SeenAt     time.Time // about the last log-in; zero: never
	Disabled   bool
}

var errTodo = fault.New(fault.Unsupported, "not yet")

// Check is a log-in. Errors: fault.Refused, in the same words whether the name is
// unknown, the password wrong or the user disabled; TooMany; Unavailable.
func (a *Accounts) Check(ctx context.Context, name, password string, from Caller) (User, error) {
	return User{}, errTodo
}

// Add makes a user. Errors: fault.Invalid (the name or the password cannot be one),
// Conflict (the name is taken), TooMany, Unavailable.
func (a *Accounts) Add(ctx context.Context, name, password string) (User, error) {
	return User{}, errTodo
}

// Register is Add for strangers, where everybody may have an account: limited by where
// they come from.
func (a *Accounts) Register(ctx context.Context, name, password string, from Caller) (User, error) {
	return User{}, errTodo
}

// Users lists in order of names, from the one after after; at most limit, which is at
// most 1,000 (0: 100).
func (a *Accounts) Users(ctx context.Context, after string, limit int) ([]User, error) {
	return a.Store.Users(ctx, after, limit)
}

// User returns one, or a fault.NotFound.
func (a *Accounts) User(ctx context.Context, name string) (User, error) {
	u, _, err := a.Store.User(ctx, name)
	return u, err
}

// SetPassword gives a user a new password and ends its sessions. Errors as of Add, and
// fault.NotFound.
func (a *Accounts) SetPassword(ctx context.Context, name, password string) error { return errTodo }

// Disable says whether a user may do anything. A disabled one's sessions end, and
// tokens and the secrets of readers do not work while it lasts. fault.NotFound.
func (a *Accounts) Disable(ctx context.Context, name string, disabled bool) error {
	return a.Store.DisableUser(ctx, name, disabled)
}

// Count is the number of users.
func (a *Accounts) Count(ctx context.Context) (int64, error) { return a.Store.CountUsers(ctx) }

// First is what whoever makes the first user has to know, made once per process; ""
// when there are users.
func (a *Accounts) First() string { return "" }

// AddFirst is Add with the token of First, while there is no user. Errors as of Add, and
// fault.Refused: the token is wrong, or there is a user.
func (a *Accounts) AddFirst(ctx context.Context, token, name, password string, from Caller) (User, error) {
	return User{}, errTodo
}

// Sweep removes what is over: sessions, nonces and places. It is for once an hour.
func (a *Accounts) Sweep(ctx context.Context) error { return nil }
