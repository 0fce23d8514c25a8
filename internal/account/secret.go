package account

import (
	"context"
	"time"
)

// Secret lets one reader read one private feed.
type Secret struct {
	Selector  string // names the secret; it stands before it in addresses
	User      string // whose feed it is
	Feed      string
	Reader    string // who has it, for people
	Plain     string // the secret itself: only when it was just made
	CreatedAt time.Time
	UsedAt    time.Time // about its last use; zero: never
}

// NewSecret makes a secret for a reader of a feed; Plain is shown once. Errors:
// fault.Invalid (the reader's name), NotFound (no such user), Conflict (the reader has
// one already, or the feed has 1,000).
func (a *Accounts) NewSecret(ctx context.Context, user, feed, reader string) (Secret, error) {
	return Secret{}, errTodo
}

// Secrets lists those of a feed, the oldest first.
func (a *Accounts) Secrets(ctx context.Context, user, feed string) ([]Secret, error) {
	return nil, errTodo
}

// RevokeSecret ends a secret at once. fault.NotFound.
func (a *Accounts) RevokeSecret(ctx context.Context, user, selector string) error {
	return a.Store.RemoveSecret(ctx, user, selector)
}
