package websub_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/discover"
	"cloudburst/protocol/websub"
)

func TestVerificationIsAppendedToCallbackQuery(t *testing.T) {
	t.Parallel()
	ask := websub.Verification{Mode: "subscribe", Topic: "http://t.example/?a=1&b=ü", Challenge: "C", Lease: time.Hour}
	const asked = "hub.mode=subscribe&hub.topic=http%3A%2F%2Ft.example%2F%3Fa%3D1%26b%3D%C3%BC&hub.challenge=C&hub.lease_seconds=3600"
	for callback, want := range map[string]string{
		"http://s.example/cb":                      "http://s.example/cb?" + asked,
		"http://s.example":                         "http://s.example?" + asked,
		"http://s.example/cb?":                     "http://s.example/cb?" + asked,
		"http://s.example/cb??":                    "http://s.example/cb??&" + asked,
		"http://s.example/cb?x=1":                  "http://s.example/cb?x=1&" + asked,
		"http://s.example/cb?x=1&":                 "http://s.example/cb?x=1&" + asked,
		"http://s.example/cb?hub.mode=mine&hub%2e": "http://s.example/cb?hub.mode=mine&hub%2e&" + asked,
		"http://s.example/cb?b=%zz;&&=a?b+ ü":      "http://s.example/cb?b=%zz;&&=a?b+ ü&" + asked,
	} {
		if got := websub.VerifyURL(callback, ask); got != want {
			t.Errorf("%s\n got %s\nwant %s", callback, got, want)
		}
	}
	for _, c := range []struct {
		v    websub.Verification
		want string
	}{
		{websub.Verification{Mode: "unsubscribe", Topic: "http://t.example/", Challenge: "C", Lease: time.Hour}, "hub.mode=unsubscribe&hub.topic=http%3A%2F%2Ft.example%2F&hub.challenge=C"},
		{websub.Verification{Mode: "denied", Topic: "http://t.example/", Challenge: "C", Lease: time.Hour}, "hub.mode=denied&hub.topic=http%3A%2F%2Ft.example%2F"},
		{websub.Verification{Mode: "denied", Topic: "http://t.example/", Reason: "a & b\n"}, "hub.mode=denied&hub.topic=http%3A%2F%2Ft.example%2F&hub.reason=a+%26+b%0A"},
		{websub.Verification{Mode: "subscribe", Topic: "t", Challenge: "C", Lease: time.Millisecond}, "hub.mode=subscribe&hub.topic=t&hub.challenge=C&hub.lease_seconds=1"},
	} {
		if got := websub.VerifyURL("http://s.example/", c.v); got != "http://s.example/?"+c.want {
			t.Errorf("%+v: %s", c.v, got)
		}
	}
}

func TestOnlyTheExactChallengeIsConsent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   error
	}{
		{200, "abc", nil}, {202, "abc", nil}, {299, "abc", nil},
		{200, "abc\n", websub.ErrChallenge}, {200, " abc", websub.ErrChallenge}, {200, "ABC", websub.ErrChallenge},
		{200, "hub.challenge=abc", websub.ErrChallenge}, {200, "", websub.ErrChallenge}, {204, "", websub.ErrChallenge},
		{199, "abc", websub.ErrRefused}, {302, "abc", websub.ErrRefused}, {404, "abc", websub.ErrRefused}, {500, "abc", websub.ErrRefused},
	} {
		if err := websub.CheckChallenge(c.status, []byte(c.body), "abc"); !errors.Is(err, c.want) {
			t.Errorf("%d %q: %v", c.status, c.body, err)
		}
	}
	if err := websub.CheckChallenge(200, nil, ""); err == nil {
		t.Error("an empty challenge is accepted")
	}
}

func TestGeneratedTokensAndChallengesAreLongAndUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		for _, s := range []string{websub.NewToken(), websub.NewChallenge()} {
			if len(s) < 26 || seen[s] || url.QueryEscape(s) != s || len(s) > websub.MaxSecret {
				t.Fatalf("%q", s)
			}
			seen[s] = true
		}
	}
}

// The values are from RFC 2202 and RFC 4231.
func TestSignaturesMatchThoseOfOtherImplementations(t *testing.T) {
	t.Parallel()
	body := []byte("what do ya want for nothing?")
	for method, want := range map[string]string{
		"sha1":   "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
		"sha256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		"sha384": "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
		"sha512": "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
	} {
		got, err := websub.Sign(method, "Jefe", body)
		if err != nil || got != method+"="+want {
			t.Errorf("%s: %s, %v", method, got, err)
		}
		for _, header := range []string{got, strings.ToUpper(got), " " + method + " = " + want + " "} {
			if err := websub.CheckSignature(header, "Jefe", body); err != nil {
				t.Errorf("%q: %v", header, err)
			}
		}
		for header, want := range map[string]error{
			"":                                   websub.ErrUnsigned,
			want:                                 websub.ErrUnsigned,
			method + "=":                         websub.ErrSignature,
			method + "=zz":                       websub.ErrUnsigned,
			method + "=" + want[1:]:              websub.ErrUnsigned,
			method + "=" + want[2:]:              websub.ErrSignature,
			method + "=00" + want:                websub.ErrSignature,
			method + "=00" + want[2:]:            websub.ErrSignature,
			"md5=" + want:                        websub.ErrMethod,
			"=" + want:                           websub.ErrMethod,
			"x" + method + "=" + want:            websub.ErrMethod,
			method + "=" + want + ", md5=00":     websub.ErrUnsigned,
			"none=":                              websub.ErrMethod,
			method + "=" + want + "=":            websub.ErrUnsigned,
			method + "==" + want:                 websub.ErrUnsigned,
			"sha512=" + strings.Repeat("0", 128): websub.ErrSignature,
		} {
			if err := websub.CheckSignature(header, "Jefe", body); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", header, err, want)
			}
		}
		if err := websub.CheckSignature(got, "jefe", body); !errors.Is(err, websub.ErrSignature) {
			t.Errorf("another secret: %v", err)
		}
		if err := websub.CheckSignature(got, "Jefe", append(body, ' ')); !errors.Is(err, websub.ErrSignature) {
			t.Errorf("another body: %v", err)
		}
	}
	if _, err := websub.Sign("md5", "Jefe", body); !errors.Is(err, websub.ErrMethod) {
		t.Error(err)
	}
}

func TestTopicURLCannotInjectIntoLinkHeader(t *testing.T) {
	t.Parallel()
	const hub = "https://hub.example/websub"
	for _, c := range []struct{ hub, self, want string }{
		{hub, "http://t.example/a?b=1,2;c", `<https://hub.example/websub>; rel="hub", <http://t.example/a?b=1,2;c>; rel="self"`},
		{"", "http://t.example/", `<http://t.example/>; rel="self"`},
		{hub, "", `<https://hub.example/websub>; rel="hub"`},
		{"", "", ""},
		{hub, `http://t.example/>; rel="hub", <http://evil.example/`, `<https://hub.example/websub>; rel="hub", <http://t.example/%3E;%20rel=%22hub%22,%20%3Chttp://evil.example/>; rel="self"`},
		{hub, "http://t.example/\r\nX-Evil: 1", `<https://hub.example/websub>; rel="hub", <http://t.example/%0D%0AX-Evil:%201>; rel="self"`},
		{hub, "http://t.example/ü\x7f", `<https://hub.example/websub>; rel="hub", <http://t.example/%C3%BC%7F>; rel="self"`},
	} {
		got := websub.LinkHeader(c.hub, c.self)
		if got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.self, got, c.want)
		}
		d := discover.Header(http.Header{"Link": {got}}, "")
		if c.hub == "" && len(d.Hubs) > 0 || c.hub != "" && (len(d.Hubs) != 1 || d.Hubs[0] != hub) || (d.Self == "") != (c.self == "") {
			t.Errorf("%s is parsed as %+v", got, d)
		}
	}
}
