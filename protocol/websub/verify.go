package websub

import (
	"crypto/rand"
	"strings"
	"time"
)

// Verification is a hub's verification request to a callback or, with [ModeDenied], its message that
// the subscription is denied.
type Verification struct {
	Mode      string        // ModeSubscribe, ModeUnsubscribe or ModeDenied
	Topic     string        // URL of the topic, exactly as requested
	Challenge string        // see [NewChallenge]; empty for ModeDenied
	Lease     time.Duration // for ModeSubscribe: the granted lease, in whole seconds
	Reason    string        // for ModeDenied: the reason in one sentence; may be empty
}

// NewChallenge returns a challenge of 26 letters and digits with 130 random bits. Use each
// challenge once only.
//
// spec:websub-2018#challenge-random
func NewChallenge() string { return rand.Text() }

// VerifyURL returns the URL of a hub's GET to a callback. The parameters are appended to
// the callback's own query, which stays unchanged even if a parameter has the same name.
// The result is longer than the callback and the reason together by at most 3 × [MaxURL] +
// 200 bytes.
//
// spec:websub-2018#verification-parameters
// spec:websub-2018#callback-query-preserved
func VerifyURL(callback string, v Verification) string {
	f := form{{"hub.mode", v.Mode}, {"hub.topic", v.Topic}}
	switch {
	case v.Mode == ModeDenied:
		// spec:websub-2018#denied-parameters
		if v.Reason != "" {
			f = append(f, field{"hub.reason", v.Reason})
		}
	default:
		f = append(f, field{"hub.challenge", v.Challenge})
		// spec:websub-2018#verification-lease
		if v.Mode == ModeSubscribe {
			f = append(f, field{"hub.lease_seconds", seconds(v.Lease)})
		}
	}
	join := "&"
	switch mark := strings.IndexByte(callback, '?'); {
	case mark < 0:
		join = "?"
	case mark == len(callback)-1, strings.HasSuffix(callback, "&"):
		join = ""
	}
	return callback + join + f.encode()
}

// CheckChallenge checks a response to the GET of [VerifyURL]. nil means consent. The error
// is [ErrRefused] for a status outside of 200 to 299, or [ErrChallenge] for a body that
// differs from the challenge. Text before or after the challenge, even a line end, is not
// permitted.
//
// spec:websub-2018#verification-answer
func CheckChallenge(status int, body []byte, challenge string) error {
	switch {
	case status < 200 || status > 299:
		return ErrRefused
	case challenge == "" || string(body) != challenge:
		return ErrChallenge
	}
	return nil
}
