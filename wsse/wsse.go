package wsse

import (
	"io"
	"net/http"
	"time"
)

// Name is the header's name.
const Name = "X-WSSE"

// Window is how far Created may be from the server's time, either way.
const Window = 5 * time.Minute

// Token is a header that was read. What the texts mean is checked: At is Created as a time.
type Token struct {
	Username string
	Digest   string // PasswordDigest as it was written
	Nonce    string // as it was written
	Created  string // as it was written
	At       time.Time
}

// Proof is what a digest was made from: what a server has to remember so that it is
// accepted once. It is the same for all spellings of a header.
type Proof struct {
	Nonce []byte   // as it was hashed
	Sum   [20]byte // SHA-1 of nonce, created and password
}

// Parse reads the header's value.
func Parse(header string) (Token, error) { return Token{}, &SyntaxError{} }

// FromHeader reads the header of a request: ok is false when there is none. Two are an error.
func FromHeader(h http.Header) (t Token, ok bool, err error) { return t, false, nil }

// Check reports whether the digest was made with that password.
func (t Token) Check(password string) bool { _, ok := t.Verify(password); return ok }

// Verify is Check that says what has to be remembered.
func (t Token) Verify(password string) (Proof, bool) { return Proof{}, false }

// Fresh reports whether the header was made at most [Window] before or after now.
func (t Token) Fresh(now time.Time) bool { return false }

// Header makes the value of a new header. random gives the nonce; nil means crypto/rand.
func Header(user, password string, now time.Time, random io.Reader) string { return "" }

// Challenge is a value of WWW-Authenticate that asks for this header.
func Challenge(realm string) string { return "" }

// SyntaxError says what is wrong with a header.
type SyntaxError struct {
	What string
}

func (e *SyntaxError) Error() string { return "wsse: " + e.What }
