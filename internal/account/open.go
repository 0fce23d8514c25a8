package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

// Secrets cannot be guessed. A correct secret is accepted even from a source with too many
// failures, and an incorrect one costs no hash. Failures are therefore counted after the
// comparison, for the source only.

const (
	// nonceKeep is the time for which a header is stored after it expired: a clock that is set back would
	// make it valid again.
	nonceKeep = 2 * time.Hour
	// nonceRate is the number of headers per minute of one secret.
	nonceRate = 120
	// lookRate is the number of headers per minute, from a source that must wait, that are compared
	// with all secrets of a feed.
	lookRate = 60
)

// secretRefusal is the one message for every invalid secret.
const secretRefusal = "This feed is private, and opens only with a reader's secret that was not revoked."

// OpenByURL authenticates a reader by the secret in a URL. Errors: fault.Refused with the same
// message for every reason; TooMany; Unavailable.
//
// spec:datafeeds-2006#private-feeds
func (a *Accounts) OpenByURL(ctx context.Context, user, feed, selector, secret string, from Caller) (Secret, error) {
	a.init()
	s, err := a.Store.SecretBySelector(ctx, selector)
	return a.checkSecret(ctx, s, err, user, feed, secret, from)
}

// OpenByBasic authenticates a reader by HTTP Basic. name is the name of the user or the reader, or the
// secret's selector; password is the secret, or selector and secret joined by a dot. Errors as of
// OpenByURL.
func (a *Accounts) OpenByBasic(ctx context.Context, user, feed, name, password string, from Caller) (Secret, error) {
	a.init()
	var s SealedSecret
	var err error
	selector, secret, dotted := strings.Cut(password, ".")
	if dotted {
		s, err = a.Store.SecretBySelector(ctx, selector)
	} else {
		secret = password
		s, err = a.Store.SecretByMAC(ctx, user, feed, a.keys.sum(user, feed, secret))
	}
	if err == nil && name != user && name != s.Reader && name != s.Selector {
		err = fault.New(fault.NotFound, "The secret is another reader's.")
	}
	return a.checkSecret(ctx, s, err, user, feed, secret, from)
}

// checkSecret completes OpenByURL and OpenByBasic. s is the row that was found, if err is nil.
func (a *Accounts) checkSecret(ctx context.Context, s SealedSecret, err error, user, feed, secret string, from Caller) (Secret, error) {
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Secret{}, err
	}
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	sum := a.keys.sum(user, feed, secret)
	right := hmac.Equal(sum, s.MAC) && s.User == user && s.Feed == feed
	switch {
	case right && err == nil:
		return a.recordSecretUse(ctx, s)
	case err == nil && s.User == user && s.Feed == feed && s.Key != a.keys.id:
		return Secret{}, a.keys.changedKeyError(s.Key)
	case err != nil && a.hasForeignSecrets.Load():
		return Secret{}, a.keys.changedKeyError("of before")
	}
	return Secret{}, a.refuseAndCount(ctx, from, secretRefusal)
}

// recordSecretUse stores the time of a use, at most once a minute.
func (a *Accounts) recordSecretUse(ctx context.Context, s SealedSecret) (Secret, error) {
	if now := stamp(a.now()); now.Sub(s.UsedAt) >= time.Minute {
		s.UsedAt = now
		a.logUseError("secret", a.Store.TouchSecret(ctx, s.Selector, now))
	}
	return s.Secret, nil
}

// OpenByWSSE is like OpenByBasic, for WSSE. A header works once, within five minutes of its time;
// its use is on disk before the response. Headers with the same values count as one header, however
// they are spelled.
//
// spec:datafeeds-2006#wsse-nonce
func (a *Accounts) OpenByWSSE(ctx context.Context, user, feed string, t wsse.Token, from Caller) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	who := t.Username
	if who == user || who == "" {
		// The header may be of any reader, so all secrets are compared. From a source that must
		// wait, a limited number of headers is still compared, for readers with a correct secret.
		err := a.limits.checkSource(ctx, a.now(), from)
		if err != nil && a.limits.rate(a.now(), a.keys.tally(ofLook, network(from.Addr)), lookRate, time.Minute) != nil {
			return Secret{}, err
		}
		who = ""
	}
	list, err := a.Store.SecretsFor(ctx, user, feed, who)
	if err != nil {
		return Secret{}, err
	}
	s, proof, err := a.verifyWSSE(list, t)
	if err != nil {
		return Secret{}, err
	}
	if s == nil || !t.Fresh(a.now()) {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal)
	}
	// The sum is independent of the header's spelling; the nonce is unique per header.
	sum, nonce := "sum "+s.Selector+" "+string(proof.Sum[:]), "nonce "+s.Selector+" "+string(proof.Nonce)
	uses := a.keys.tally(ofSecret, s.Selector)
	if err := a.limits.full(a.now(), uses, nonceRate, time.Minute); err != nil {
		return Secret{}, err
	}
	if a.limits.rate(a.now(), a.keys.tally(ofHeader, sum), 3, time.Minute) != nil {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal) // without a query
	}
	now := a.now()
	until := now.Add(wsse.Window + nonceKeep)
	if t.At.After(now) {
		until = t.At.Add(wsse.Window + nonceKeep)
	}
	one, two := sha256.Sum256([]byte(sum)), sha256.Sum256([]byte(nonce))
	fresh, err := a.Store.UseNonce(ctx, [][]byte{one[:], two[:]}, until)
	if err != nil {
		return Secret{}, err
	}
	if !fresh {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal)
	}
	_ = a.limits.rate(a.now(), uses, nonceRate, time.Minute) // only headers that write a row count
	return a.recordSecretUse(ctx, *s)
}

// verifyWSSE returns the secret that matches the digest, or nil.
func (a *Accounts) verifyWSSE(list []SealedSecret, t wsse.Token) (*SealedSecret, wsse.Proof, error) {
	var unreadable error
	for i := range list {
		plain, err := a.keys.openSecret(list[i])
		if err != nil {
			unreadable = err // another secret may match
			continue
		}
		for _, password := range []string{plain, list[i].Selector + "." + plain} {
			if proof, ok := t.Verify(password); ok {
				return &list[i], proof, nil
			}
		}
	}
	return nil, wsse.Proof{}, unreadable
}
