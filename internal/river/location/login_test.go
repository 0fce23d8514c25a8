package location

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

func TestModifiedEncryptedLoginIsRejected(t *testing.T) {
	t.Parallel()
	key := []byte(strings.Repeat("k", 32))
	plain := Login{Basic, "ann", "Geheimnis"}
	sealed, err := Seal(key, plain)
	if err != nil || sealed.Kind != Basic || sealed.Name != "ann" || strings.Contains(sealed.Secret, "Geheim") {
		t.Fatalf("%+v %v", sealed, err)
	}
	if again, _ := Seal(key, plain); again.Secret == sealed.Secret {
		t.Error("sealing a secret twice has the same result")
	}
	if got, err := Unseal(key, sealed); err != nil || got != plain {
		t.Errorf("%+v %v", got, err)
	}
	raw, _ := base64.RawStdEncoding.DecodeString(sealed.Secret)
	raw[len(raw)-1] ^= 1
	for name, l := range map[string]Login{
		"another name": {Basic, "bea", sealed.Secret}, "another kind": {WSSE, "ann", sealed.Secret},
		"another byte": {Basic, "ann", base64.RawStdEncoding.EncodeToString(raw)}, "nothing": {Basic, "ann", ""}, "no base64": {Basic, "ann", "!"},
	} {
		if _, err := Unseal(key, l); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := []byte(strings.Repeat("x", 32))
	if _, err := Unseal(other, sealed); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("another key: %v", err)
	}
	if _, err := Seal(nil, plain); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("no key: %v", err)
	}
	if l, err := Seal(nil, Login{}); err != nil || l != (Login{}) {
		t.Errorf("no login: %+v %v", l, err)
	}
}

func TestEachKindOfLoginSetsItsRequestHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, l := range map[string]Login{
		"Authorization: Basic YW5uOmE6Yg==": {Basic, "ann", "a:b"},
		"Authorization: Bearer t0ken":       {Token, "", "t0ken"},
		"X-Key: abc":                        {Header, "x-key", "abc"},
	} {
		name, value, _ := strings.Cut(want, ": ")
		if h := l.Header(now); h.Get(name) != value || len(h) != 1 {
			t.Errorf("%+v: %v", l, h)
		}
		if err := l.Check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	h := Login{WSSE, "ann", "secret"}.Header(now)
	token, ok, err := wsse.FromHeader(h)
	if err != nil || !ok || token.Username != "ann" || !token.Check("secret") || !token.Fresh(now) || h.Get("Authorization") != `WSSE profile="UsernameToken"` {
		t.Errorf("%v: %v", h, err)
	}
}

func TestInvalidLoginIsRejected(t *testing.T) {
	t.Parallel()
	for _, l := range []Login{
		{"digest", "ann", "x"}, {Basic, "", "x"}, {Basic, "a:b", "x"}, {WSSE, "ann", ""}, {Token, "", ""}, {Token, "", "a\nb"},
		{Header, "", "x"}, {Header, "Host", "x"}, {Header, "if-none-match", "x"}, {Header, "a b", "x"}, {Header, "X:Y", "x"}, {Header, "X-Key", "a\r\nb"},
		{Token, "", strings.Repeat("x", 4097)}, {Header, strings.Repeat("x", 101), "x"}, {Header, "Content-Length", "1"}, {Header, "X-ü", "1"},
	} {
		if err := l.Check(); fault.CodeOf(err) != fault.Invalid || err == nil || strings.Contains(err.Error(), "a\nb") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, l := range []Login{{}, {Basic, "token", ""}, {Header, "Cookie", "a=b"}, {Header, "PRIVATE-TOKEN", "x"}} {
		if err := l.Check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
