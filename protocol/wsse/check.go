package wsse

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"io"
	"time"
)

// Proof is the input of a digest. A server stores both fields, separately for each password, and
// rejects a header that repeats either of them. Both are needed: the sum is the same in every
// spelling of a header, and a nonce may be used in one header only.
type Proof struct {
	Nonce []byte   // the bytes that were hashed
	Sum   [20]byte // SHA-1 of nonce, created and password
}

// Check reports whether the digest was made with the given password, in any of the known
// forms. The time that it takes depends on the length of the password only.
func (t Token) Check(password string) bool {
	_, ok := t.Verify(password)
	return ok
}

// Verify checks the password like Check and also returns the proof to store.
func (t Token) Verify(password string) (Proof, bool) {
	want, readable := sum(t.Digest)
	written := []byte(t.Nonce)
	decoded, ok := unbase64(t.Nonce)
	if !ok {
		decoded = written
	}
	// Compute both digests before the comparison, so that the time is constant.
	one, two := digest(written, t.Created, password), digest(decoded, t.Created, password)
	first, second := subtle.ConstantTimeCompare(one[:], want[:]), subtle.ConstantTimeCompare(two[:], want[:])
	switch {
	case !readable || password == "":
		return Proof{}, false
	case first == 1:
		return Proof{written, one}, true
	case second == 1:
		return Proof{decoded, two}, true
	}
	return Proof{}, false
}

// digest returns sha1(nonce + created + password).
//
// spec:datafeeds-2006#wsse
func digest(nonce []byte, created, password string) (s [20]byte) {
	h := sha1.New()
	h.Write(nonce)
	io.WriteString(h, created)
	io.WriteString(h, password)
	h.Sum(s[:0])
	return s
}

// Header returns the value of a new header for one request. The nonce is 32 hexadecimal
// digits, hashed as text, and the digest is the base64 of the 20 bytes. random is the
// source of the nonce; nil means crypto/rand. Control characters of user are left out.
func Header(user, password string, now time.Time, random io.Reader) string {
	return header(user, password, now, hex.EncodeToString(newNonce(random)), nil)
}

// HeaderDecoded is like [Header], but the nonce is the base64 of 16 bytes, and these bytes are
// hashed, as in OASIS Web Services Security. Servers of that kind reject the other form.
//
// spec:datafeeds-2006#wsse-client-forms
func HeaderDecoded(user, password string, now time.Time, random io.Reader) string {
	raw := newNonce(random)
	return header(user, password, now, base64.StdEncoding.EncodeToString(raw), raw)
}

func newNonce(random io.Reader) []byte {
	raw := make([]byte, 16)
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, raw); err != nil {
		rand.Read(raw) // rand.Read never fails: if there is no randomness, it ends the program
	}
	return raw
}

// header returns the value of a header. hashed are the bytes of the nonce in the digest; nil means
// those of its text.
func header(user, password string, now time.Time, nonce string, hashed []byte) string {
	if hashed == nil {
		hashed = []byte(nonce)
	}
	created := now.UTC().Format("2006-01-02T15:04:05Z")
	s := digest(hashed, created, password)
	return Token{Username: user, Digest: base64.StdEncoding.EncodeToString(s[:]), Nonce: nonce, Created: created}.String()
}

// Challenge returns the value of WWW-Authenticate that requests the header.
func Challenge(realm string) string {
	return string(append(appendQuoted([]byte("WSSE realm="), realm), `, profile="UsernameToken"`...))
}
