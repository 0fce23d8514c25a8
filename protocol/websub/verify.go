package websub

import (
	"crypto/rand"
	"strings"
	"time"
)

// Verification is what a hub asks a callback, or, with [ModeDenied], what it tells it.
type Verification struct {
	Mode      string        // ModeSubscribe, ModeUnsubscribe or ModeDenied
	Topic     string        // as it was asked for
	Challenge string        // see [NewChallenge]; not with ModeDenied
	Lease     time.Duration // ModeSubscribe: what is granted, in whole seconds
	Reason    string        // ModeDenied: why, in one sentence; "": not told
}

// NewChallenge makes a challenge: 26 letters and digits with 130 random bits, for one
// question only.
//
// spec:websub-2018#challenge-random
func NewChallenge() string { return rand.Text() }

// VerifyURL is the URL of the GET by which a hub asks a callback. The parameters stand
// behind what the callback has already, of which no byte is touched, not even when a
// parameter there has the same name. It is at most 3 × [MaxURL] + 200 bytes longer
// than the callback, and than its reason.
//
// spec:websub-2018#verification-parameters
// spec:websub-2018#callback-query-kept
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

// CheckChallenge says whether an answer to the GET of [VerifyURL] is consent: nil,
// [ErrRefused] for another status than one of the 200s, or [ErrChallenge] for a body
// that is not the challenge. Nothing may stand before or behind it, no line end either.
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
