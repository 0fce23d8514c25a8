// Package upstream keeps this server's own subscriptions at other hubs, so that
// what they announce is heard here, checked, and passed on.
//
// A [Follow] is one such subscription: a row with its state, and the time at which
// something has to be done about it. The [Engine] claims rows that are due, has a
// [Subscriber] ask the hub, and writes down what came of it; a claim is a lease
// with a number, so that a crash loses nothing and two processes on one database
// do not both renew. Start with [Engine] and its Run, Add, Heard and Confirm.
//
// Nothing that a hub says is believed, but content that it signed with a secret which
// it alone knows. News of a feed becomes a [Signal], and whoever takes the signal
// reads the feed itself, or takes what was signed.
//
// The package knows no wire: what protocols have to say to each other is in the
// endpoints. The protocols' own clocks (25 hours, leases, 30 silent days) are here.
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

// Subscriber talks to hubs.
type Subscriber interface {
	// Discover reads the feed and says by which doors its changes can be heard of.
	// Errors: fault.Refused (its address may not be read), Unreadable, Unavailable.
	Discover(ctx context.Context, feed string) (Found, error)
	// Door is the door that somebody named by hand, in full. fault.Invalid: it can be none.
	Endpoint(protocol, hub string) (Endpoint, error)
	// Ask asks the hub for notifications of f.Topic, or for more of them. Errors:
	// fault.Refused (the hub said no, in its own words), Gone (it said: never),
	// Unreadable (no usable answer), TooMany and Unavailable (with RetryAfter).
	Ask(ctx context.Context, f Follow) (Answer, error)
	// End asks the hub to send no more. Errors as of Ask; fault.Unsupported where
	// the protocol has no way to say so.
	End(ctx context.Context, f Follow) error
}

// Found is what a feed says of where it can be followed.
type Found struct {
	Topic     string     // the URL that the feed calls its own; "": none
	Endpoints []Endpoint // the best first
}

// Door is where and how a hub is asked.
type Endpoint struct {
	Protocol  string // RSSCloud, WebSub or CNWS
	Hub       string // URL
	Wire      string // RSSCloud: the protocol in which the cloud is asked
	Procedure string // RSSCloud over xml-rpc and soap: what is called there
}

// Answer is a hub's answer that is no refusal.
type Answer struct {
	Confirmed bool   // it holds already; else the hub will ask back
	Hub       string // not empty: the hub has moved here for good
	Notify    string // RSSCloud: the protocol in which it will tell us; "": not known
	Text      string // what the hub said, for people; may be empty
}

// Who wants feeds in this program: [Request.For].
const (
	Reader = "reader" // its own readers: the feed is theirs to read, and never read from here
	Relay  = "relay"  // its hub, for subscribers of its own
)

// Signal says that a feed may have changed.
type Signal struct {
	URL    string     // of the feed, as it was added here
	Via    string     // through which the news came: notify-websub and so on
	Source netip.Addr // who said so; the zero Addr is this program
	Hops   int        // hubs that the news has passed through
	For    []string   // who in this program wants to know, in order
	Unsure bool       // perhaps nobody announced a change: it was a test call, or this program was away
	Content
}

// Content is what a hub sent along with the news.
type Content struct {
	Body   []byte      // exactly as it came, to be read only; empty: none came
	Header http.Header // its Content-Type, and the Link that says whose it is
	Signed bool        // by the hub, with the secret of this subscription; else nobody knows whose it is
}

// Doors of signals.
const (
	ViaRSSCloud = "notify-rsscloud"
	ViaWebSub   = "notify-websub"
	ViaCNWS     = "notify-cnws"
	ViaAway     = "notify-away" // this program was away and looks for what it missed
)

// doorOf returns the Door of the signals that come by a protocol.
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
	Rate          float64         // questions to hubs per second, while not more are needed to be in time [5]
	Max           float64         // questions per second at most [100]
	AtOnce        int             // questions under way at once [16]
	PerHub        int             // of them at one host [2]
	AskTimeout    time.Duration   // one question [30 s]
	Expiry        time.Duration   // life of an rssCloud registration [25 h]
	Renew         time.Duration   // when it is renewed, or somewhat later [24 h]
	Silence       time.Duration   // a CNWS publisher that was silent for so long is asked again [30 days]
	Lease         time.Duration   // what WebSub hubs are asked for [240 h]
	ConfirmWithin time.Duration   // a hub that has not asked back by then is asked again [10 min]
	Retry         []time.Duration // waits after failures; the last repeats [1m 5m 30m 2h 6h]
	Again         time.Duration   // when a hub that refused is asked again [24 h]
	Away          time.Duration   // an absence that may have cost registrations [5 min]

	// Own reports a door of this very server; nil: none.
	Own func(hub string) bool
	// Known is what this program knows of a feed's hubs already, from reading it for
	// its readers; false: nothing. It is asked before the feed is read for that. Nil:
	// nothing is known.
	Known func(ctx context.Context, feed string) (Found, bool, error)
}

// Engine follows feeds at other hubs. Store, Ask, Signal and Bus must be set before
// its first use; the rest may be zero.
type Engine struct {
	Store Store
	Ask   Subscriber
	// Signal is told of news. When it returns, what follows is on disk; an error
	// makes the hub send the news again, where its protocol has that.
	Signal func(ctx context.Context, s Signal) error
	Bus    *event.Bus
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now
	// PublicURL is where hubs reach this server, without a trailing slash.
	PublicURL func() string
	Options   Options

	init     sync.Once
	work     chan struct{} // woken when a row may be due
	checks   chan Follow   // of which news may have been missed
	requests atomic.Int64  // questions since the start
	hosts    hosts
	plan     plan

	rate    float64 // of workLoop's: questions per second
	pacedAt time.Time

	mu       sync.Mutex // guards what follows
	tallies  map[int64]*tally
	rejected int64
}

// Live is what the engine did since its start.
type Live struct {
	Asked    int64 // questions to hubs
	Rejected int64 // deliveries that were not signed as they should be
}
