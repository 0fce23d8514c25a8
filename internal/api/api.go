// Package api is the JSON API of the operator's listener: everything below /v1/,
// described by the OpenAPI document that it serves, and the metrics and profiles
// beside it.
//
// There is no log-in: whoever can connect may do everything, so the listener is
// on a loopback address by default. What a browser can be talked into is refused
// all the same: a request whose Host is a name that is not ours (DNS rebinding)
// and one that another site caused. Start with [Server] and its Handler.
//
// The types of requests and answers are those of package client.
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
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
)

// Hub is what the API asks of the engine; *hub.Hub is one.
type Hub interface {
	// Ping says that a feed changed.
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	// Remove ends subscriptions and returns those that existed.
	Remove(ctx context.Context, keys []hub.Key, door string) ([]hub.Subscription, error)
	// Import adds or renews subscriptions as they are given, without asking the
	// callbacks.
	Import(ctx context.Context, subs []hub.SubscriptionInfo) (done int, err error)
	// SweepNow runs the hourly sweep.
	SweepNow(ctx context.Context) (dropped, expired int, err error)
	// Counts counts; it may answer from a moment ago.
	Counts(ctx context.Context) (hub.Counts, error)
	// Live is what is going on at this moment.
	Live() hub.Live
}

// Store is what the API reads; every hub.Store is one.
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

// Options of the API. Hub, Store and Bus must be set.
type Options struct {
	Hub   Hub
	Store Store
	Bus   *event.Bus

	Relays    Relays    // feeds that are followed at other hubs; nil: none can be
	Accounts  Accounts  // users and what is theirs; nil: there are none
	Feeds     Feeds     // feeds that users saved; nil: none can be
	Audience  Audience  // who reads those; nil: nobody counts
	River     River     // what people read here; nil: nobody does
	Transfers Transfers // takes authors in and out; nil: nobody does
	Posts     Posts     // what people write here; nil: nobody does
	Files     Files     // what they put beside it; nil: none are kept
	MaxFile   int64     // bytes of such a file, for the list of routes; Files checks it
	Tokens    Tokens    // of RiverRoutes: who is let in
	Targets   Targets   // other servers that are told of what is saved; nil: none are
	// DiskFree is how many bytes are free on the data folder's file system, where the system
	// says so; nil: it is not known.
	DiskFree func() (bytes uint64, known bool)
	// Traces counts what became of the spans of traces; nil: nothing is traced.
	Traces func() TraceCounts
	// Tick has the test feed change now, and says at which time and where; nil: there is none.
	Tick func(ctx context.Context) (at time.Time, url string, err error)
	// ReaderOf is the name under which the river knows a user; nil: the user's own.
	ReaderOf func(user string) string
	// ClientAddr is where a request comes from, of RiverRoutes; nil: nobody can tell.
	ClientAddr func(*http.Request) netip.Addr

	Origin    func() string    // of the public listener, for the addresses of feeds; nil: PublicURL
	Log       *slog.Logger     // nil: nothing is logged
	Version   string           // of the program
	PublicURL string           // where the public listener is reached; "": not told
	Warnings  func() []string  // for the operator; nil: none
	Hosts     []string         // names, besides localhost and addresses, that the Host header may carry
	Now       func() time.Time // nil: time.Now
	Temp      string           // folder for uploads while they are checked; "": the system's
	// BackupKey copies the key of the readers' secrets beside a backup, and returns the copy's
	// name; nil: the key is in no file. BackedUp hears of each backup; nil: nobody does.
	BackupKey func(backup string) (copied string, err error)
	BackedUp  func(file string, size int64, now time.Time)
	// Doctor looks at the installation; nil: nobody can.
	Doctor func(ctx context.Context) (client.Installation, error)

	Done <-chan struct{} // closed when the server stops: streams end; nil: never

	Heartbeat    time.Duration // how often an idle event stream says that it lives [15 s]
	WriteTimeout time.Duration // how long a reader may keep one write waiting [10 s]
}

// Server is the API. Make it with [New].
type Server struct {
	Options
	build     client.Version
	batchSize int // of an import
	// listen hears of what arrives in the river, until stop.
	listen func(buffer int) (arrivals <-chan river.Arrival, stop func())
}

// New makes the API.
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

// Build says what this binary is.
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

// OpenAPI is the document that describes the API.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }
