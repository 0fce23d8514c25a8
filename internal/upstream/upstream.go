// Package upstream manages this server's own subscriptions at other hubs. It receives their
// notifications, verifies them and passes them on.
//
// A [Follow] is one subscription: a row with its state, and the time at which work is due. The
// [Engine] claims due rows, sends requests to the hub by a [Subscriber], and stores the results. A
// claim is a lease with a fencing number, so that a crash loses nothing and two processes on one
// database do not both renew. Start with [Engine] and its Run, Add, Receive and Confirm.
//
// Hubs are not trusted, except for content that is signed with the subscription's secret. News of
// a feed becomes a [Signal]; its receiver fetches the feed, or takes the signed content.
//
// The package implements no protocol messages; those are in package endpoint. It implements the
// timing of the protocols (25 hours, leases, 30 silent days).
package upstream

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/event"
)

// Subscriber sends requests to hubs.
type Subscriber interface {
	// Discover fetches the feed and returns the endpoints at which its changes are pushed. Errors:
	// fault.Refused (the server may not fetch its address), Unreadable, Unavailable.
	Discover(ctx context.Context, feed string) (Found, error)
	// Endpoint completes an endpoint that a user entered. fault.Invalid: it cannot be an endpoint.
	Endpoint(protocol, hub string) (Endpoint, error)
	// Ask requests notifications of f.Topic from the hub, or their renewal. Errors: fault.Refused
	// (the hub refused, in its own words), Gone (it refused permanently), Unreadable (no usable
	// answer), TooMany and Unavailable (with RetryAfter).
	Ask(ctx context.Context, f Follow) (Answer, error)
	// End requests the end of notifications. Errors as for Ask; fault.Unsupported when the
	// protocol has no such request.
	End(ctx context.Context, f Follow) error
}

// Found contains the hubs and the topic that a feed declares.
type Found struct {
	Topic     string     // URL that the feed declares as its own; "": none
	Endpoints []Endpoint // best first
}

// Endpoint is the URL and the protocol by which a hub accepts subscriptions.
type Endpoint struct {
	Protocol  string // RSSCloud, WebSub or CNWS
	Hub       string // URL
	Wire      string // RSSCloud: the protocol of the request
	Procedure string // RSSCloud over xml-rpc and soap: name of the procedure
}

// Answer is the positive answer of a hub.
type Answer struct {
	Confirmed bool   // the subscription is active; else the hub will verify it
	Hub       string // not empty: the hub has moved here permanently
	Notify    string // RSSCloud: the protocol of its notifications; "": unknown
	Text      string // text of the hub, for people; may be empty
}

// Parts of this program that follow feeds: [Request.For].
const (
	Reader = "reader" // the feed reader, which fetches the feed itself: package upstream must not
	Relay  = "relay"  // the hub, for its subscribers
)

// Signal reports that a feed may have changed.
type Signal struct {
	URL    string     // of the feed, as it was added
	Via    string     // how the news arrived: notify-websub and so on
	Source netip.Addr // address of the sender; the zero Addr is this program
	Hops   int        // hubs that the news passed through
	For    []string   // parts of this program to notify, sorted
	Unsure bool       // there may be no change: it was a test call, or this program was down
	Content
}

// Content is the content of a notification.
type Content struct {
	Body   []byte      // exactly as received, read-only; empty: none
	Header http.Header // its Content-Type, and the Link fields that name the feed
	Signed bool        // signed by the hub with the secret of this subscription; else the sender is unknown
}

// Values of Signal.Via.
const (
	ViaRSSCloud = "notify-rsscloud"
	ViaWebSub   = "notify-websub"
	ViaCNWS     = "notify-cnws"
	ViaAway     = "notify-away" // this program was down and checks for missed changes
)

// viaOf returns the Via of signals by a protocol.
func viaOf(protocol string) string {
	switch protocol {
	case WebSub:
		return ViaWebSub
	case CNWS:
		return ViaCNWS
	}
	return ViaRSSCloud
}

// Options of an engine. Zero fields mean the default in brackets.
type Options struct {
	Rate          float64         // requests to hubs per second, unless more are needed to be in time [5]
	Max           float64         // most requests per second [100]
	AtOnce        int             // requests in progress [16]
	PerHub        int             // requests in progress at one host [2]
	AskTimeout    time.Duration   // of one request [30 s]
	Expiry        time.Duration   // duration of an rssCloud registration [25 h]
	Renew         time.Duration   // age at which it is renewed, or slightly later [24 h]
	Silence       time.Duration   // a CNWS publisher that was silent for so long is asked again [30 days]
	Lease         time.Duration   // lease to request from WebSub hubs [240 h]
	ConfirmWithin time.Duration   // a hub that has not verified by then is asked again [10 min]
	Retry         []time.Duration // waits after failures; the last one repeats [1m 5m 30m 2h 6h]
	Again         time.Duration   // when a hub that refused is asked again [24 h]
	Away          time.Duration   // a downtime after which registrations may be lost [5 min]

	// Own reports whether the hub is this server; nil: it never is.
	Own func(hub string) bool
	// Known returns what this program knows about a feed's hubs from reading it for users; false:
	// nothing. It is called before the feed is fetched for that. nil: nothing is known.
	Known func(ctx context.Context, feed string) (Found, bool, error)
}

// Engine follows feeds at other hubs. Store, Ask, Signal and Bus must be set before first use;
// other fields may be zero.
type Engine struct {
	Store Store
	Ask   Subscriber
	// Signal handles news of a feed. When it returns nil, its effects are on disk. An error makes
	// the hub send the news again, if its protocol supports that.
	Signal func(ctx context.Context, s Signal) error
	Bus    *event.Bus
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now
	// PublicURL returns the URL at which hubs reach this server, without a trailing slash.
	PublicURL func() string
	Options   Options

	init     sync.Once
	work     chan struct{} // woken when a row may be due
	checks   chan Follow   // follows whose feeds may have missed news
	requests atomic.Int64  // requests since the start
	hosts    hosts
	plan     plan

	rate    float64 // only for workLoop: requests per second
	pacedAt time.Time

	mu       sync.Mutex // guards the following fields
	tallies  map[int64]*tally
	rejected int64
}

// Live has the totals of the engine since its start.
type Live struct {
	Asked    int64 // requests to hubs
	Rejected int64 // deliveries with a missing or wrong signature
}
