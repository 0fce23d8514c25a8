package river

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/river/forward"
)

// Fetcher fetches documents. *fetch.Client implements it.
type Fetcher interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// Push subscribes to the feeds of the river at their hubs.
type Push interface {
	// Follow subscribes at all endpoints, and unsubscribes at hubs that endpoints no longer
	// contains. Follow returns quickly, because hubs are contacted later. topic is the URL that
	// the feed declares as its own; "": feed.
	Follow(ctx context.Context, feed, topic string, endpoints []PushEndpoint) error
	// Leave ends all subscriptions for a feed.
	Leave(ctx context.Context, feed string) error
	// State returns the state of each endpoint, and of each endpoint where Push is unsubscribing.
	State(ctx context.Context, feed string, endpoints []PushEndpoint) ([]PushState, error)
}

// PushState is the state of one subscription at a hub.
type PushState struct {
	PushEndpoint
	Own       bool // true if the hub is this server
	State     string
	Since     time.Time // when the hub confirmed the subscription; zero: not confirmed
	Until     time.Time // when the subscription ends; zero: it has no end
	PushedAt  time.Time
	Rejected  int64 // number of deliveries with a wrong signature
	LastError string
}

// Options configure a river. A zero field means the default, which its comment gives in brackets.
type Options struct {
	AtOnce       int           // maximum number of parallel checks [32]
	PerHost      int           // maximum number of parallel checks at one host [2]
	HostInterval time.Duration // minimum time between the starts of two checks at one host [1 s]; negative: none
	OwnHosts     []string      // hosts without HostInterval, as host or host:port; "*": all hosts
	// Own reports whether this program serves a URL itself. Checks of such URLs need neither
	// interval nor pause. nil: this program serves none.
	Own func(url string) bool
	// Canonical returns a URL of this program with its canonical origin, and any other URL
	// unchanged. nil: this program has only one origin.
	Canonical      func(url string) string
	Keep           int           // maximum number of stored items per source [1,000]
	KeepFor        time.Duration // time for which items are kept after they left their feed [180 days]
	Max            int           // maximum number of feeds of one user [5,000]; see MaxOfOperator
	MaxForwardings int           // maximum number of forwardings of one user [100]
	MailsBy        int           // maximum number of mails per day from one user [500]
	MailsTo        int           // maximum number of mails per day to one mailbox, from all users [200]
	Lease          time.Duration // time after which a claim expires [60 s]
	Shared         bool          // true if other processes use the same database
}

// River is the feed reader. Store and Fetch must be set before the first call; other fields may
// be zero.
type River struct {
	Store   Store
	Fetch   Fetcher
	Push    Push           // subscribes at hubs; nil: the river subscribes at no hub
	Forward forward.Sender // sends forwarded items; nil: nothing is forwarded
	Key     []byte         // 32-byte key that encrypts stored logins
	Log     *slog.Logger
	Now     func() time.Time         // returns the current time; nil: time.Now
	Agent   func(users int64) string // returns the User-Agent header for a feed with a number of users; nil: the default of Fetch
	// Sender returns the display name of a user for recipients of forwarded items. nil: the
	// account name.
	Sender  func(user string) string
	Hint    func()         // called when items have arrived or a row is due, to wake other processes too; nil: not called
	Random  func() float64 // returns a number from 0 to 1 for jitter; nil: math/rand
	Options Options

	init sync.Once
	state
}
