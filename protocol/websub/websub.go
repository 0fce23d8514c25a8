// Package websub implements WebSub, formerly PubSubHubbub. A hub sends the new content of a
// feed, or of any other document, to its subscribers as soon as it learns of a change.
//
// The package follows the W3C recommendation of 23 January 2018. Three programs take part,
// and the package has an API for each:
//
//   - A publisher names its hubs and the topic's own URL in the headers of the topic
//     ([LinkHeader]) and notifies the hubs of changes: [Client.Publish].
//   - A subscriber discovers hub and topic ([Client.Discover]) and sends a request to the
//     hub ([Client.Subscribe]). Its callback, a [Subscriber], confirms the request and
//     receives the deliveries.
//   - A hub serves both with a [Handler], verifies callbacks with [VerifyURL] and
//     [CheckChallenge], and signs deliveries with [Sign].
//
// To subscribe, start with [Client] and [Subscriber]. To run a hub, start with [Handler].
// The package implements the messages only. An implementation of [Backend] or [Callbacks]
// stores the subscriptions, expires leases and detects changes.
//
// A subscription is identified by the pair of a topic's URL and a callback's URL. Both are
// compared byte for byte and never normalized: verifications and deliveries use the URLs
// exactly as the subscriber sent them. The callback's URL is also the only credential of a
// hub, so it ends in an unguessable token: [NewToken].
//
// # Interoperability
//
//   - Forms are accepted without a Content-Type and as text/plain, because clients send
//     both. An empty lease or secret counts as missing.
//   - The recommendation does not specify how a publisher notifies its hub. All hubs accept
//     hub.mode=publish with hub.url, and most accept hub.topic with the same meaning. Both
//     may be repeated here.
//   - The response to a challenge must be exactly the challenge. A final line end, which
//     some frameworks add, is not accepted: the recommendation requires equality, and a
//     page that merely contains the challenge is not consent.
//   - Signatures are accepted in all four methods, without regard to case. Hubs in the
//     field still sign with sha1.
//   - Some topics have no rel=self. [Discovery.Topic] is then the URL of the document.
package websub

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Modes, the values of hub.mode. They are case-sensitive.
const (
	ModeSubscribe   = "subscribe"
	ModeUnsubscribe = "unsubscribe"
	ModePublish     = "publish"
	ModeDenied      = "denied" // sent to a callback
)

// Size limits. A larger body is rejected as a whole.
const (
	MaxForm      = 64 << 10 // bytes of a form body
	MaxFields    = 200      // fields of a form
	MaxURLs      = 50       // topics in one publish request
	MaxURL       = 2048     // bytes of the URL of a topic or a callback
	MaxSecret    = 199      // bytes of a secret
	MaxChallenge = 1024     // bytes of a challenge that a Subscriber echoes
	MaxContent   = 5 << 20  // bytes of a delivery that a Subscriber accepts by default
	maxAnswer    = 4 << 10  // bytes of a response that a client reads
	maxDocument  = 5 << 20  // bytes of a document that are searched for hub links
	maxRedirects = 5        // redirects of a document that are followed
	maxHubMoves  = 3        // redirects of a hub that are followed
)

// Limits of the lease that a hub grants. No lease is unlimited.
//
// spec:websub-2018#lease-never-perpetual
const (
	MinLease = 300 * time.Second
	MaxLease = 864_000 * time.Second // ten days; also granted if no lease is requested
)

// ClampLease returns the lease to grant for a requested lease: whole seconds from [MinLease] to
// [MaxLease]. If the request has no lease (0), the result is MaxLease.
//
// spec:websub-2018#lease-short
func ClampLease(requested time.Duration) time.Duration {
	if requested <= 0 {
		return MaxLease
	}
	return min(max(requested, MinLease), MaxLease).Truncate(time.Second)
}

var (
	// ErrRefused means that a callback did not consent: its status is outside of 200 to
	// 299.
	ErrRefused = errors.New("websub: the callback did not consent")
	// ErrChallenge means that a callback's response differs from the challenge.
	ErrChallenge = errors.New("websub: the callback's response is not the challenge")
	// ErrNoHub means that a document names no hub.
	ErrNoHub = errors.New("websub: the document names no hub")
	// ErrMethod means that the signature has an unknown method.
	ErrMethod = errors.New("websub: unknown signature method")
	// ErrUnsigned means that the signature is missing or malformed.
	ErrUnsigned = errors.New("websub: the content is not signed")
	// ErrSignature means that the signature belongs to other content or another secret.
	ErrSignature = errors.New("websub: the signature does not match")
	// ErrNotWanted is returned by [Callbacks] to refuse a request.
	ErrNotWanted = errors.New("websub: this is not wanted")
)

// Error is a refusal with an HTTP status. A [Backend] returns it for a request that it does
// not permit, for a limit (429), and when it is temporarily unavailable (503). A [Client]
// returns it for the response of a hub.
type Error struct {
	Status     int           // HTTP status
	Msg        string        // a sentence for the client
	RetryAfter time.Duration // 0: not specified
	Err        error         // the cause, never sent to the client; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "websub: " + e.Msg + ": " + e.Err.Error()
	}
	return "websub: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// bad returns an Error with status 400.
func bad(format string, args ...any) *Error {
	return &Error{Status: 400, Msg: fmt.Sprintf(format, args...)}
}

// NewToken returns an unguessable token of 26 letters and digits with 130 random bits. Use
// one per subscription, at the end of the callback's URL. A token is also a good secret.
//
// spec:websub-2018#unguessable-callback
func NewToken() string { return strings.ToLower(rand.Text()) }
