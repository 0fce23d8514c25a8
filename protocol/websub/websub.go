// Package websub speaks WebSub on the wire: the protocol by which the subscribers
// of a feed, or of any other document, are sent its new content as soon as a hub
// hears that it changed. It was called PubSubHubbub before.
//
// It follows the W3C recommendation of 23 January 2018. Three programs take part,
// and each has its piece here:
//
//   - A publisher names its hubs and the topic's own URL in the headers of the topic
//     ([LinkHeader]) and tells the hubs of changes: [Client.Publish].
//   - A subscriber finds hub and topic ([Client.Discover]), asks the hub
//     ([Client.Subscribe]), consents when it asks back, and takes what it sends, all
//     of it with a [Subscriber].
//   - A hub answers both with a [Handler], asks callbacks with [VerifyURL] and
//     [CheckChallenge], and signs what it sends with [Sign].
//
// Start with [Client] and [Subscriber] to follow something, with [Handler] to be a
// hub. The package knows bytes and nothing else: who is subscribed, when a lease runs
// out and what changed are the business of whoever implements [Backend] or
// [Callbacks].
//
// A subscription is the pair of a topic's URL and a callback's URL. Both are compared
// byte for byte and are never tidied up: what a subscriber wrote is what it is asked
// about and where the content goes. The callback's URL is also the only thing by which
// a subscriber knows a hub, so it ends in something that nobody guesses: [NewToken].
//
// # Interoperability
//
//   - Forms are accepted without a Content-Type and as text/plain, because programs
//     send them so. A lease or secret that is there but empty counts as not there.
//   - The recommendation leaves open how a publisher tells its hub. What all hubs take
//     is hub.mode=publish with hub.url, and most take hub.topic for the same; both may
//     be repeated here.
//   - A challenge is met by exactly its bytes. A line end behind it, which some
//     frameworks add, is not accepted: the recommendation says equal, and a page that
//     merely contains what it was asked for is no consent.
//   - Signatures are read in all four methods and in any case of letters. Hubs in the
//     field still sign with sha1.
//   - Topics without rel=self exist; [Discovery.Topic] is then the URL at which the
//     document was found.
package websub

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Modes, as hub.mode names them. They are case-sensitive.
const (
	ModeSubscribe   = "subscribe"
	ModeUnsubscribe = "unsubscribe"
	ModePublish     = "publish"
	ModeDenied      = "denied" // told to a callback
)

// Limits of what is read. Larger bodies are refused whole.
const (
	MaxForm      = 64 << 10 // bytes of a form body
	MaxFields    = 200      // fields of a form
	MaxURLs      = 50       // topics in one publish request
	MaxURL       = 2048     // bytes of a topic or a callback
	MaxSecret    = 199      // bytes of a secret
	MaxChallenge = 1024     // bytes of a challenge that a Subscriber echoes
	MaxContent   = 5 << 20  // bytes of a delivery that a Subscriber takes, unless set otherwise
	maxAnswer    = 4 << 10  // bytes of an answer that a client reads
	maxDocument  = 5 << 20  // bytes of a document in which hubs are looked for
	maxRedirects = 5        // of a document
	maxHubMoves  = 3        // of a hub
)

// Leases that a hub grants. There is none without end.
//
// spec:websub-2018#lease-never-perpetual
const (
	MinLease = 300 * time.Second
	MaxLease = 864_000 * time.Second // ten days; also what is granted when nothing is asked for
)

// Clamp is the lease that is granted for what was asked: whole seconds between
// [MinLease] and [MaxLease], and MaxLease for 0, which is not asked for.
//
// spec:websub-2018#lease-short
func Clamp(asked time.Duration) time.Duration {
	if asked <= 0 {
		return MaxLease
	}
	return min(max(asked, MinLease), MaxLease).Truncate(time.Second)
}

var (
	// ErrRefused means that a callback did not consent: it answered with another
	// status than one of the 200s.
	ErrRefused = errors.New("websub: the callback did not consent")
	// ErrChallenge means that a callback answered with something else than the
	// challenge and nothing but the challenge.
	ErrChallenge = errors.New("websub: the callback's answer is not the challenge")
	// ErrNoHub means that a document names no hub.
	ErrNoHub = errors.New("websub: the document names no hub")
	// ErrMethod means a signature in a method that is not one of the four.
	ErrMethod = errors.New("websub: unknown signature method")
	// ErrUnsigned means that the signature is missing, or is none.
	ErrUnsigned = errors.New("websub: the content is not signed")
	// ErrSignature means that the signature is that of another content or secret.
	ErrSignature = errors.New("websub: the signature does not match")
	// ErrNotWanted is what [Callbacks] return for a question that they say no to.
	ErrNotWanted = errors.New("websub: this is not wanted")
)

// Error is a refusal with an HTTP status. A [Backend] returns it for what it does not
// allow, for limits (429), and when it cannot answer now (503); a [Client] returns it
// for what a hub answered.
type Error struct {
	Status     int           // HTTP status
	Msg        string        // a sentence for whoever asked
	RetryAfter time.Duration // 0: the answer does not say
	Err        error         // the cause, never shown; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "websub: " + e.Msg + ": " + e.Err.Error()
	}
	return "websub: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// bad is an Error with status 400.
func bad(format string, args ...any) *Error {
	return &Error{Status: 400, Msg: fmt.Sprintf(format, args...)}
}

// NewToken makes a text that nobody guesses: 26 letters and digits with 130 random
// bits. It is meant for the end of a callback's URL, one for each subscription, and
// does as a secret too.
//
// spec:websub-2018#unguessable-callback
func NewToken() string { return strings.ToLower(rand.Text()) }
