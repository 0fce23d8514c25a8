package account

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
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

const (
	maxSecrets  = 1000 // of a feed
	maxReader   = 100  // characters
	secretBytes = 24
)

// newSelector makes 12 random characters, small letters and digits.
func newSelector() string { return strings.ToLower(rand.Text()[:12]) }

// NewSecret makes a secret for a reader of a feed, whose name has 1 to 100 characters and
// is the only one of that feed. Plain is shown once: 32 characters that need no escapes in
// addresses, and no dot. Errors: fault.Invalid, NotFound (no such user), Conflict (the
// reader has one already, or the feed has 1,000).
func (a *Accounts) NewSecret(ctx context.Context, user, feed, reader string) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	if reader == "" || strings.TrimSpace(reader) != reader {
		return Secret{}, fault.New(fault.Invalid, "The reader's name is empty, or has spaces around it: it is for you, to know who has the secret.")
	}
	if err := checkText("reader's name", reader, maxReader); err != nil {
		return Secret{}, err
	}
	if !wellFormed(feed) {
		return Secret{}, fault.New(fault.Invalid, "%q is no feed.", text.Clip(feed, 2*MaxName))
	}
	s := Secret{Selector: newSelector(), User: user, Feed: feed, Reader: reader, CreatedAt: stamp(a.now()),
		Plain: base64.RawURLEncoding.EncodeToString(randomBytes(secretBytes))}
	if err := a.Store.AddSecret(ctx, a.keys.sealSecret(s), maxSecrets); err != nil {
		return Secret{}, err
	}
	return s, nil
}

// Secrets lists those of a feed, the oldest first.
func (a *Accounts) Secrets(ctx context.Context, user, feed string) ([]Secret, error) {
	list, err := a.Store.SecretsOf(ctx, user, feed)
	var out []Secret
	for _, s := range list {
		out = append(out, s.Secret)
	}
	return out, err
}

// RevokeSecret ends a secret at once. fault.NotFound.
func (a *Accounts) RevokeSecret(ctx context.Context, user, selector string) error {
	if err := a.Store.RemoveSecret(ctx, user, selector); err != nil {
		return err
	}
	if a.hasForeignSecrets.Load() {
		_ = a.CheckKey(ctx) // it may have been the last one of another key; what is wrong was said before
	}
	return nil
}
