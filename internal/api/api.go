// Package api implements the JSON API of the admin listener: all endpoints below /v1/, the OpenAPI
// document that describes them, and the endpoints for metrics and profiles.
//
// The API has no authentication: every program that can connect has full access. Therefore the
// listener is bound to a loopback address by default. A page of another site can make a browser
// send requests to the listener. The API rejects such requests: requests whose Host header names
// another site (DNS rebinding), and cross-site writes. Start with [Server] and its Handler.
//
// Package client defines the types of requests and responses.
package api

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"time"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/cache"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/river"
)

// Hub is the part of the hub that the API uses. [*hub.Hub] implements it.
type Hub interface {
	// Ping reports that a feed changed.
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	// Remove ends subscriptions and returns the subscriptions that existed.
	Remove(ctx context.Context, keys []hub.Key, via string) ([]hub.Subscription, error)
	// Import adds or renews subscriptions without verifying the callbacks.
	Import(ctx context.Context, subs []hub.SubscriptionInfo) (done int, err error)
	// SweepNow runs the hourly cleanup.
	SweepNow(ctx context.Context) (dropped, expired int, err error)
	// Counts returns the numbers of rows in the database. The numbers may be slightly outdated.
	Counts(ctx context.Context) (hub.Counts, error)
	// Live returns the current activity of the hub.
	Live() hub.Live
}

// Store is the part of the database that the API reads. Every hub.Store implements it.
type Store interface {
	Topic(ctx context.Context, id int64) (hub.Topic, error)
	Subscribers(ctx context.Context, topicID int64, now time.Time) (map[string]int64, error)
	Topics(ctx context.Context, q hub.TopicQuery) ([]hub.TopicInfo, error)
	Subscription(ctx context.Context, key hub.Key) (hub.Subscription, error)
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
	Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error)
	Minutes(ctx context.Context, since time.Time) ([]hub.Minute, error)
	Backup(ctx context.Context, file string) error
	Ping(ctx context.Context) error
}

// Options configure the API. Hub, Store and Bus must be set.
type Options struct {
	Hub   Hub
	Store Store
	Bus   *event.Bus

	Config    []client.Setting    // settings of the program
	Admin     *admin.Admin        // actions of administrators and the audit log; nil: not supported
	Relays    Relays              // subscriptions at upstream hubs; nil: not supported
	Accounts  Accounts            // users, tokens and secrets; nil: not supported
	Feeds     Feeds               // feeds that users saved; nil: not supported
	Audience  Audience            // reports about readers of hosted feeds; nil: not supported
	River     River               // followed feeds and their items; nil: not supported
	Transfers Transfers           // export and import of users; nil: not supported
	Posts     Posts               // posts of users; nil: not supported
	Site      *author.Site        // pages and style sheets of users; nil: not supported
	Versions  version.Versions    // earlier versions of posts; required if Posts is set
	Rules     author.RuleSettings // rules of authors for their texts; required if Posts is set
	Domains   *ownhost.Hosts      // domains of users; nil: not supported
	Replies   Replies             // replies to posts; nil: not supported
	Sent      SentMentions        // webmentions of posts; nil: not supported
	Mentions  MentionChoices
	People    People  // authors of this server; nil: not supported
	Threads   Threads // replies below posts; nil: not supported
	Files     Files   // files of users; nil: not supported
	MaxFile   int64   // maximum bytes of an uploaded file, used only for the list of routes; Files enforces the limit
	Tokens    Tokens  // checks tokens; required by RiverRoutes
	Targets   Targets // ping targets of hosted feeds; nil: not supported
	// DiskFree returns the number of free bytes on the file system of the data folder. known is
	// false if the system does not report the number. nil: not supported.
	DiskFree func() (bytes uint64, known bool)
	// Traces returns the counters of exported trace spans; nil: tracing is off.
	Traces func() TraceCounts
	// PageCache has the counters of the cache of authors' pages; nil: the metrics report 0.
	PageCache *cache.Counts
	// Tick changes the test feed now. It returns the time of the change and the URL of the feed;
	// nil: no test feed exists.
	Tick func(ctx context.Context) (at time.Time, url string, err error)
	// ReaderOf returns the name of the reader that owns the river of a user; nil: the name of the
	// user.
	ReaderOf func(user string) string
	// ClientAddr returns the client address of a request to RiverRoutes; nil: the address is
	// unknown.
	ClientAddr func(*http.Request) netip.Addr

	Origin    func() string    // origin of the public listener, for feed URLs; nil: PublicURL
	Log       *slog.Logger     // nil: nothing is logged
	Version   string           // version of the program
	PublicURL string           // URL of the public listener; "": unknown
	Warnings  func() []string  // returns warnings for the operator; nil: no warnings
	Hosts     []string         // accepted names in the Host header, in addition to localhost and IP addresses
	Now       func() time.Time // clock; nil: time.Now
	Temp      string           // folder for uploads that are being checked; "": the system's temporary folder
	// CheckKey returns an error if the key for readers' secrets cannot be copied, and nothing is
	// written then. BackupKey copies it to the folder of a backup and returns the name of the copy.
	// nil: no key file exists. BackedUp is called after each backup; nil: not called.
	CheckKey  func() error
	BackupKey func(backup string) (copied string, err error)
	BackedUp  func(file string, size int64, now time.Time)
	// Doctor checks the installation; nil: not supported.
	Doctor func(ctx context.Context) (client.Installation, error)

	Done <-chan struct{} // closed when the server stops, which ends all streams; nil: never closed

	Heartbeat    time.Duration // interval of heartbeats on an idle event stream [15 s]
	WriteTimeout time.Duration // time limit for one write to a client [10 s]
}

// Server implements the API. Create one with [New].
type Server struct {
	Options
	build     client.Version
	batchSize int // maximum subscriptions in one batch of an import
	// listen delivers new items of all rivers until stop is called. buffer is the capacity of
	// arrivals.
	listen func(buffer int) (arrivals <-chan river.Arrival, stop func())
}

// New creates the API.
func New(o Options) *Server {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{Options: o, build: BuildVersion(o.Version), batchSize: importBatch}
	s.listen = func(buffer int) (<-chan river.Arrival, func()) {
		l := s.River.Listen(buffer)
		return l.C(), l.Close
	}
	return s
}

// BuildVersion describes the running binary.
func BuildVersion(version string) client.Version {
	v := client.Version{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of the API.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }
