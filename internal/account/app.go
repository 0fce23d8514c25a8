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

// Reading apps sign in once and send what they got with every request for years. What
// they get is bound to the password and stands in no database: another password, or the
// end of the account, ends it, on every server that has the key.

// notApp is what strangers hear of everything that was wrong with what an app sent.
const appRefusal = "The app has to sign in again."

// AppKey is what the app of a user whom Check has just returned sends from now on: the
// name, a slash, and 64 hexadecimal digits. fault.Unavailable: there is no Key.
//
// spec:cloudburst#app-keys
func (a *Accounts) AppKey(u User) (string, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return "", err
	}
	return u.Name + "/" + hex.EncodeToString(a.keys.app(u)), nil
}

// app is the keyed hash of a user and the time of the password.
func (k *keys) app(u User) []byte {
	h := hmac.New(sha256.New, k.apps)
	h.Write([]byte(u.Name + "\x00" + u.PasswordAt.UTC().Format("2006-01-02T15:04:05.000")))
	return h.Sum(nil)
}

// AppUser is a log-in by an AppKey. Errors: fault.Refused, in the same words whatever was
// wrong; TooMany; Unavailable.
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

// appKey is what apps of Fever make of a name and a password: MD5 in hexadecimal. With a
// token, which nobody guesses, it is as good as one.
func appKey(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

// AppToken is a log-in by the key that an app makes of a user's name and a token for
// reading: 32 hexadecimal digits. Errors as of Token.
//
// spec:cloudburst#app-tokens
func (a *Accounts) AppToken(ctx context.Context, key string, from Caller) (Token, error) {
	const no = "The key is of no user and token, or the token was revoked."
	a.init()
	key = strings.ToLower(key)
	if len(key) != 2*md5.Size || strings.Trim(key, "0123456789abcdef") != "" {
		return Token{}, a.refuseAndCount(ctx, from, no)
	}
	t, err := a.Store.TokenByApp(ctx, hashOf(key))
	return a.finishTokenLogin(ctx, t, err, "read", from, no)
}
