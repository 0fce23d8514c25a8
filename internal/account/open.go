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

// A secret is no guess away: whoever has the right one is let in even where others
// failed too often, and no hash is made for those who have not. So what is
// counted is counted after looking, for the source alone.

const (
	// nonceKeep is how long a header is remembered beyond the time for which it is fresh: a
	// clock that is set back makes it fresh again.
	nonceKeep = 2 * time.Hour
	// nonceRate is how many headers a minute one secret is good for.
	nonceRate = 120
	// lookRate is how many headers a minute, from a source that has to wait, are compared
	// with all secrets of a feed.
	lookRate = 60
)

// closed is what strangers hear of everything that was wrong with a secret.
const secretRefusal = "This feed is private, and opens only with a reader's secret that was not revoked."

// OpenByURL lets a reader in by the secret in an address. Errors: fault.Refused, in the
// same words whatever was wrong; TooMany; Unavailable.
//
// spec:datafeeds-2006#private-feeds
func (a *Accounts) OpenByURL(ctx context.Context, user, feed, selector, secret string, from Caller) (Secret, error) {
	a.init()
	s, err := a.Store.SecretBySelector(ctx, selector)
	return a.checkSecret(ctx, s, err, user, feed, secret, from)
}

// OpenByBasic lets a reader in by HTTP Basic: name is the user's, the reader's or the
// secret's selector; password is the secret, or selector and secret with a dot between.
// Errors as of OpenByURL.
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

// compare ends OpenByURL and OpenByBasic: s is the row that was found, if err is nil.
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

// opened writes down that a secret was used, at most once a minute.
func (a *Accounts) recordSecretUse(ctx context.Context, s SealedSecret) (Secret, error) {
	if now := stamp(a.now()); now.Sub(s.UsedAt) >= time.Minute {
		s.UsedAt = now
		a.logUseError("secret", a.Store.TouchSecret(ctx, s.Selector, now))
	}
	return s.Secret, nil
}

// OpenByWSSE is OpenByBasic by WSSE. A header is good once, for five minutes around the
// time in it; that it was used is on disk before the answer. Another spelling of it is the
// same header.
//
// spec:datafeeds-2006#wsse-nonce
func (a *Accounts) OpenByWSSE(ctx context.Context, user, feed string, t wsse.Token, from Caller) (Secret, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Secret{}, err
	}
	who := t.Username
	if who == user || who == "" {
		// Any reader's secret may be meant, which takes some work: where others fail too
		// often, a little of it is done all the same, for those who have the right one.
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
	// The sum is the same however the header is spelled; the nonce is for one header only.
	sum, nonce := "sum "+s.Selector+" "+string(proof.Sum[:]), "nonce "+s.Selector+" "+string(proof.Nonce)
	uses := a.keys.tally(ofSecret, s.Selector)
	if err := a.limits.full(a.now(), uses, nonceRate, time.Minute); err != nil {
		return Secret{}, err
	}
	if a.limits.rate(a.now(), a.keys.tally(ofHeader, sum), 3, time.Minute) != nil {
		return Secret{}, a.refuseAndCount(ctx, from, secretRefusal) // and the database need not be asked
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
	_ = a.limits.rate(a.now(), uses, nonceRate, time.Minute) // only what leaves a row counts
	return a.recordSecretUse(ctx, *s)
}

// verifyWSSE finds the secret that the digest was made with; nil: none of them.
func (a *Accounts) verifyWSSE(list []SealedSecret, t wsse.Token) (*SealedSecret, wsse.Proof, error) {
	var unreadable error
	for i := range list {
		plain, err := a.keys.openSecret(list[i])
		if err != nil {
			unreadable = err // another one may still be right
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
