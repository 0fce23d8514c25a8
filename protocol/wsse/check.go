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

// Proof is what a digest was made from. A server remembers both fields, for each
// password apart, and refuses a header that has either of them: the sum is the same
// however a header is spelled, and a nonce is for one header only.
type Proof struct {
	Nonce []byte   // as it was hashed
	Sum   [20]byte // SHA-1 of nonce, created and password
}

// Check reports whether the digest was made with that password, in any of the ways
// that are in use. It takes the same time for every password of a length.
func (t Token) Check(password string) bool {
	_, ok := t.Verify(password)
	return ok
}

// Verify is Check that also says what has to be remembered.
func (t Token) Verify(password string) (Proof, bool) {
	want, readable := sum(t.Digest)
	written := []byte(t.Nonce)
	decoded, ok := unbase64(t.Nonce)
	if !ok {
		decoded = written
	}
	// Both are made before either is looked at.
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

// digest is sha1(nonce + created + password).
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

// Header makes the value of a new header for one request. The nonce is 32 hexadecimal
// digits, hashed as they are written, and the digest is base64 of the 20 bytes. random
// gives the nonce; nil is crypto/rand. Control characters of user are left out.
func Header(user, password string, now time.Time, random io.Reader) string {
	var raw [16]byte
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		rand.Read(raw[:]) // never fails; a nonce that is not random would be worse than another's
	}
	nonce, created := hex.EncodeToString(raw[:]), now.UTC().Format("2006-01-02T15:04:05Z")
	s := digest([]byte(nonce), created, password)
	return Token{Username: user, Digest: base64.StdEncoding.EncodeToString(s[:]), Nonce: nonce, Created: created}.String()
}

// Challenge is a value of WWW-Authenticate that asks for the header.
func Challenge(realm string) string {
	return string(append(appendQuoted([]byte("WSSE realm="), realm), `, profile="UsernameToken"`...))
}
