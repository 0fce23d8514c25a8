// Package hub is the cloud: it hears that a feed changed, checks that it did,
// and tells every subscriber.
//
// Rows are the truth and a wake-up is only a hint: what is owed, to whom and when
// it is due stands in the [Store], so that a crash loses nothing and a second
// process on the same database takes over what the first one leaves. Start with
// [Hub] and its Run, Ping and Register.
//
// The hub knows no wire: a [Fetcher] reads feeds, a [Notifier] tells subscribers
// and a [Verifier] asks for their consent. The protocols' own rules that concern
// the meaning (25 hours, three errors, the top of the hour) are here.
package hub

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"cloudburst/internal/event"

	"cloudburst/internal/limit"
)

// Allowances and Spent are how nodes share their rates; see package limit.
type (
	Allowances = limit.Allowances
	Spent      = limit.Spent
)

// Fetcher reads a topic. It obeys the egress rules and every limit of size and time.
type Fetcher interface {
	// Fetch reads f.URL once, conditionally when there is an ETag. An error
	// is a fault.Unreadable (or fault.Refused for an address that may not be
	// read) whose message is fit for strangers.
	Fetch(ctx context.Context, f Fetch) (Fetched, error)
}

// Fetch is what to read.
type Fetch struct {
	URL  string
	ETag string // as the last answer of this very URL gave it; "" sends none
	// Revalidate asks caches on the way not to answer without asking the origin.
	Revalidate bool
}

// Fetched is a good answer: a body, or NotModified.
type Fetched struct {
	NotModified                     bool
	Status                          int    // of the answer; 0: no server was asked
	Hash                            []byte // SHA-256 of Body
	Body                            []byte
	ETag, LastModified, ContentType string
	Date                            string // of the origin's clock, as it sent it; "": none
	URL                             string // where the redirects ended
	// About reads the body for what it says of itself; nil: nothing is known. It is
	// called only when it is needed, and may take as long as parsing takes.
	About  func() About
	SentAt time.Time // when the request left, for pings that come meanwhile
}

// Notifier sends one notification and waits for its end.
type Notifier interface {
	// Notify tells sub that topic changed. content is what to deliver to a WebSub
	// subscriber, nil for all others. The timer starts when the connection is
	// dialled. It never returns an error of ours as the subscriber's: when the
	// request could not be tried at all, Reply.NotTried is set.
	Notify(ctx context.Context, sub Subscription, topic Topic, content *Content, hops int) Reply
}

// Reply is what became of one notification.
type Reply struct {
	OK         bool
	Gone       bool          // the subscriber wants no more: 410, or as its protocol says it
	Skipped    bool          // there is nothing to send (a content that is too large): nothing was sent, and nothing is owed
	NotTried   bool          // nothing was sent, for a reason of ours (draining, no sockets)
	Timeout    bool          // it was not OK because time ran out
	RetryAfter time.Duration // what the subscriber asked for; 0: nothing
	Took       time.Duration // from the dial (or the write on a kept connection) to the answer
	Text       string        // why it is not OK, fit for strangers
	Exchange   event.Exchange
}

// Verifier asks a callback for its consent.
type Verifier interface {
	// Verify makes the test call (challenge false) or the challenge request, with
	// topic as what changed; only its URL and About are set. nil is consent; a
	// fault.Refused or fault.Unreadable says why not, fit for strangers.
	Verify(ctx context.Context, sub Subscription, topic Topic, challenge bool) (event.Exchange, error)
}

// Ping says that a feed changed.
type Ping struct {
	URL            string
	Via            string     // event.Event.Door
	Source         netip.Addr // who says so; the zero Addr is this program
	Hops           int        // hubs that this news has passed through
	ReaderNotified bool       // the readers of this program know already: see [Hub.Heard] and [Hub.Admit]
	Count          bool       // the number of subscribers that are notified is wanted
	OnlyThisURL    bool       // only the topic with this very URL: the caller pings its other names itself
	// Forward is for news that this program received for itself: the hub forwards it to
	// its subscribers. Without subscribers the ping does nothing: it is neither logged nor
	// listed, for what people read here is their own affair.
	Forward bool

	listed   bool // the change that it may find is on the list of changes already
	followUp bool // nobody pinged: the topic's AgainAt has come
	origin   any  // of a Tracer
}

// PingResult is what a ping came to. The zero value with a nil error means: accepted, nothing known yet.
type PingResult struct {
	Known   bool  // somebody is subscribed, or this program reads it for its readers
	Checked bool  // the feed was read for this ping
	Changed bool  // and had changed
	Pending bool  // the reading takes long: the ping is on disk and goes on
	Version int64 // the topic's version after it

	Topic       string // URL of the topic that was checked; "": none was
	Subscribers int64  // that are notified of the change, where Ping.Count asked for it; -1: they could not be counted
}

// Registration asks for notifications.
type Registration struct {
	Protocol  string // HTTPPost and so on
	Callback  string // absolute URL, made by the endpoints from what the wire said
	Procedure string
	Feeds     []string
	Challenge bool       // consent by challenge (a domain was named), else by test call
	Source    netip.Addr // who asks
	Via       string

	consentLog *consentLog // what its callback is asked is noted there; nil: nowhere
}

// Registered says feed by feed what became of a registration.
type Registered struct {
	Accepted []string
	Refused  []Refusal
	Expires  time.Time
	Lasts    time.Duration // from now to Expires, as it is set
	About    About         // of the first feed that was accepted
}

// Refusal is a feed that was not accepted, and why, in one sentence for the asker.
type Refusal struct{ Feed, Reason string }

// Options of a hub. Zero fields mean the default in brackets.
type Options struct {
	Expiry               time.Duration              // life of a registration [25 h]
	MaxErrors            int                        // changes in a row that may fail [3]
	PingInterval         time.Duration              // least time between two checks of one feed [1 s]
	CallbackTimeout      time.Duration              // one notification, from the dial [15 s]
	Retry                []time.Duration            // waits after failed attempts; the last repeats [5s 30s 2m 10m 1h]
	AckWithin            time.Duration              // a ping is answered by then, durably, even if the check goes on [2.5 s]
	MaxInFlight          int                        // notifications under way at once [512]
	MaxUnrecorded        int                        // deliveries of one topic that a node may have sent and not written down, where nodes share the store [500]
	SourceRate           float64                    // pings per second and source (/24, /56) [200]; negative: no limit
	HostRate             float64                    // checks per second and feed host [100]; negative: no limit
	KeepEvents           time.Duration              // log rows older than this go [720 h]
	MaxEvents            int64                      // log rows; the oldest of more go [5,000,000]
	KeepChanges          time.Duration              // lines of the list of changes older than this go [720 h]
	Ageing               time.Duration              // how long an unreachable CNWS subscriber is tried [24 h, which is also the least]
	MaxContent           int64                      // bytes; a larger topic is not delivered to WebSub subscribers [1 MiB]
	ContentMemory        int64                      // bytes of contents in memory while they are delivered [128 MiB]
	NotifyWithoutContent bool                       // it is announced to them without its content instead
	MinLease             time.Duration              // least life of a WebSub subscription [5 min]
	MaxLease             time.Duration              // most, and what is granted when nothing is asked for [240 h]
	MaxRequests          int64                      // requests for WebSub subscriptions that wait to be decided; more are refused [100,000]
	Topics               string                     // which topics may be asked for over WebSub: TopicsOpen and so on [TopicsOpen]
	IsOwnTopic           func(url string) bool      // reports a topic that is served by this program; nil: none
	Names                func(url string) []string  // every name of a topic that is served by this program, nil for others; nil: no topic has another name
	IsPrivate            func(url string) bool      // reports the address of a private feed: nobody is told of it, and it is written down nowhere; nil: none
	IsOwnURL             func(callback string) bool // reports a URL that is one of our own doors; nil: none
	// Callable says why a callback can never be called, as far as its URL alone tells;
	// nil: nobody knows. Who asks is answered before the callback is tried.
	Callable func(callback string) error
	// Readable says the same of a topic; it is not asked about those of OwnTopic.
	Readable func(topic string) error
}

// Which topics may be asked for over WebSub.
const (
	TopicsOpen  = "open"  // any that can be read
	TopicsKnown = "known" // those that somebody follows already, or that are our own
	TopicsOwn   = "own"   // those that this program serves
)

// Hub is the engine. Store, Fetch, Notify, Verify, Ask and Bus must be set before Run;
// the rest may be zero.
type Hub struct {
	Store   Store
	Fetch   Fetcher
	Notify  Notifier
	Verify  Verifier
	Ask     IntentConfirmer
	Find    Discoverer // nil: pages are not looked at for feeds
	Bus     *event.Bus
	Log     *slog.Logger
	Options Options
	Now     func() time.Time // the program's steady clock; nil: time.Now
	// Hints carries "something is due" between nodes: Wake sends it. Nil for one node.
	Hint func()
	// Heard tells those who read feeds in this program that one changed, by the URLs that
	// it has, each once; door is that of the ping. known says that they read it, and then
	// what follows is on disk. Every ping asks it before its answer, so it must be quick;
	// an error is the ping's. Nil: nobody reads here.
	OnPing func(ctx context.Context, urls []string, via string) (known bool, err error)
	// Trace hears of the steps of changes; nil: nobody does.
	Trace Tracer
	// Busy reports that much in this process waits for a processor, so that more at
	// once would only take longer each. It is asked often. Nil: never.
	Busy func() bool
	// Allowances is where the nodes on one database add up what they use of their rates;
	// nil: this process is alone, or its rates are its own.
	Allowances Allowances
	// Random spreads waits, so that many who wait do not come back at once. It returns a
	// number in [0, 1) and may be called by many at once; nil: math/rand.
	Random func() float64

	state
}

// Live is what the hub is doing at this moment.
type Live struct {
	Node     int64     `json:"node,string"`
	Started  time.Time `json:"started"`
	InFlight int       `json:"in_flight"` // notifications under way
	Queue    int       `json:"queue"`     // notifications in memory, under way or waiting
	Origins  int       `json:"origins"`   // callback origins known
	Slow     int       `json:"slow"`      // of them known to be slow
	Open     int       `json:"open"`      // of them not tried for a while (breaker)
	Checks   int       `json:"checks"`    // feed checks under way
	Writes   int64     `json:"writes"`    // write transactions of deliveries since the start
	Totals   Minute    `json:"totals"`    // since the start
}
