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
	var raw [16]byte
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		rand.Read(raw[:]) // rand.Read never fails: if there is no randomness, it ends the program
	}
	nonce, created := hex.EncodeToString(raw[:]), now.UTC().Format("2006-01-02T15:04:05Z")
	s := digest([]byte(nonce), created, password)
	return Token{Username: user, Digest: base64.StdEncoding.EncodeToString(s[:]), Nonce: nonce, Created: created}.String()
}

// Challenge returns the value of WWW-Authenticate that requests the header.
func Challenge(realm string) string {
	return string(append(appendQuoted([]byte("WSSE realm="), realm), `, profile="UsernameToken"`...))
}
