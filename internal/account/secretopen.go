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

// Secrets are random, so nobody can guess them, and checking a secret needs no slow hash. The
// program therefore checks a secret even if its source has too many failures, and counts a failure
// after the comparison, for the source only.

const (
	// nonceKeep is the time for which the use of a header stays stored after the header has expired.
	// If the clock were set back within this time, the header could otherwise be used again.
	nonceKeep = 2 * time.Hour
	// nonceRate is the maximum number of headers of one secret per minute.
	nonceRate = 120
	// lookRate is the maximum number of headers per minute that are compared with all secrets of a
	// feed although their source must wait.
	lookRate = 60
)

// secretRefusal is the message for all invalid secrets.
const secretRefusal = "This feed is private, and opens only with a reader's secret that was not revoked."

// OpenByURL authenticates a reader by the secret in a URL. Errors: fault.Refused (the message is
// the same for every reason), fault.TooMany, fault.Unavailable.
//
// spec:datafeeds-2006#private-feeds
func (a *Accounts) OpenByURL(ctx context.Context, user, feed, selector, secret string, from Caller) (Secret, error) {
	a.init()
	s, err := a.Store.SecretBySelector(ctx, selector)
	return a.checkSecret(ctx, s, err, user, feed, secret, from)
}

// OpenByBasic authenticates a reader by HTTP Basic. name is the name of the user or the reader, or
// the secret's selector; password is the secret, or selector and secret joined by a dot. The errors
// are those of OpenByURL.
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

// checkSecret completes OpenByURL and OpenByBasic. s and err are the results of the query for the
// secret.
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

// recordSecretUse stores the time of the last use of a secret, at most once a minute.
func (a *Accounts) recordSecretUse(ctx context.Context, s SealedSecret) (Secret, error) {
	if now := stamp(a.now()); now.Sub(s.UsedAt) >= time.Minute {
		s.UsedAt = now
		a.logUseError("secret", a.Store.TouchSecret(ctx, s.Selector, now))
	}
	return s.Secret, nil
}

// OpenByWSSE is like OpenByBasic for a WSSE header. A header is valid once, within five minutes of
// its time. The use of the header is on disk before OpenByWSSE returns. Headers with equal values
// but different spellings count as the same header.
//
// spec:datafeeds-2006#wsse-nonce
func (a *Accounts) OpenByWSSE(ctx context.Context, user, feed string, t wsse.Token, from Caller) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	who := t.Username
	if who == user || who == "" {
		// The name is the user's, so the header may come from any reader, and OpenByWSSE compares it
		// with all secrets. For a source that must wait, the number of these comparisons is limited
		// but not 0, so that readers with a correct secret still succeed.
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
	// sum does not depend on the spelling of the header. nonce identifies the header.
	sum, nonce := "sum "+s.Selector+" "+string(proof.Sum[:]), "nonce "+s.Selector+" "+string(proof.Nonce)
	uses := a.keys.tally(ofSecret, s.Selector)
	if err := a.limits.full(a.now(), uses, nonceRate, time.Minute); err != nil {
		return Secret{}, err
	}
	if a.limits.rate(a.now(), a.keys.tally(ofHeader, sum), 3, time.Minute) != nil {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal) // a repeated header is rejected without a query
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
	_ = a.limits.rate(a.now(), uses, nonceRate, time.Minute) // count only headers whose use was stored
	return a.recordSecretUse(ctx, *s)
}

// verifyWSSE returns the secret that matches the digest of the header; nil: no secret matches.
func (a *Accounts) verifyWSSE(list []SealedSecret, t wsse.Token) (*SealedSecret, wsse.Proof, error) {
	var unreadable error
	for i := range list {
		plain, err := a.keys.openSecret(list[i])
		if err != nil {
			unreadable = err // continue, because another secret may match
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
