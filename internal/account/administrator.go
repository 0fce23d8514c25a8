package account

import (
	"context"
	"time"
)

// RoleStore stores which users are administrators. It also finds and deletes users.
type RoleStore interface {
	// SetAdministrator makes a user an administrator (on) or revokes the role. fault.NotFound: the
	// user does not exist.
	SetAdministrator(ctx context.Context, name string, on bool) error
	// FindUsers lists users by name.
	FindUsers(ctx context.Context, q UserQuery) ([]User, error)
	// DeleteUser deletes a user and everything that the user stored. It reserves the name for ever.
	// fault.NotFound: the user does not exist; fault.Conflict: the user is the first user, who owns
	// the server's river.
	DeleteUser(ctx context.Context, name string, at time.Time) error
	// IsDeleted reports whether the name belonged to a user who was deleted.
	IsDeleted(ctx context.Context, name string) (bool, error)
}

// UserQuery selects users. A zero field selects all users.
type UserQuery struct {
	Match string // text that the name contains, at most 32 bytes
	// Administrators selects administrators only.
	Administrators bool
	After          string // last name of the previous batch; "": from the beginning
	Limit          int    // at most 1,000; 0 means 100
}

// FindUsers lists users sorted by name. fault.Invalid: Match is too long or has control characters.
func (a *Accounts) FindUsers(ctx context.Context, q UserQuery) ([]User, error) {
	if err := checkText("text to search for", q.Match, MaxName); err != nil {
		return nil, err
	}
	return a.Store.FindUsers(ctx, q)
}

// SetAdministrator makes a user an administrator (on) or revokes the role. The change takes effect
// at once, also in open sessions. fault.NotFound: the user does not exist.
func (a *Accounts) SetAdministrator(ctx context.Context, name string, on bool) error {
	return a.Store.SetAdministrator(ctx, name, on)
}
