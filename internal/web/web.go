// Package web is the pages that people see: the front page, the river of the followed feeds and the
// pages about those feeds; the pages to write on and the pages of authors; the hub with its
// forms, the live log, the recent changes, the topics and the status; the documentation;
// signing in and the pages of an account.
//
// Everything here stands on the public listener, so but for the pages under /account,
// /river and /feeds it shows what strangers may see and nothing else: a subscriber
// appears as a host, never as a callback path, and an event's Detail is dropped before any template sees it. Every page works
// without JavaScript; the scripts only save a reload. Start with [Web] and its
// Routes; the literal requests of the documentation are [Examples].
//
// # Promises to the reader's eyes
//
// Templates, styles and scripts are embedded. A page is rendered whole before its
// first byte leaves, so a failure is an error page and never half a page. Times
// are relative text inside a time element that carries the exact moment.
package web

import (
	"cloudburst/protocol/rsscloud"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
)

// Hub is what the pages ask of the hub.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	Register(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Counts(ctx context.Context) (hub.Counts, error)
	Live() hub.Live
}

// Store is what the pages read; a hub.Store is one.
type Store interface {
	Topic(ctx context.Context, id int64) (hub.Topic, error)
	Subscribers(ctx context.Context, topicID int64, now time.Time) (map[string]int64, error)
	Topics(ctx context.Context, q hub.TopicQuery) ([]hub.TopicInfo, error)
	Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error)
	Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error)
	Minutes(ctx context.Context, since time.Time) ([]hub.Minute, error)
	Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error)
	CountChanges(ctx context.Context) (int64, error)
}

// Accounts is what the pages ask of the accounts; an account.Accounts is one.
type Accounts interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	Register(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	User(ctx context.Context, name string) (account.User, error)
	ChangePassword(ctx context.Context, u account.User, password string) (account.User, error)
	First() string
	AddFirst(ctx context.Context, token, name, password string, from account.Caller) (account.User, error)

	Begin(ctx context.Context, u account.User, agent string) (cookie string, s account.Session, err error)
	Session(ctx context.Context, cookie string) (account.Session, error)
	Sessions(ctx context.Context, user string) ([]account.Session, error)
	End(ctx context.Context, id string) error

	NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t account.Token, err error)
	Tokens(ctx context.Context, user string) ([]account.Token, error)
	RevokeToken(ctx context.Context, user, id string) error

	Ask(ctx context.Context, z account.Authorization) (ask string, err error)
	Asked(user, ask string) (account.Authorization, error)
	Allow(z account.Authorization) (code string, err error)

	NewSecret(ctx context.Context, user, feed, reader string) (account.Secret, error)
	Secrets(ctx context.Context, user, feed string) ([]account.Secret, error)
	RevokeSecret(ctx context.Context, user, selector string) error
}

// Authors is what the pages ask of the feeds that are kept here; an author.Feeds is one.
type Authors interface {
	Put(ctx context.Context, d author.Document) (author.Feed, error)
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Document(ctx context.Context, user, name string) (author.Feed, []byte, error)
	Move(ctx context.Context, user, name, to string) (author.Feed, error)
	MoveTemporarily(ctx context.Context, user, name, to string) (author.Feed, error)
	End(ctx context.Context, user, name string) (author.Feed, error)
	AddCloud(ctx context.Context, user string, on bool) (author.Feed, error)
	Restore(ctx context.Context, user, name string) (author.Feed, error)
}

// Audience knows who reads the feeds; an audience.Audience is one.
type Audience interface {
	Report(ctx context.Context, user string, days int) (audience.Report, error)
}

// Web is the pages' surroundings. Hub, Store and Bus must be set before Routes;
// the zero value of everything else means its default.
type Web struct {
	Hub   Hub
	Store Store
	Bus   *event.Bus

	PublicURL string // where strangers reach this server; "": as the request says
	// Cloud is the <cloud> of this server at a public URL; nil: rsscloud.CloudAt.
	Cloud    func(public string) rsscloud.Cloud
	TestFeed string        // URL of a feed that changes by itself; "": none
	Expiry   time.Duration // how long a registration by rssCloud lasts [25 h]
	// Changed is when the feed of this server at a URL changed last, whether anybody was
	// subscribed or not. Zero: it has no such feed. Nil: it has no feeds.
	Changed func(ctx context.Context, url string) time.Time
	// Tick has it change at once, for the owner of the first account; nil: it cannot be had.
	Tick     func(ctx context.Context) (at time.Time, url string, err error)
	Version  string           // of the program
	Warnings func() []string  // sentences for the status page; nil: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default
	Done     <-chan struct{}  // closed when the program stops: streams end; nil: never

	Accounts     Accounts // nil: nobody signs in here, and there are no pages for it
	Authors      Authors  // nil: no feeds are kept here
	Audience     Audience // nil: readers are not counted
	Registration bool     // everybody may make an account, at /signup
	Apps         Apps     // reads what programs say of themselves; nil: nobody signs in to programs here
	// Rels are the links of users' pages by which programs find what they need to sign in: rel
	// and path in turn.
	Rels [][2]string

	Posts     Posts  // nil: nobody writes here
	Files     Files  // beside posts; nil: none are kept
	Moves     Moves  // takes authors in and out; nil: nobody does
	LimitMode string // of short posts: author.LimitWarn and so on
	// FileOf is a file that is kept here, by the beginning of its hash. nil: nothing is known of files.
	FileOf func(ctx context.Context, user, hash string) (author.File, error)

	River       River                          // nil: no feeds are read here
	Arrivals    func(buffer int) Listener      // hears of what comes; nil: pages are not live
	ReaderOf    func(user string) string       // of the river; nil: the same name
	OwnerOf     func(reader string) string     // its name in paths; nil: the same name, and "server" for ""
	RiverPublic bool                           // strangers may read the server's own river
	Fresh       func(ctx context.Context) bool // nobody has an account yet; nil: somebody has
	Images      string                         // of items: ImagesProxy, ImagesDirect or ImagesOff [off, without Remote or ImageKey]
	Remote      Remote                         // reads pictures; nil: none
	ImageKey    []byte                         // signs their addresses

	// Explained gives an explanation as it is written in JSON, at /feeds/{id}.json. Nil:
	// there is none.
	Explained func(f *river.Followed, e *river.Explanation) any

	// ClientAddr is the address a request counts as coming from, proxies
	// considered. Nil: the TCP peer.
	ClientAddr   func(*http.Request) netip.Addr
	MaxListeners int           // live readers at once [5,000]; more are asked to come back
	Heartbeat    time.Duration // between two signs of life on a quiet stream [15 s]
}

// What becomes of the pictures of items, see Web.Images.
const (
	ImagesProxy  = "proxy"  // they are read by this server, for all its readers
	ImagesDirect = "direct" // browsers load them from where they are
	ImagesOff    = "off"    // there are links to them
)

const (
	defaultListeners = 5000
	defaultHeartbeat = 15 * time.Second
	writeWithin      = 10 * time.Second // a live reader that takes nothing for so long is dropped
)

func (w *Web) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

func (w *Web) log() *slog.Logger {
	if w.Log != nil {
		return w.Log
	}
	return slog.Default()
}

func (w *Web) clientAddr(r *http.Request) netip.Addr {
	if w.ClientAddr != nil {
		return w.ClientAddr(r)
	}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap()
	}
	return netip.Addr{}
}
