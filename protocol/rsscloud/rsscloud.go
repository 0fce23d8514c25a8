// Package rsscloud speaks rssCloud on the wire: the protocol by which the author
// of a feed tells a cloud "it changed", and the cloud tells every aggregator that
// asked to know.
//
// It follows the implementor's guide of 16 October 2009 and the older text of
// 17 July 2003. Three programs take part, and each has its piece here:
//
//   - An authoring tool saves the feed and pings: [Client.Ping].
//   - An aggregator finds the <cloud> element in a feed ([FindCloud]), asks to be
//     notified ([Client.PleaseNotify]), and hears of changes with a [Subscriber].
//   - A cloud answers both with a [Handler] and notifies with [EncodeNotification].
//
// Start with [Cloud] and [Client] to talk to a cloud, with [Handler] to be one.
// The package knows bytes and nothing else: who is subscribed, when a
// registration runs out and whether a feed really changed are the business of
// whoever implements [Backend].
//
// A registration names the callback by port and path. Its host is the address
// that the request came from, which the cloud verifies by a test call, or the
// optional domain, which the cloud verifies by a challenge: a GET whose parameters
// are url and challenge and whose answer must contain the challenge.
//
// # Interoperability
//
//   - The message of an accepted ping is exactly [ThanksForThePing]; old clients
//     look for it.
//   - Success and failure both come with status 200: read the success attribute.
//   - Forms are accepted without a Content-Type and as text/plain, because authors
//     send them so, and the number in url1, url2 … may be missing or out of order.
//   - Clouds in the field answer pings with result or pingResult, in XML or JSON,
//     and their XML-RPC doors with true, with a struct or with a fault.
//     [ParseResult] reads them all.
//   - A <cloud> element may have an empty domain (the feed's own host), a path
//     without a leading slash, and no registerProcedure. The 2003 form, which names
//     xmlStorageSystem.rssPleaseNotify, and the 2009 form are both understood.
//   - The protocol https-post is not in the guide; clouds use it for callbacks over
//     TLS. http-post with port 443 means the same.
//   - XML-RPC and SOAP aggregators often have no handler for GET and cannot meet a
//     challenge. A cloud may fall back to a test call when the answer is 404 or 405.
package rsscloud

import (
	"errors"
	"fmt"
	"time"
)

// Protocols that a callback or a <cloud> element can name. They are
// case-sensitive.
const (
	HTTPPost  = "http-post"  // spec:rsscloud-2009#please-notify-fields
	HTTPSPost = "https-post" // spec:cloudburst#https-post
	XMLRPC    = "xml-rpc"    // spec:rsscloud-2003#protocol-case
	SOAP      = "soap"
)

// ValidProtocol reports whether p is one of the four protocols, letter for letter.
func ValidProtocol(p string) bool {
	// spec:rsscloud-2003#protocol-case
	switch p {
	case HTTPPost, HTTPSPost, XMLRPC, SOAP:
		return true
	}
	return false
}

// ThanksForThePing is the message of an accepted ping, to the letter.
//
// spec:cloudburst#message-thanks
const ThanksForThePing = "Thanks for the ping."

// HopsHeader counts the hubs that a piece of news has passed through. A cloud
// that gets a notification and passes it on as a ping of its own adds one.
const HopsHeader = "X-Hub-Hops"

// ChangedAtHeader tells, in a notification, when the cloud heard of the change: RFC
// 3339 in UTC, with fractions of a second. A test call has none. No guide names
// it; aggregators may show with it how long the news took.
const ChangedAtHeader = "X-Hub-Changed-At"

// MaxHops is the largest count with which a ping is still taken.
const MaxHops = 3

// Names of the procedures, over XML-RPC and (the last part) over SOAP.
const (
	MethodHello           = "rssCloud.hello"
	MethodPing            = "rssCloud.ping"
	MethodPleaseNotify    = "rssCloud.pleaseNotify"
	MethodRSSPleaseNotify = "xmlStorageSystem.rssPleaseNotify"
)

// Limits of what is read. Larger bodies are refused whole.
const (
	MaxForm    = 64 << 10 // bytes of a form body
	MaxFields  = 200      // fields of a form
	MaxURLs    = 50       // feeds in one registration
	MaxURL     = 2048     // bytes of a feed's URL
	MaxPath    = 2000     // bytes of a callback's path with its query
	maxAnswer  = 64 << 10 // bytes of an answer that a client reads
	maxReply   = 4 << 10  // bytes of a callback's answer to a notification
	maxMessage = 16 << 10 // bytes of a notification that a Subscriber reads
)

var (
	// ErrNoCloud means that a feed has no <cloud> element that can be used.
	ErrNoCloud = errors.New("rsscloud: the feed has no usable cloud element")
	// ErrInvalidResponse means that a cloud's answer is in none of the known forms.
	ErrInvalidResponse = errors.New("rsscloud: the answer is not one that a cloud gives")
	// ErrProtocol means a protocol name that is not one of the four.
	ErrProtocol = errors.New("rsscloud: unknown protocol")
)

// FieldError says that one field of a request is missing or wrong. Msg is a
// sentence for whoever sent it.
type FieldError struct {
	Field string // as the protocol spells it
	Msg   string
}

func (e *FieldError) Error() string { return "rsscloud: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is a refusal that has an HTTP status of its own. A [Backend] returns it
// for limits (429) and when it cannot answer now (503); everything else that is
// refused is a [Result] without success.
type Error struct {
	Status     int           // HTTP status
	Msg        string        // a sentence for whoever asked
	RetryAfter time.Duration // 0: the answer does not say
	Err        error         // the cause, never shown; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "rsscloud: " + e.Msg + ": " + e.Err.Error()
	}
	return "rsscloud: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }
