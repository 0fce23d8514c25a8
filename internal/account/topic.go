package account

import (
	"context"
	"crypto/hmac"
	"encoding/base32"
	"strings"

	"cloudburst/internal/fault"
)

// Topics are the names by which readers subscribe to the notifications of private feeds.
type Topics struct{ *Accounts }

// Topic returns the topic name by which the reader with the secret s subscribes to the
// notifications of their private feed. The name gives the same access as the secret, becomes
// invalid with the secret, and reveals neither the user nor the feed. It consists of the selector
// of the secret and 32 characters.
//
// spec:cloudburst#private-topic
func (a Topics) Topic(s Secret) string {
	a.init()
	sum := a.keys.sum(s.User, s.Feed, "topic "+s.Selector) // secrets contain no spaces, so a topic differs from every secret
	return s.Selector + "-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}

// OpenByTopic authenticates a reader by the name of their topic. The errors are those of OpenByURL.
func (a Topics) OpenByTopic(ctx context.Context, topic string, from Caller) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	selector, _, _ := strings.Cut(topic, "-")
	sealed, err := a.Store.SecretBySelector(ctx, selector)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Secret{}, err
	}
	if err != nil || !hmac.Equal([]byte(topic), []byte(a.Topic(sealed.Secret))) {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal)
	}
	return a.recordSecretUse(ctx, sealed)
}
