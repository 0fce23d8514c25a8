// Package upstream manages this server's own subscriptions at other hubs. It receives their
// notifications, verifies them and passes them on.
//
// A [Follow] is one subscription: a row with its state, and the time at which work is due. The
// [Engine] claims due rows, sends requests to the hub through a [Subscriber], and stores the
// results. A claim is a lease with a fencing number, so a crash loses nothing, and two processes on
// one database do not both renew a subscription. Start with [Engine] and its methods Run, Add,
// Receive and Confirm.
//
// Hubs are not trusted, except for content that is signed with the subscription's secret. A
// notification becomes a [Signal]; its receiver fetches the feed, or uses the signed content.
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
	// Discover fetches the feed and returns the endpoints that it names for notifications. Errors:
	// fault.Refused (this server may not fetch the feed's address), Unreadable, Unavailable.
	Discover(ctx context.Context, feed string) (Found, error)
	// Endpoint completes an endpoint that a user entered. It returns fault.Invalid if hub cannot be
	// the URL of an endpoint.
	Endpoint(protocol, hub string) (Endpoint, error)
	// Ask requests notifications of f.Topic from the hub, or renews the subscription. Errors:
	// fault.Refused (the hub refused; the message is the hub's), Gone (the hub refused
	// permanently), Unreadable (no usable answer), TooMany and Unavailable (with RetryAfter).
	Ask(ctx context.Context, f Follow) (Answer, error)
	// End requests the end of notifications. It returns the errors of Ask, and fault.Unsupported if
	// the protocol has no such request.
	End(ctx context.Context, f Follow) error
}

// Found contains the hubs and the topic that a feed declares.
type Found struct {
	Topic     string     // URL that the feed declares as its own; "": none
	Endpoints []Endpoint // endpoints, the preferred one first
}

// Endpoint is the URL and the protocol by which a hub accepts subscriptions.
type Endpoint struct {
	Protocol  string // RSSCloud, WebSub or CNWS
	Hub       string // URL
	Wire      string // for RSSCloud: the protocol of the request
	Procedure string // for RSSCloud over xml-rpc and soap: the name of the procedure
}

// Answer is the positive answer of a hub.
type Answer struct {
	Confirmed bool   // the subscription is active; false: the hub will verify the request first
	Hub       string // if not empty: the hub has moved permanently to this URL
	Notify    string // for RSSCloud: the protocol of the notifications; "": unknown
	Text      string // text of the answer, for people; may be empty
}

// Parts of this program that follow feeds: [Request.For].
const (
	Reader = "reader" // the feed reader, which fetches the feed itself, so package upstream must not
	Relay  = "relay"  // the hub, for its subscribers
)

// Signal reports that a feed may have changed.
type Signal struct {
	URL    string     // URL of the feed as it was added
	Via    string     // how the notification arrived: notify-websub and so on
	Source netip.Addr // address of the sender; the zero Addr is this program
	Hops   int        // number of hubs that the notification passed through
	For    []string   // parts of this program to notify, sorted
	Unsure bool       // true for a test call or after a downtime, when there may be no change
	Content
}

// Content is the content of a notification.
type Content struct {
	Body   []byte      // exactly as received, read-only; empty: none
	Header http.Header // Content-Type, and the Link fields that name the feed
	Signed bool        // signed by the hub with the secret of this subscription; false: the sender is unknown
}

// Values of Signal.Via.
const (
	ViaRSSCloud = "notify-rsscloud"
	ViaWebSub   = "notify-websub"
	ViaCNWS     = "notify-cnws"
	ViaAway     = "notify-away" // this program was down, and checks for missed changes
)

// viaOf returns the Via of signals that arrive by a protocol.
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
	Rate          float64         // requests to hubs per second; more are sent if needed to be in time [5]
	Max           float64         // maximum requests per second [100]
	AtOnce        int             // maximum number of requests in progress [16]
	PerHub        int             // maximum number of requests in progress at one host [2]
	AskTimeout    time.Duration   // time limit of one request [30 s]
	Expiry        time.Duration   // lifetime of an rssCloud registration [25 h]
	Renew         time.Duration   // age at which an rssCloud registration is renewed, or slightly later [24 h]
	Silence       time.Duration   // a CNWS publisher that sent nothing for this time is asked again [30 days]
	Lease         time.Duration   // lease to request from WebSub hubs [240 h]
	ConfirmWithin time.Duration   // a hub that has not verified a request within this time is asked again [10 min]
	Retry         []time.Duration // delays after failures; the last one is repeated [1m 5m 30m 2h 6h]
	Again         time.Duration   // time after which a hub that refused is asked again [24 h]
	Away          time.Duration   // minimum downtime after which registrations may be lost [5 min]

	// Own reports whether the URL of a hub belongs to this server. Nil: no hub does.
	Own func(hub string) bool
	// Known returns what this program knows about the hubs of a feed because it reads the feed for
	// users. It returns false if nothing is known. Add calls Known before it fetches a feed. Nil:
	// nothing is known.
	Known func(ctx context.Context, feed string) (Found, bool, error)
}

// Engine follows feeds at other hubs. Store, Ask, Signal and Bus must be set before first use;
// other fields may be zero.
type Engine struct {
	Store Store
	Ask   Subscriber
	// Signal processes a notification for a feed. If it returns nil, its effects are stored. After
	// an error the hub sends the notification again, if the protocol supports that.
	Signal func(ctx context.Context, s Signal) error
	Bus    *event.Bus
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now
	// PublicURL returns the URL at which hubs reach this server, without a trailing slash.
	PublicURL func() string
	Options   Options

	init     sync.Once
	work     chan struct{} // woken when a row may be due
	checks   chan Follow   // follows whose feeds may have missed changes
	formers  chan Follow   // follows as they were before their feeds named another cloud
	requests atomic.Int64  // requests since the start
	hosts    hosts
	plan     plan

	rate    float64 // requests per second; used by workLoop only
	pacedAt time.Time

	mu       sync.Mutex // guards the following fields
	tallies  map[int64]*tally
	rejected int64
}

// Live contains the totals of the engine since its start.
type Live struct {
	Asked    int64 // requests to hubs
	Rejected int64 // deliveries with a missing or wrong signature
}
