package account

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"cloudburst/internal/fault"
)

// keys holds the keys derived from Accounts.Key, one for each purpose.
type keys struct {
	seal cipher.AEAD
	// authorize seals requests and grants; see [Authorization].
	authorize cipher.AEAD
	secretKey []byte
	placeKey  []byte
	appsKey   []byte
	tallyKey  []byte
	id        string // public identifier of the key
	err       error
}

func newKeys(key []byte) *keys {
	k := &keys{}
	derive := func(purpose string, n int) []byte {
		out, err := hkdf.Key(sha256.New, key, nil, "cloudburst "+purpose, n)
		k.err = errors.Join(k.err, err)
		return out
	}
	sealing := derive("feed secret", 32)
	k.secretKey, k.placeKey, k.appsKey, k.tallyKey = derive("feed secret look-up", 32), derive("place", 32), derive("app", 32), derive("tally", 32)
	k.id = hex.EncodeToString(derive("key id", 8))
	aead := func(key []byte) cipher.AEAD {
		block, err := aes.NewCipher(key)
		k.err = errors.Join(k.err, err)
		if err != nil {
			return nil
		}
		c, err := cipher.NewGCMWithRandomNonce(block)
		k.err = errors.Join(k.err, err)
		return c
	}
	k.seal, k.authorize = aead(sealing), aead(derive("authorization", 32))
	switch len(key) {
	case 32:
	case 0:
		k.err = fault.New(fault.Unavailable, "The key of the servers on this database is not known here, so the secrets of private feeds can be neither created nor read: name the data folder of a server with --data, or set accounts.secret-key.")
	default:
		k.err = fmt.Errorf("the key for the secrets of private feeds has %d bytes; it must have 32", len(key))
	}
	return k
}

// additionalData returns the additional data of a sealed secret. It binds the secret to its row:
// the secret cannot be decrypted in another row.
func additionalData(s Secret) []byte { return []byte(s.User + "\x00" + s.Feed + "\x00" + s.Selector) }

// sealSecret encrypts a secret.
func (k *keys) sealSecret(s Secret) SealedSecret {
	sealed := k.seal.Seal(nil, nil, []byte(s.Plain), additionalData(s))
	out := SealedSecret{Secret: s, Sealed: sealed, MAC: k.sum(s.User, s.Feed, s.Plain), Key: k.id}
	out.Plain = ""
	return out
}

// openSecret decrypts a secret.
func (k *keys) openSecret(s SealedSecret) (string, error) {
	if s.Key != k.id {
		return "", k.changedKeyError(s.Key)
	}
	plain, err := k.seal.Open(nil, nil, s.Sealed, additionalData(s.Secret))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The secret %s of the feed %s of %s cannot be decrypted.", s.Selector, s.Feed, s.User)
	}
	return string(plain), nil
}

// sum returns the keyed hash of a secret. The store finds a secret by this hash, and checks compare
// it.
func (k *keys) sum(user, feed, plain string) []byte {
	h := hmac.New(sha256.New, k.secretKey)
	h.Write([]byte(user + "\x00" + feed + "\x00" + plain))
	return h.Sum(nil)
}

// place returns the keyed hash of a user's address, so that the store contains no addresses.
func (k *keys) place(user, address string) string {
	h := hmac.New(sha256.New, k.placeKey)
	h.Write([]byte(user + "\x00" + address))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// tally returns the key of a tally of this kind. The key discloses neither the address nor the
// typed name.
func (k *keys) tally(kind byte, parts ...string) TallyKey {
	h := hmac.New(sha256.New, k.tallyKey)
	h.Write([]byte(strings.Join(parts, "\x00")))
	t := TallyKey(h.Sum(nil)[:16])
	t[0] = kind
	return t
}

// setupToken returns the token for the creation of the first user. Processes that share the key
// have the same token.
func (k *keys) setupToken() string {
	h := hmac.New(sha256.New, k.tallyKey)
	h.Write([]byte("the first user"))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// changedKeyError returns the error for secrets that were encrypted with another key. The reader
// sees that the server is the cause, and the log shows the operator what to do.
func (k *keys) changedKeyError(sealed string) error {
	err := fmt.Errorf("the key changed: the feed secrets were encrypted with the key %s, and this is %s; set accounts.secret-key, or its file, to the previous key", sealed, k.id)
	return keyUnusable(err)
}

func keyUnusable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "This server cannot check the secrets of private feeds at present. Its operator has to fix that.")
}

// usable returns an error if Key is not valid, so that secrets can be neither encrypted nor
// checked.
func (k *keys) usable() error {
	if _, ok := errors.AsType[*fault.Error](k.err); ok || k.err == nil {
		return k.err
	}
	return keyUnusable(k.err)
}

// CheckKey checks whether all secrets of readers can be decrypted with Key. A fault.Conflict means
// that the key changed; its text is for the operator. Call it at startup.
func (a *Accounts) CheckKey(ctx context.Context) error {
	a.init()
	if err := a.keys.err; err != nil {
		return fault.Wrap(fault.Invalid, err, "The key for the secrets of private feeds cannot be used.")
	}
	all, others, err := CountSecrets(ctx, a.Store, a.Key)
	if err != nil {
		return err
	}
	a.hasForeignSecrets.Store(others > 0)
	if others > 0 {
		return fault.New(fault.Conflict, "The key for the secrets of private feeds changed: %d of %d secrets cannot be read. Set accounts.secret-key, or its file, to the previous key, or revoke the secrets and create new ones.", others, all)
	}
	return nil
}

// CountSecrets counts all secrets of readers, and those that were encrypted with another key.
func CountSecrets(ctx context.Context, store Store, key []byte) (all, others int64, err error) {
	by, err := store.SecretKeys(ctx)
	own := newKeys(key).id
	for id, n := range by {
		all += n
		if id != own {
			others += n
		}
	}
	return all, others, err
}
