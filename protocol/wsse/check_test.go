package wsse

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// From an article on the authentication of the Atom API, 17 December 2003.
const published = `UsernameToken Username="bob", PasswordDigest="quR/EWLAV4xLf9Zqyw4pDmfV9OY=", Nonce="d36e316282959a9ed4c89851497a717f", Created="2003-12-15T14:43:07Z"`

func parsed(t testing.TB, header string) Token {
	t.Helper()
	token, err := Parse(header)
	if err != nil {
		t.Fatalf("%s: %v", header, err)
	}
	return token
}

func TestExampleHeaderOfTheSpecificationMatchesItsPassword(t *testing.T) {
	t.Parallel()
	token := parsed(t, published)
	if !token.Check("taadtaadpstcsm") || token.Check("taadtaadpstcs") || token.Check("") {
		t.Error("the digest of 2003 does not match")
	}
}

func TestEveryDigestEncodingHasTheSameProof(t *testing.T) {
	t.Parallel()
	const password, created = "se cret☂", "2005-11-14T18:40:04-0800"
	hashed := []byte("bf59559401b2d9e1")
	sum := sha1.Sum([]byte(string(hashed) + created + password))
	text := hex.EncodeToString(sum[:])
	std, url := base64.StdEncoding, base64.RawURLEncoding
	digests := map[string]string{
		"bytes": std.EncodeToString(sum[:]), "bytes without padding": strings.TrimRight(std.EncodeToString(sum[:]), "="), "bytes in the other alphabet": url.EncodeToString(sum[:]),
		"digits in base64": std.EncodeToString([]byte(text)), "capitals in base64": std.EncodeToString([]byte(strings.ToUpper(text))),
		"digits": text, "capitals": strings.ToUpper(text),
	}
	nonces := map[string]string{"raw": string(hashed), "base64": std.EncodeToString(hashed), "base64 without padding": url.EncodeToString(hashed)}
	for d, digest := range digests {
		for n, nonce := range nonces {
			token := Token{Username: "u", Digest: digest, Nonce: nonce, Created: created}
			proof, ok := parsed(t, token.String()).Verify(password)
			if !ok {
				t.Errorf("%s, nonce %s: refused", d, n)
			}
			if diff := cmp.Diff(Proof{hashed, sum}, proof); diff != "" {
				t.Errorf("%s, nonce %s: different proof:\n%s", d, n, diff)
			}
			for _, other := range []Token{
				{Digest: digest, Nonce: nonce + "x", Created: created}, {Digest: digest, Nonce: nonce, Created: created + "0"},
				{Digest: digest, Nonce: "B" + nonce[1:], Created: created}, {Digest: digest[1:], Nonce: nonce, Created: created}, {Digest: "", Nonce: nonce, Created: created},
				{Digest: digest + "A", Nonce: nonce, Created: created},
			} {
				if other.Check(password) {
					t.Errorf("%s, nonce %s: %+v matches too", d, n, other)
				}
			}
			if token.Check("se cret") || token.Check("") {
				t.Errorf("%s, nonce %s: matches another password", d, n)
			}
		}
	}
}

func TestEmptyDigestDoesNotMatchEmptyPassword(t *testing.T) {
	t.Parallel()
	sum := sha1.Sum([]byte("n2005-11-14T18:40:04Z"))
	token := Token{Digest: base64.StdEncoding.EncodeToString(sum[:]), Nonce: "n", Created: "2005-11-14T18:40:04Z"}
	if token.Check("") {
		t.Error("an empty password is accepted")
	}
	if _, ok := (Token{}).Verify("x"); ok {
		t.Error("an empty token is accepted")
	}
}

func TestWSSEHeaderIsValidForFiveMinutes(t *testing.T) {
	t.Parallel()
	token := parsed(t, published)
	for d, want := range map[time.Duration]bool{
		0: true, Window: true, -Window: true, Window + 1: false, -Window - 1: false, time.Hour: false, -time.Hour: false, 1 << 62: false, -1 << 62: false,
	} {
		if token.Fresh(token.At.Add(d)) != want {
			t.Errorf("after %v: %v, want %v", d, !want, want)
		}
	}
}

func TestServerAcceptsClientHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 9, time.FixedZone("x", 3600))
	for _, user := range []string{"cal", `a "b" \c\`, "ü☂", "a,b=c"} {
		token := parsed(t, Header(user, "päss", now, nil))
		if token.Username != user || !token.Check("päss") || token.Check("pass") || !token.Fresh(now) {
			t.Errorf("%q: %+v", user, token)
		}
	}
	if a, b := Header("u", "p", now, nil), Header("u", "p", now, nil); a == b {
		t.Error("two headers have the same nonce")
	}
	decoded := parsed(t, HeaderDecoded("cal", "päss", now, bytes.NewReader(make([]byte, 16))))
	sum := sha1.Sum([]byte(strings.Repeat("\x00", 16) + decoded.Created + "päss"))
	if decoded.Nonce != "AAAAAAAAAAAAAAAAAAAAAA==" || decoded.Digest != base64.StdEncoding.EncodeToString(sum[:]) || !decoded.Check("päss") || !decoded.Fresh(now) {
		t.Errorf("with a decoded nonce: %+v", decoded)
	}
	source := bytes.NewReader(make([]byte, 16))
	one, two := parsed(t, Header("u", "p", now, source)), parsed(t, Header("u", "p", now, source))
	if one.Nonce != strings.Repeat("0", 32) || two.Nonce == one.Nonce || !two.Check("p") {
		t.Errorf("from a finite source: %s, then %s", one.Nonce, two.Nonce)
	}
	if got := Header("a\r\nX: y\x00", "p", now, nil); strings.ContainsAny(got, "\r\n\x00") {
		t.Errorf("a name escapes from the header: %q", got)
	}
	if got := Challenge(`a "b"`); got != `WSSE realm="a \"b\"", profile="UsernameToken"` {
		t.Error(got)
	}
}
