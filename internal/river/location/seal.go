package location

import (
	"cloudburst/internal/fault"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
)

// Seal encrypts the secret of a login with a 32-byte key, for the store. The encryption covers
// Kind and Name, so a modified row cannot be decrypted. fault.Unavailable: there is no key.
func Seal(key []byte, l Login) (Login, error) {
	if l.Kind == "" {
		return Login{}, nil
	}
	box, err := newBox(key)
	if err != nil {
		return Login{}, err
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	l.Secret = base64.RawStdEncoding.EncodeToString(box.Seal(nonce, nonce, []byte(l.Secret), boundTo(l)))
	return l, nil
}

// Unseal decrypts the secret of a login. fault.Unavailable: there is no key.
func Unseal(key []byte, l Login) (Login, error) {
	if l.Kind == "" {
		return Login{}, nil
	}
	box, err := newBox(key)
	if err != nil {
		return Login{}, err
	}
	raw, err := base64.RawStdEncoding.DecodeString(l.Secret)
	if err == nil && len(raw) < box.NonceSize() {
		err = fault.New(fault.Internal, "A stored login is too short.")
	}
	var plain []byte
	if err == nil {
		plain, err = box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], boundTo(l))
	}
	if err != nil {
		return Login{}, fault.Wrap(fault.Unavailable, err, "The stored login of this feed cannot be decrypted with this server's key; enter it again.")
	}
	l.Secret = string(plain)
	return l, nil
}

func boundTo(l Login) []byte { return []byte(l.Kind + "\x00" + l.Name) }

func newBox(key []byte) (cipher.AEAD, error) {
	if len(key) != 32 {
		return nil, fault.New(fault.Unavailable, "The key that encrypts logins for feeds is not known here: name the data folder of a server with --data, or set accounts.secret-key.")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
