package admin

import (
	"context"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// Users are the accounts of the server; account.Accounts implements it.
type Users interface {
	Add(ctx context.Context, name, password string) (account.User, error)
	User(ctx context.Context, name string) (account.User, error)
	FindUsers(ctx context.Context, q account.UserQuery) ([]account.User, error)
	Disable(ctx context.Context, name string, disabled bool) error
	SetAdministrator(ctx context.Context, name string, on bool) error
	SetPassword(ctx context.Context, name, password string) error
	Delete(ctx context.Context, name string) error
	Invite(ctx context.Context, by, note string, life time.Duration) (secret string, i account.Invite, err error)
	Invites(ctx context.Context, before time.Time, limit int) ([]account.Invite, error)
	RevokeInvite(ctx context.Context, id string) error
}

// CreateUser creates a user. It returns the errors of account.Accounts.Add.
func (a *Admin) CreateUser(ctx context.Context, by Actor, name, password string) (u account.User, err error) {
	if err := account.CheckName(name); err != nil { // an invalid name is not recorded in the audit log
		return u, err
	}
	err = a.Do(ctx, by, UserCreate, name, "", func() error {
		u, err = a.Users.Add(ctx, name, password)
		return err
	})
	return u, err
}

// InviteUser creates an invitation; see account.Accounts.Invite.
func (a *Admin) InviteUser(ctx context.Context, by Actor, note string, life time.Duration) (secret string, i account.Invite, err error) {
	err = a.Do(ctx, by, UserInvite, note, "", func() error {
		secret, i, err = a.Users.Invite(ctx, by.Name, note, life)
		return err
	})
	return secret, i, err
}

// RevokeInvite deletes an unused invitation. fault.NotFound: the invitation does not exist.
func (a *Admin) RevokeInvite(ctx context.Context, by Actor, i account.Invite) error {
	return a.Do(ctx, by, UserRevokeInvite, i.Note, "", func() error { return a.Users.RevokeInvite(ctx, i.ID) })
}

// DisableUser disables or enables a user. fault.Conflict: administrators cannot disable themselves;
// fault.NotFound: the user does not exist.
func (a *Admin) DisableUser(ctx context.Context, by Actor, name string, disabled bool) error {
	if disabled && by.is(name) {
		return ownAccount("disable")
	}
	action := UserEnable
	if disabled {
		action = UserDisable
	}
	return a.onUser(ctx, by, action, name, func() error { return a.Users.Disable(ctx, name, disabled) })
}

// SetAdministrator grants or removes the administrator role. fault.Conflict: administrators cannot
// remove their own role; fault.NotFound: the user does not exist.
func (a *Admin) SetAdministrator(ctx context.Context, by Actor, name string, on bool) error {
	if !on && by.is(name) {
		return fault.New(fault.Conflict, "You cannot take the role away from yourself. Ask another administrator.")
	}
	action := UserDemote
	if on {
		action = UserPromote
	}
	return a.onUser(ctx, by, action, name, func() error { return a.Users.SetAdministrator(ctx, name, on) })
}

// SetPassword sets the password of a user and ends the user's sessions. fault.Invalid: the password
// is not valid; fault.NotFound: the user does not exist.
func (a *Admin) SetPassword(ctx context.Context, by Actor, name, password string) error {
	return a.onUser(ctx, by, UserPassword, name, func() error { return a.Users.SetPassword(ctx, name, password) })
}

// DeleteUser permanently deletes a user with all their data. Users who are not administrators can
// delete themselves. fault.Conflict: the user is the calling administrator or the first user;
// fault.NotFound: the user does not exist.
func (a *Admin) DeleteUser(ctx context.Context, by Actor, name string) error {
	u, err := a.Users.User(ctx, name)
	switch {
	case err != nil:
		return err
	case by.is(name) && u.Administrator:
		return ownAccount("delete")
	}
	return a.Do(ctx, by, UserDelete, name, "", func() error { return a.Users.Delete(ctx, name) })
}

// is reports whether the actor is this user.
func (by Actor) is(name string) bool { return by.Name != "" && by.Name == name }

func ownAccount(verb string) error {
	return fault.New(fault.Conflict, "You cannot %s your own account. Ask another administrator.", verb)
}

// onUser performs an action on a user, after it has checked that the user exists.
func (a *Admin) onUser(ctx context.Context, by Actor, action, name string, do func() error) error {
	if _, err := a.Users.User(ctx, name); err != nil {
		return err
	}
	return a.Do(ctx, by, action, name, "", do)
}
