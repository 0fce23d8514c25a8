package account

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"cloudburst/internal/fault"
)

// A reading app signs in once and then sends its key with every request for years. The key depends
// on the password and is not stored. If the password changes or the account ends, the key is
// invalid on every server with the same Key.

// appRefusal is the message for all invalid app keys.
const appRefusal = "The app has to sign in again."

// AppKey returns the key of an app for the user u that Check has returned: the name, a slash and 64
// hexadecimal digits. fault.Unavailable: Key is not valid.
//
// spec:cloudburst#app-keys
func (a *Accounts) AppKey(u User) (string, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return "", err
	}
	return u.Name + "/" + hex.EncodeToString(a.keys.app(u)), nil
}

// app returns the keyed hash of a user's name and of the time when the password was set.
func (k *keys) app(u User) []byte {
	h := hmac.New(sha256.New, k.appsKey)
	h.Write([]byte(u.Name + "\x00" + u.PasswordAt.UTC().Format("2006-01-02T15:04:05.000")))
	return h.Sum(nil)
}

// AppUser authenticates a user by the key of an app. Errors: fault.Refused (the message is the same
// for every reason), fault.TooMany, fault.Unavailable.
func (a *Accounts) AppUser(ctx context.Context, key string, from Caller) (User, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return User{}, err
	}
	name, digits, _ := strings.Cut(key, "/")
	sum, err := hex.DecodeString(digits)
	if err != nil || len(sum) != sha256.Size || !wellFormed(name) {
		return User{}, a.refuseAndCount(ctx, from, appRefusal)
	}
	u, _, err := a.Store.User(ctx, name)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return User{}, err
	}
	if err != nil || u.Disabled || !hmac.Equal(sum, a.keys.app(u)) {
		return User{}, a.refuseAndCount(ctx, from, appRefusal)
	}
	return u, nil
}

// appKey returns the key that Fever apps derive from a name and a password: MD5 in hexadecimal.
// Only a random token is used as the password, so that the key cannot be guessed.
func appKey(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

// AppToken authenticates a client by the key that a Fever app derives from a user's name and a
// token with the scope read: 32 hexadecimal digits. The errors are those of [Accounts.Token].
//
// spec:cloudburst#app-tokens
func (a *Accounts) AppToken(ctx context.Context, key string, from Caller) (Token, error) {
	const refusal = "The key matches no token, or the token was revoked."
	a.init()
	key = strings.ToLower(key)
	if len(key) != 2*md5.Size || strings.Trim(key, "0123456789abcdef") != "" {
		return Token{}, a.refuseAndCount(ctx, from, refusal)
	}
	t, err := a.Store.TokenByApp(ctx, hashOf(key))
	return a.finishTokenLogin(ctx, t, err, "read", from, refusal)
}
