package websub

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"cloudburst/internal/wirehttp"
)

// SignatureHeader is the header with the signature of a delivery.
const SignatureHeader = "X-Hub-Signature"

// Methods of signing deliveries. SHA1 is known to be weak, but the oldest subscribers know
// no other method.
//
// spec:websub-2018#signature-methods
const (
	SHA1   = "sha1"
	SHA256 = "sha256"
	SHA384 = "sha384"
	SHA512 = "sha512"
)

// hashOf returns the hash of a method, or nil for an unknown method.
func hashOf(method string) func() hash.Hash {
	switch method {
	case SHA1:
		return sha1.New
	case SHA256:
		return sha256.New
	case SHA384:
		return sha512.New384
	case SHA512:
		return sha512.New
	}
	return nil
}

// Sign returns the value of [SignatureHeader] for a body: the method, an equals sign, and
// the HMAC of the body in hexadecimal digits. The error is [ErrMethod] for an unknown
// method.
//
// spec:websub-2018#signature-form
func Sign(method, secret string, body []byte) (string, error) {
	h := hashOf(method)
	if h == nil {
		return "", fmt.Errorf("%w %s; it is sha1, sha256, sha384 or sha512", ErrMethod, wirehttp.Quote(method))
	}
	mac := hmac.New(h, []byte(secret))
	mac.Write(body)
	var sum [sha512.Size]byte
	out := make([]byte, 0, len(SHA512)+1+2*len(sum))
	out = append(append(out, method...), '=')
	return string(hex.AppendEncode(out, mac.Sum(sum[:0]))), nil
}

// CheckSignature checks that header is the signature of body with secret, in the method
// that the header names. The error is [ErrUnsigned], [ErrMethod] or [ErrSignature]. The
// comparison takes constant time.
//
// spec:websub-2018#signature-checked
func CheckSignature(header, secret string, body []byte) error {
	method, digits, ok := strings.Cut(strings.TrimSpace(header), "=")
	if !ok {
		return ErrUnsigned
	}
	h := hashOf(strings.ToLower(strings.TrimSpace(method)))
	if h == nil {
		return ErrMethod
	}
	given, err := hex.DecodeString(strings.TrimSpace(digits))
	if err != nil {
		return ErrUnsigned
	}
	mac := hmac.New(h, []byte(secret))
	mac.Write(body)
	if !hmac.Equal(given, mac.Sum(nil)) {
		return ErrSignature
	}
	return nil
}
