package river

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/river/forward"
)

// Fetcher fetches documents; *fetch.Client is one.
type Fetcher interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// Push subscribes at hubs to the changes of the feeds that the river reads.
type Push interface {
	// Follow subscribes at all endpoints, and leaves hubs that are not among them any more. It
	// returns quickly: hubs are contacted later. topic is the URL that the feed declares as its
	// own; "": feed.
	Follow(ctx context.Context, feed, topic string, endpoints []PushEndpoint) error
	// Leave ends the subscriptions for a feed.
	Leave(ctx context.Context, feed string) error
	// State returns the state of each endpoint, and of those that are being left.
	State(ctx context.Context, feed string, endpoints []PushEndpoint) ([]PushState, error)
}

// PushState is the state of one subscription at a hub.
type PushState struct {
	PushEndpoint
	Own       bool // the hub is this server
	State     string
	Since     time.Time // time of the hub's confirmation; zero: not confirmed
	Until     time.Time // end of the subscription; zero: no end
	PushedAt  time.Time
	Rejected  int64 // deliveries with a wrong signature
	LastError string
}

// Options of a river. Zero fields mean the default in brackets.
type Options struct {
	AtOnce       int           // checks in parallel [32]
	PerHost      int           // checks in parallel at one host [2]
	HostInterval time.Duration // time between the starts of two checks at one host [1 s]; negative: none
	OwnHosts     []string      // hosts, as host or host:port, that need no interval; "*": all
	// Own reports URLs that this program serves itself. They need neither interval nor pause. nil:
	// none.
	Own func(url string) bool
	// Canonical returns a URL of this program with its canonical origin, and any other URL
	// unchanged. nil: no URL has two spellings.
	Canonical      func(url string) string
	Keep           int           // stored items of a source [1,000]
	KeepFor        time.Duration // how long items that left their feed are kept [180 days]
	Max            int           // feeds of one user [5,000]; see MaxOfOperator
	MaxForwardings int           // forwardings of one user [100]
	MailsBy        int           // mails per day from one user [500]
	MailsTo        int           // mails per day to one mailbox, from all users [200]
	Lease          time.Duration // lease of a claim [60 s]
	Shared         bool          // other processes use the same database
}

// River is the feed reader. Store and Fetch must be set before first use; other fields may be
// zero.
type River struct {
	Store   Store
	Fetch   Fetcher
	Push    Push           // nil: the river subscribes at no hubs
	Forward forward.Sender // nil: nothing is forwarded
	Key     []byte         // 32 bytes: encrypts stored logins
	Log     *slog.Logger
	Now     func() time.Time         // nil: time.Now
	Agent   func(users int64) string // User-Agent; nil: the Fetcher's own
	// Sender returns the name of a user, for recipients of forwarded items. nil: the account name.
	Sender  func(user string) string
	Hint    func()         // called when items arrived or something is due, also for other processes; nil: no call
	Random  func() float64 // from 0 to 1, for jitter; nil: math/rand
	Options Options

	init sync.Once
	state
}
