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
	Selector  string // identifies the secret; precedes the secret in URLs
	User      string // owner of the feed
	Feed      string
	Reader    string // name of the reader that the owner of the feed chose
	Plain     string // the secret itself; set only by NewSecret
	CreatedAt time.Time
	UsedAt    time.Time // approximate time of the last use; zero: never used
}

const (
	maxSecrets  = 1000 // maximum secrets of a feed
	maxReader   = 100  // maximum characters of a reader's name
	secretBytes = 24
)

// newSelector returns 12 random lowercase letters and digits.
func newSelector() string { return strings.ToLower(rand.Text()[:12]) }

// NewSecret creates a secret for a reader of a feed. The reader's name has 1 to 100 characters and
// is unique in the feed. Plain is set only in this result: 32 characters, without a dot, that URLs
// can contain without escapes. Errors: fault.Invalid (the name is invalid), fault.NotFound (the
// user does not exist), fault.Conflict (the reader already has a secret, or the feed has 1,000
// secrets).
func (a *Accounts) NewSecret(ctx context.Context, user, feed, reader string) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	if reader == "" || strings.TrimSpace(reader) != reader {
		return Secret{}, fault.New(fault.Invalid, "The reader's name is empty or has spaces around it: enter a name by which you know the reader.")
	}
	if err := checkText("reader's name", reader, maxReader); err != nil {
		return Secret{}, err
	}
	if !wellFormed(feed) {
		return Secret{}, fault.New(fault.Invalid, "%q is not a feed.", text.Clip(feed, 2*MaxName))
	}
	s := Secret{Selector: newSelector(), User: user, Feed: feed, Reader: reader, CreatedAt: stamp(a.now()),
		Plain: base64.RawURLEncoding.EncodeToString(randomBytes(secretBytes))}
	if err := a.Store.AddSecret(ctx, a.keys.sealSecret(s), maxSecrets); err != nil {
		return Secret{}, err
	}
	return s, nil
}

// Secrets lists the secrets of a feed, oldest first.
func (a *Accounts) Secrets(ctx context.Context, user, feed string) ([]Secret, error) {
	list, err := a.Store.SecretsOf(ctx, user, feed)
	var out []Secret
	for _, s := range list {
		out = append(out, s.Secret)
	}
	return out, err
}

// RevokeSecret deletes a secret at once and ends the subscriptions of its reader. fault.NotFound:
// the user has no such secret.
func (a *Accounts) RevokeSecret(ctx context.Context, user, selector string) error {
	was, found := a.Store.SecretBySelector(ctx, selector)
	if err := a.Store.RemoveSecret(ctx, user, selector); err != nil {
		return err
	}
	if a.Revoked != nil && found == nil && was.User == user {
		a.Revoked(ctx, was.Secret)
	}
	if a.hasForeignSecrets.Load() {
		_ = a.CheckKey(ctx) // CheckKey updates hasForeignSecrets; ignore its error, which was reported at startup
	}
	return nil
}
