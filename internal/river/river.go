package river

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/river/forward"
)

// Fetcher reads documents; *fetch.Client is one.
type Fetcher interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// Push asks hubs to tell of changes of the feeds that are read here.
type Push interface {
	// Follow asks by all doors, and leaves those that are not named any more. It is
	// quick: hubs are asked later. topic is what the feed calls itself; "": feed.
	Follow(ctx context.Context, feed, topic string, endpoints []PushEndpoint) error
	// Leave ends it.
	Leave(ctx context.Context, feed string) error
	// State is what hubs answered, one for each of doors and for those left.
	State(ctx context.Context, feed string, endpoints []PushEndpoint) ([]PushState, error)
}

// PushState is how it stands with one door.
type PushState struct {
	PushEndpoint
	Own       bool // the hub is this server
	State     string
	Since     time.Time // of its yes; zero: none holds
	Until     time.Time // zero: no end
	PushedAt  time.Time
	Rejected  int64 // deliveries whose signature was wrong
	LastError string
}

// Options of a river. Zero fields mean the default in brackets.
type Options struct {
	AtOnce       int                   // documents read at once [32]
	PerHost      int                   // of one host [2]
	HostInterval time.Duration         // between two starts at one host [1 s]; negative: none
	OwnHosts     []string              // hosts, as host or host:port, that need no interval; "*": all
	Own          func(url string) bool // documents that this program serves itself: they need neither interval nor pause; nil: none
	// Canonical spells a URL of this program with its one canonical origin, and leaves
	// all others as they are; nil: no URL has two spellings.
	Canonical      func(url string) string
	Keep           int           // items of a source [1,000]
	KeepFor        time.Duration // of an item that left its feed [180 days]
	Max            int           // feeds of one reader [5,000]; see MostOfOperator
	MaxForwardings int           // of one reader [100]
	MailsBy        int           // mails of a day by one reader [500]
	MailsTo        int           // mails of a day to one mailbox, by all readers [200]
	Lease          time.Duration // of a claim [60 s]
	Shared         bool          // other processes use the same database
}

// River is the aggregator. Store and Fetch must be set before its first use; the rest
// may be zero.
type River struct {
	Store   Store
	Fetch   Fetcher
	Push    Push           // nil: hubs are not asked
	Forward forward.Sender // nil: nobody is told elsewhere
	Key     []byte         // 32 bytes: what logins are encrypted with at rest
	Log     *slog.Logger
	Now     func() time.Time           // nil: time.Now
	Agent   func(readers int64) string // User-Agent; nil: the Fetcher's own
	Sender  func(reader string) string // name of a reader, for recipients of forwarded items; nil: Reader itself
	Hint    func()                     // tells other processes that something is due; nil: none
	Random  func() float64             // 0 to 1, for spreading; nil: math/rand
	Options Options

	init sync.Once
	state
}
