package river

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

func TestALoginIsSealedAndOpensOnlyAsItWas(t *testing.T) {
	t.Parallel()
	r := &River{Key: []byte(strings.Repeat("k", 32))}
	plain := Login{LoginBasic, "ann", "Geheimnis"}
	sealed, err := r.seal(plain)
	if err != nil || sealed.Kind != LoginBasic || sealed.Name != "ann" || strings.Contains(sealed.Secret, "Geheim") {
		t.Fatalf("%+v %v", sealed, err)
	}
	if again, _ := r.seal(plain); again.Secret == sealed.Secret {
		t.Error("the same secret is sealed twice in the same way")
	}
	if got, err := r.unseal(sealed); err != nil || got != plain {
		t.Errorf("%+v %v", got, err)
	}
	raw, _ := base64.RawStdEncoding.DecodeString(sealed.Secret)
	raw[len(raw)-1] ^= 1
	for name, l := range map[string]Login{
		"another name": {LoginBasic, "bea", sealed.Secret}, "another kind": {LoginWSSE, "ann", sealed.Secret},
		"another byte": {LoginBasic, "ann", base64.RawStdEncoding.EncodeToString(raw)}, "nothing": {LoginBasic, "ann", ""}, "no base64": {LoginBasic, "ann", "!"},
	} {
		if _, err := r.unseal(l); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := &River{Key: []byte(strings.Repeat("x", 32))}
	if _, err := other.unseal(sealed); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("another key: %v", err)
	}
	if _, err := new(River).seal(plain); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("no key: %v", err)
	}
	if l, err := new(River).seal(Login{}); err != nil || l != (Login{}) {
		t.Errorf("no login: %+v %v", l, err)
	}
}

func TestALoginIsTheHeaderOfItsKind(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, l := range map[string]Login{
		"Authorization: Basic YW5uOmE6Yg==": {LoginBasic, "ann", "a:b"},
		"Authorization: Bearer t0ken":       {LoginToken, "", "t0ken"},
		"X-Key: abc":                        {LoginHeader, "x-key", "abc"},
	} {
		name, value, _ := strings.Cut(want, ": ")
		if h := l.header(now); h.Get(name) != value || len(h) != 1 {
			t.Errorf("%+v: %v", l, h)
		}
		if err := l.check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	h := Login{LoginWSSE, "ann", "secret"}.header(now)
	token, ok, err := wsse.FromHeader(h)
	if err != nil || !ok || token.Username != "ann" || !token.Check("secret") || !token.Fresh(now) || h.Get("Authorization") != `WSSE profile="UsernameToken"` {
		t.Errorf("%v: %v", h, err)
	}
}

func TestALoginThatNoServerCouldWantIsRefused(t *testing.T) {
	t.Parallel()
	for _, l := range []Login{
		{"digest", "ann", "x"}, {LoginBasic, "", "x"}, {LoginBasic, "a:b", "x"}, {LoginWSSE, "ann", ""}, {LoginToken, "", ""}, {LoginToken, "", "a\nb"},
		{LoginHeader, "", "x"}, {LoginHeader, "Host", "x"}, {LoginHeader, "if-none-match", "x"}, {LoginHeader, "a b", "x"}, {LoginHeader, "X:Y", "x"}, {LoginHeader, "X-Key", "a\r\nb"},
		{LoginToken, "", strings.Repeat("x", 4097)}, {LoginHeader, strings.Repeat("x", 101), "x"}, {LoginHeader, "Content-Length", "1"}, {LoginHeader, "X-ü", "1"},
	} {
		if err := l.check(); fault.CodeOf(err) != fault.Invalid || err == nil || strings.Contains(err.Error(), "a\nb") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, l := range []Login{{}, {LoginBasic, "token", ""}, {LoginHeader, "Cookie", "a=b"}, {LoginHeader, "PRIVATE-TOKEN", "x"}} {
		if err := l.check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
