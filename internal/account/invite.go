package account

import (
	"context"
	"time"

	"cloudburst/internal/fault"
)

// MaxNote is the maximum length of the note of an invitation, in characters.
const MaxNote = 100

// InviteLife is the default lifetime of an invitation. An administrator can choose a lifetime of up
// to MaxInviteLife.
const (
	InviteLife    = 7 * 24 * time.Hour
	MaxInviteLife = 90 * 24 * time.Hour
)

// Invite is an invitation to create one account. It is valid even if registration is closed.
type Invite struct {
	ID        string // SHA-256 of the invitation's secret; not a credential
	CreatedAt time.Time
	CreatedBy string // user who created the invitation; "": the operator
	Note      string // note of the creator, such as the name of the invited person
	ExpiresAt time.Time
	UsedAt    time.Time // time when the account was created; zero: not used yet
	UsedBy    string    // name of the user who was created with the invitation
}

// Open reports whether an account can still be created with the invitation.
func (i Invite) Open(now time.Time) bool { return i.UsedAt.IsZero() && now.Before(i.ExpiresAt) }

// InviteStore stores invitations.
type InviteStore interface {
	// AddInvite stores an invitation. If another invitation has the same CreatedAt, AddInvite stores
	// a slightly later time, because CreatedAt is the position in the list.
	AddInvite(ctx context.Context, i Invite) error
	// Invite returns an invitation. fault.NotFound: the invitation does not exist.
	Invite(ctx context.Context, id string) (Invite, error)
	// Invites lists invitations, newest first. If before is not zero, it lists only invitations that
	// were created before this time. limit is at most 1,000; 0 means 100.
	Invites(ctx context.Context, before time.Time, limit int) ([]Invite, error)
	// RemoveInvite deletes an unused invitation. fault.NotFound: no unused invitation has this ID.
	RemoveInvite(ctx context.Context, id string) error
	// AddInvitedUser creates a user and marks the invitation as used. fault.Refused: the invitation
	// is used, expired or deleted at the time now; fault.Conflict: as for AddUser.
	AddInvitedUser(ctx context.Context, u User, hash, invite string, now time.Time) error
}

// Invite creates an invitation that is valid for the time life, at most MaxInviteLife; 0 means
// InviteLife. Only Invite returns the secret, which is part of the invitation's link.
// fault.Invalid: the note or the time is invalid.
func (a *Accounts) Invite(ctx context.Context, by, note string, life time.Duration) (secret string, i Invite, err error) {
	if life == 0 {
		life = InviteLife
	}
	if life < time.Minute || life > MaxInviteLife {
		return "", Invite{}, fault.New(fault.Invalid, "An invitation cannot be valid for %s: choose a time from 1 minute to 90 days.", life)
	}
	if err := checkText("note", note, MaxNote); err != nil {
		return "", Invite{}, err
	}
	now := stamp(a.now())
	secret = newToken()
	i = Invite{ID: hashOf(secret), CreatedAt: now, CreatedBy: by, Note: note, ExpiresAt: now.Add(life)}
	if err := a.Store.AddInvite(ctx, i); err != nil {
		return "", Invite{}, err
	}
	return secret, i, nil
}

// Invites lists invitations, newest first. If before is not zero, it lists only invitations that
// were created before this time. limit is at most 1,000; 0 means 100.
func (a *Accounts) Invites(ctx context.Context, before time.Time, limit int) ([]Invite, error) {
	return a.Store.Invites(ctx, before, limit)
}

// RevokeInvite deletes an unused invitation. fault.NotFound: no unused invitation has this ID.
func (a *Accounts) RevokeInvite(ctx context.Context, id string) error {
	return a.Store.RemoveInvite(ctx, id)
}

func notInvited() error {
	return fault.New(fault.Refused, "This invitation has already been used, has expired or was revoked. Ask the person who invited you for a new one.")
}

// Invited returns the invitation whose link contains the secret. fault.Refused: no account can be
// created with the invitation.
func (a *Accounts) Invited(ctx context.Context, secret string) (Invite, error) {
	if !isToken(secret) {
		return Invite{}, notInvited()
	}
	i, err := a.Store.Invite(ctx, hashOf(secret))
	if fault.CodeOf(err) == fault.NotFound || err == nil && !i.Open(stamp(a.now())) {
		err = notInvited()
	}
	return i, err
}

// RegisterInvited is like Register but requires the secret of an invitation. It works even if
// registration is closed. fault.Refused: the invitation is not valid.
func (a *Accounts) RegisterInvited(ctx context.Context, secret, name, password string, from Caller) (User, error) {
	a.init()
	if err := a.limits.checkSource(ctx, a.now(), from); err != nil {
		return User{}, err
	}
	i, err := a.Invited(ctx, secret)
	if fault.CodeOf(err) == fault.Refused {
		return User{}, a.refuseAndCount(ctx, from, fault.Message(err))
	}
	if err != nil {
		return User{}, err
	}
	u, hash, err := a.newUser(ctx, name, password)
	if err != nil {
		return User{}, err
	}
	err = a.Store.AddInvitedUser(ctx, u, hash, i.ID, u.CreatedAt)
	if fault.CodeOf(err) == fault.Refused {
		err = notInvited()
	}
	if err != nil {
		return User{}, err
	}
	return u, nil
}
