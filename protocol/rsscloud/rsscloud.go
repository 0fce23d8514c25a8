// Package rsscloud implements the rssCloud protocol. The author of a feed pings a cloud
// when the feed changes, and the cloud notifies the aggregators that subscribed to the
// feed.
//
// The package follows the implementor's guide of 16 October 2009 and the older text of 17
// July 2003. Three programs take part, and the package has an API for each:
//
//   - An authoring tool saves the feed and then pings the cloud: [Client.Ping].
//   - An aggregator finds the <cloud> element in a feed ([FindCloud]), registers its
//     callback ([Client.PleaseNotify]) and receives notifications with a [Subscriber].
//   - A cloud serves both with a [Handler] and builds notifications with
//     [EncodeNotification].
//
// To talk to a cloud, start with [Cloud] and [Client]. To run one, start with [Handler].
// The package implements the messages only. An implementation of [Backend] stores the
// subscriptions, expires them, and checks whether a feed really changed.
//
// A registration names the callback by port and path. The host is the client address of the
// request, which the cloud verifies by a test call, or the optional domain, which the cloud
// verifies by a challenge: a GET with the parameters url and challenge, whose response must
// contain the challenge.
//
// # Interoperability
//
//   - The message of an accepted ping is exactly [ThanksForThePing]; old clients compare
//     it.
//   - Success and failure both have status 200. Read the success attribute.
//   - Forms are accepted without a Content-Type and as text/plain, because authoring tools
//     send both. The number in url1, url2 … may be missing or out of order.
//   - Clouds in the field respond to pings with result or pingResult, in XML or JSON. Their
//     XML-RPC endpoints return true, a struct or a fault. [ParseResult] reads all of these.
//   - A <cloud> element may have an empty domain (the feed's own host), a path without a
//     leading slash, and no registerProcedure. Both the 2003 form, which names
//     xmlStorageSystem.rssPleaseNotify, and the 2009 form are understood.
//   - The protocol https-post is not in the guide; clouds use it for callbacks over TLS.
//     http-post with port 443 means the same.
//   - XML-RPC and SOAP aggregators often have no handler for GET and cannot answer a
//     challenge. A cloud may fall back to a test call when the status is 404 or 405.
package rsscloud

import (
	"errors"
	"fmt"
	"time"
)

// Protocols that a callback or a <cloud> element can name. The values are case-sensitive.
const (
	HTTPPost  = "http-post"  // spec:rsscloud-2009#please-notify-fields
	HTTPSPost = "https-post" // spec:cloudburst#https-post
	XMLRPC    = "xml-rpc"    // spec:rsscloud-2003#protocol-case
	SOAP      = "soap"
)

// ValidProtocol reports whether p is one of the four protocols. The comparison is
// case-sensitive.
func ValidProtocol(p string) bool {
	// spec:rsscloud-2003#protocol-case
	switch p {
	case HTTPPost, HTTPSPost, XMLRPC, SOAP:
		return true
	}
	return false
}

// ThanksForThePing is the exact message of an accepted ping.
//
// spec:cloudburst#message-thanks
const ThanksForThePing = "Thanks for the ping."

// HopsHeader counts the hubs that a notification has passed through. A cloud that forwards a
// notification as a ping increases the number by one.
const HopsHeader = "X-Hub-Hops"

// ChangedAtHeader contains the time at which the cloud detected the change. Notifications have it,
// test calls do not. The format is RFC 3339 in UTC with fractions of a second. The header is not
// part of the guide; aggregators may use it to measure the delay.
const ChangedAtHeader = "X-Hub-Changed-At"

// MaxHops is the largest hop count with which a ping is accepted.
const MaxHops = 3

// Procedure names over XML-RPC. SOAP uses the part after the dot.
const (
	MethodHello           = "rssCloud.hello"
	MethodPing            = "rssCloud.ping"
	MethodPleaseNotify    = "rssCloud.pleaseNotify"
	MethodRSSPleaseNotify = "xmlStorageSystem.rssPleaseNotify"
)

// Size limits. A larger body is rejected as a whole.
const (
	MaxForm    = 64 << 10 // bytes of a form body
	MaxFields  = 200      // fields of a form
	MaxURLs    = 50       // feeds in one registration
	MaxURL     = 2048     // bytes of a feed's URL
	MaxPath    = 2000     // bytes of a callback's path, including its query
	maxAnswer  = 64 << 10 // bytes of a response that a client reads
	maxReply   = 4 << 10  // bytes of a callback's response to a notification
	maxMessage = 16 << 10 // bytes of a notification that a Subscriber reads
)

var (
	// ErrNoCloud means that a feed has no usable <cloud> element.
	ErrNoCloud = errors.New("rsscloud: the feed has no usable cloud element")
	// ErrInvalidResponse means that a cloud's response has none of the known forms.
	ErrInvalidResponse = errors.New("rsscloud: the response has none of the known forms")
	// ErrProtocol means that a protocol name is not one of the four.
	ErrProtocol = errors.New("rsscloud: unknown protocol")
)

// FieldError means that one field of a request is missing or invalid. Msg is a sentence for
// the sender of the request.
type FieldError struct {
	Field string // in the protocol's spelling
	Msg   string
}

func (e *FieldError) Error() string { return "rsscloud: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is a refusal with an HTTP status of its own. A [Backend] returns it when a limit is
// reached (429) and when it is temporarily unavailable (503). Any other refusal is a
// [Result] without success.
type Error struct {
	Status     int           // HTTP status
	Msg        string        // a sentence for the client
	RetryAfter time.Duration // 0: not specified
	Err        error         // the cause, never sent to the client; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "rsscloud: " + e.Msg + ": " + e.Err.Error()
	}
	return "rsscloud: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }
