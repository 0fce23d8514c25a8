// Package hub verifies that a feed changed and notifies its subscribers.
//
// The [Store] holds all state; a wake-up is only a hint. Pending deliveries, their subscribers and
// their due times are rows. After a crash nothing is lost, and another process on the same database
// continues the work. Start with [Hub] and its methods Run, Ping and Register.
//
// The hub does not know wire formats: a [Fetcher] reads feeds, a [Notifier] notifies subscribers
// and a [Verifier] obtains their consent. This package implements the rules that are independent of
// the format: registrations end after 25 hours, three consecutive errors end a registration, and
// the sweep runs at the top of the hour.
package hub

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/limit"
)

// Allowances and Spent describe how nodes share their rates; see package limit.
type (
	Allowances = limit.Allowances
	Spent      = limit.Spent
)

// Fetcher reads a topic. It applies the rules for outgoing requests (allowed addresses) and all
// limits of size and time.
type Fetcher interface {
	// Fetch reads f.URL once, conditionally if f.ETag is set. An error is a fault.Unreadable, or
	// a fault.Refused for a forbidden address; its message is safe to show to the public.
	Fetch(ctx context.Context, f Fetch) (Fetched, error)
}

// Fetch is one read request.
type Fetch struct {
	URL  string
	ETag string // from the last response for this URL; "" sends none
	// Revalidate makes caches on the path ask the origin before they answer.
	Revalidate bool
}

// Fetched is a successful response: a body, or NotModified.
type Fetched struct {
	NotModified                     bool
	Status                          int // HTTP status of the response; 0: no server was contacted
	Hash                            []byte
	Body                            []byte
	ETag, LastModified, ContentType string
	Date                            string // Date header of the response, unchanged; "": none
	URL                             string // URL after redirects
	// About parses the body and returns its own description; nil: unknown. It is called only when
	// needed and may take as long as parsing takes.
	About  func() About
	SentAt time.Time // when the request was sent, for pings that arrive meanwhile
}

// Notifier sends one notification and waits for the reply.
type Notifier interface {
	// Notify notifies sub of a change of topic. content is the body for a WebSub subscriber and nil
	// for all others. The timer starts when the connection is dialled. A failure of this program
	// does not count as a failure of the subscriber: if the request could not be tried,
	// Reply.NotTried is set. Notify must not change sub and topic.
	Notify(ctx context.Context, sub *Subscription, topic *Topic, content *Content, hops int) Reply
}

// Reply is the outcome of one notification.
type Reply struct {
	OK         bool
	Gone       bool          // the subscriber ended the subscription: 410, or the protocol's equivalent
	Skipped    bool          // nothing was sent, because the content is too large, and nothing is pending
	NotTried   bool          // nothing was sent for a local reason (draining, no sockets)
	Timeout    bool          // OK is false because time ran out
	RetryAfter time.Duration // requested by the subscriber; 0: not requested
	Took       time.Duration // time from the dial, or from the write on an open connection, to the reply
	Text       string        // why OK is false, safe to show to the public
	Exchange   event.Exchange
}

// Verifier obtains the consent of a callback.
type Verifier interface {
	// Verify sends the test call (challenge false) or the challenge request for topic, of which
	// only URL and About are set. nil means consent. The message of a fault.Refused or
	// fault.Unreadable is the reason, and is safe to show to the public.
	Verify(ctx context.Context, sub Subscription, topic Topic, challenge bool) (event.Exchange, error)
}

// Ping reports that a feed changed.
type Ping struct {
	URL            string
	Via            string     // event.Event.Via
	Source         netip.Addr // address of the sender; the zero Addr is this program
	Hops           int        // number of hubs that forwarded this ping
	ReaderNotified bool       // the aggregator has already received this change; see [Hub.OnPing] and [Hub.Admit]
	Count          bool       // set PingResult.Subscribers
	OnlyThisURL    bool       // do not look for the URL at other names of this server; the caller pings those itself
	// Forward marks a push that this program received for its aggregator; the hub forwards it to
	// its subscribers. Without subscribers the ping has no effect and is neither logged nor
	// listed, because the feeds that users read are private.
	Forward bool

	listed   bool // recent changes already contain this change
	followUp bool // the hub checks because Topic.AgainAt has passed, without a ping of a client
	origin   any  // trace of the sender, from Tracer.Origin
}

// PingResult is the outcome of a ping. The zero value with a nil error means that the ping was
// accepted and no topic is known yet.
type PingResult struct {
	Known   bool  // the topic has subscribers, or the aggregator follows it
	Checked bool  // the feed was read for this ping
	Changed bool  // the feed had changed
	Pending bool  // the check takes long: the ping is stored and the check continues
	Version int64 // the topic's version after the check

	Topic       string // URL of the topic that was checked; "": none
	Subscribers int64  // number of subscribers to be notified of the change, if Ping.Count is set; -1: the count failed
}

// Registration requests notifications.
type Registration struct {
	Protocol  string // HTTPPost and so on
	Callback  string // absolute URL, built by the endpoint from the request
	Procedure string
	Feeds     []string
	Challenge bool       // consent by challenge, because the request named a domain; false: by test call
	Source    netip.Addr // address of the request's client
	Via       string

	consentLog *consentLog // records the test calls and challenges; nil: not recorded
}

// Registered is the outcome of a registration for each feed.
type Registered struct {
	Accepted []string
	Refused  []Refusal
	Expires  time.Time
	Lasts    time.Duration // from now to Expires, as configured
	About    About         // description of the first accepted feed, as declared by the feed
}

// Refusal is a feed that was not accepted, with the reason as one sentence for the client.
type Refusal struct{ Feed, Reason string }

// Options configure a hub. A zero field means the default in brackets.
type Options struct {
	Expiry               time.Duration              // lifetime of a registration [25 h]
	MaxErrors            int                        // consecutive changes that may fail [3]
	PingInterval         time.Duration              // minimum time between two checks of one feed [1 s]
	CallbackTimeout      time.Duration              // limit for one notification, from the dial [15 s]
	Retry                []time.Duration            // delays after failed attempts; the last one is repeated [5s 30s 2m 10m 1h]
	AckWithin            time.Duration              // a ping is stored and answered within this time, even if the check takes longer [2.5 s]
	MaxInFlight          int                        // concurrent notifications [512]
	MaxUnrecorded        int                        // deliveries per topic that a node may have sent but not recorded, if nodes share the store [500]
	SourceRate           float64                    // pings per second and source network (/24, /56) [200]; negative: no limit
	HostRate             float64                    // checks per second and feed host [100]; negative: no limit
	KeepEvents           time.Duration              // maximum age of log rows [720 h]
	MaxEvents            int64                      // maximum number of log rows; the oldest are removed first [5,000,000]
	KeepChanges          time.Duration              // maximum age of recent changes [720 h]
	Ageing               time.Duration              // how long an unreachable CNWS subscriber is retried [24 h, also the minimum]
	MaxContent           int64                      // maximum bytes of a topic with content; a larger topic is not delivered to WebSub subscribers [1 MiB]
	ContentMemory        int64                      // bytes of contents held in memory for deliveries [128 MiB]
	NotifyWithoutContent bool                       // notify WebSub subscribers of larger topics without content
	MinLease             time.Duration              // minimum lease of a WebSub subscription [5 min]
	MaxLease             time.Duration              // maximum lease, and the default if the request has none [240 h]
	MaxRequests          int64                      // pending WebSub requests; further ones are rejected [100,000]
	Topics               string                     // which topics WebSub subscribers may request: TopicsOpen and so on [TopicsOpen]
	IsOwnTopic           func(url string) bool      // reports whether this program serves a topic; nil: it serves none
	Names                func(url string) []string  // returns all URLs of a topic that this program serves, nil for other topics; nil: each topic has one URL
	IsPrivate            func(url string) bool      // reports whether a URL belongs to a private feed, which is never notified or recorded; nil: there are none
	IsOwnURL             func(callback string) bool // reports whether a callback is one of this server's own endpoints; nil: there are none
	// Callable returns an error if a callback can never be called, judging by its URL alone, so
	// that the client gets the error before the callback is tried. If Callable is nil, every URL is
	// tried.
	Callable func(callback string) error
	// Readable returns an error if a topic can never be read, judging by its URL alone. It is not
	// called for topics of IsOwnTopic. If Readable is nil, every URL is tried.
	Readable func(topic string) error
}

// Values of Options.Topics.
const (
	TopicsOpen  = "open"  // any readable topic
	TopicsKnown = "known" // topics that have subscribers, and topics that this program serves
	TopicsOwn   = "own"   // topics that this program serves
)

// Hub is the engine. Store, Fetch, Notify, Verify, Ask and Bus must be set before Run; the other
// fields may be zero.
type Hub struct {
	Store   Store
	Fetch   Fetcher
	Notify  Notifier
	Verify  Verifier
	Ask     IntentConfirmer
	Find    Discoverer // nil: pages are not searched for feeds
	Bus     *event.Bus
	Log     *slog.Logger
	Options Options
	Now     func() time.Time // the program's steady clock; nil: time.Now
	// Hint signals other nodes that rows are due; they call Wake. Nil for a single node.
	Hint func()
	// OnPing passes a ping to the aggregator: each URL of the feed once, and Ping.Via. known
	// reports that the aggregator follows the feed and has stored the resulting work. The hub calls
	// OnPing before it answers any ping, so OnPing must be fast. If it returns an error, the ping
	// fails with this error. Nil: no aggregator.
	OnPing func(ctx context.Context, urls []string, via string) (known bool, err error)
	// Trace receives the steps of changes; nil: no tracing.
	Trace Tracer
	// Busy reports that the processors are saturated, so that more concurrency would only slow down
	// all tasks. It is called often. Nil: never busy.
	Busy func() bool
	// Allowances is the store in which the nodes on one database add up their use of the rate
	// limits. Nil: this node has rate limits of its own.
	Allowances Allowances
	// Random spreads delays so that waiting clients do not all return at the same time. It returns
	// a number in [0, 1) and must be safe for concurrent use; nil: math/rand.
	Random func() float64

	state
}

// Live is the current state of the hub.
type Live struct {
	Node     int64     `json:"node,string"`
	Started  time.Time `json:"started"`
	InFlight int       `json:"in_flight"` // notifications that are being sent
	Queue    int       `json:"queue"`     // notifications in memory, either waiting or being sent
	Origins  int       `json:"origins"`   // known callback origins
	Slow     int       `json:"slow"`      // origins known to be slow
	Open     int       `json:"open"`      // origins whose breaker is open
	Checks   int       `json:"checks"`    // feed checks in progress
	Writes   int64     `json:"writes"`    // write transactions of deliveries since the start
	Totals   Minute    `json:"totals"`    // since the start
}
