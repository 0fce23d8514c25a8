package account

import (
	"context"
	"time"
)

// RoleStore stores which users are administrators, and deletes users.
type RoleStore interface {
	// SetAdministrator makes a user an administrator, or takes the role away. fault.NotFound.
	SetAdministrator(ctx context.Context, name string, on bool) error
	// FindUsers lists users by name.
	FindUsers(ctx context.Context, q UserQuery) ([]User, error)
	// DeleteUser deletes a user with everything that they stored, and reserves the name for ever.
	// fault.NotFound: no such user; fault.Conflict: the user is the first one, who owns the
	// server's river.
	DeleteUser(ctx context.Context, name string, at time.Time) error
	// IsDeleted reports whether the name belonged to a user who was deleted.
	IsDeleted(ctx context.Context, name string) (bool, error)
}

// UserQuery selects users. Zero fields mean all.
type UserQuery struct {
	Match string // part of the name, at most 32 bytes
	// Administrators selects administrators only.
	Administrators bool
	After          string // the last name of the previous page
	Limit          int    // at most 1,000; 0 means 100
}

// FindUsers lists users by name. fault.Invalid: the text to search for is too long.
func (a *Accounts) FindUsers(ctx context.Context, q UserQuery) ([]User, error) {
	if err := checkText("text to search for", q.Match, MaxName); err != nil {
		return nil, err
	}
	return a.Store.FindUsers(ctx, q)
}

// SetAdministrator makes a user an administrator, or takes the role away. It takes effect at once,
// in open sessions too. fault.NotFound.
func (a *Accounts) SetAdministrator(ctx context.Context, name string, on bool) error {
	return a.Store.SetAdministrator(ctx, name, on)
}
