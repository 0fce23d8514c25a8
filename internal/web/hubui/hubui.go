// Package hubui has the front page and the pages of the hub: its forms, the live log, the recent
// changes, the topics, the status and the test feed. The pages show public data only: a subscriber
// is shown as a host, never as a callback path, and an event's Detail is dropped before a template
// receives the event. Start with [Pages].
package hubui

import (
	"context"
	"net/http"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// Options configure the pages of the hub. Hub, Store and Bus must be set.
type Options struct {
	Hub   Hub
	Store Store
	Bus   *event.Bus

	// Changed returns the time of the last change of the hosted feed at a URL, or the zero time if this
	// server hosts no feed at that URL. Nil: this server hosts no feeds.
	Changed func(ctx context.Context, url string) time.Time
	// Titles returns the titles of the feeds at these URLs, at most 1,000, as far as the server knows
	// them. Nil: pages show URLs instead of titles.
	Titles func(ctx context.Context, urls []string) (map[string]string, error)
	// Tick changes the test feed at once, for the owner of the first account. Nil: the page has no button
	// for this.
	Tick     func(ctx context.Context) (at time.Time, url string, err error)
	Warnings func() []string // sentences for the status page; nil: none

	Accounts FirstAccount             // nil: the server has no accounts
	Reading  Reading                  // nil: the server has no feed reader
	ReaderOf func(user string) string // returns the reader name of a user in the river; nil: both names are the same
}

// FirstAccount reports whether an account exists.
type FirstAccount interface {
	SetupToken() string // token for creating the first account; "": an account exists
}

// Reading is the interface to the aggregator for the status page.
type Reading interface {
	Counts(ctx context.Context) (river.SourceCounts, error)
	Live() river.Live
}

// Pages has the pages of the hub.
type Pages struct {
	*shell.Shell
	Options
	rows    rowCache // rendered lines of the log
	lines   rowCache // rendered lines of the recent changes
	titles  titleCache
	tail    *changeTail
	ranking chan struct{} // one slot: only one request at a time counts all subscriptions, to list topics by subscribers
}

// New builds the pages.
func New(s *shell.Shell, o Options) *Pages {
	p := &Pages{Shell: s, Options: o, ranking: make(chan struct{}, 1)}
	p.tail = p.newTail()
	return p
}

// Routes lists the front page and the pages of the hub.
func (s *Pages) Routes() []route.Route {
	get := func(path, purpose string, do shell.Page) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Handler: s.Handle(do), Purpose: purpose}
	}
	moved := func(path, to string) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Handler: http.RedirectHandler(to, http.StatusMovedPermanently),
			Purpose: "Redirects a path of rsscloud-server to its replacement."}
	}
	all := []route.Route{
		get("/{$}", "The front page.", s.front),
		get("/hub", "The page of the hub, with the forms to ping and to register.", s.hubPage),
		{Method: http.MethodPost, Path: "/do/ping", Handler: s.Handle(s.doPing), MaxBody: rsscloud.MaxForm, Purpose: "The form that pings for a feed."},
		{Method: http.MethodPost, Path: "/do/register", Handler: s.Handle(s.doRegister), MaxBody: rsscloud.MaxForm, Purpose: "The form that registers a program for notifications."},
		get("/log", "The log of events.", s.logPage),
		{Method: http.MethodGet, Path: "/log/stream", Handler: http.HandlerFunc(s.stream), Purpose: "The log, live, as server-sent events."},
		get("/changes", "The recent changes.", s.changesPage),
		{Method: http.MethodGet, Path: "/changes/stream", Handler: http.HandlerFunc(s.changesStream), Purpose: "The recent changes, live, as server-sent events."},
		get("/topics", "The feeds that the hub knows.", s.topics),
		get("/topics/{id}", "One feed that the hub knows.", s.topicPage),
		get("/status", "The state of the server.", s.status),
		moved("/pingForm", "/hub#s-ping"),
		moved("/pleaseNotifyForm", "/hub#s-register"),
		moved("/viewLog", "/log"),
	}
	if s.TestFeed != "" {
		all = append(all, get("/test/{$}", "The page of the test feed.", s.testFeedPage),
			route.Route{Method: http.MethodPost, Path: "/test/tick", Handler: s.WithSession(s.doTick), Protection: route.Session, Purpose: "Makes the test feed change at once, for the owner of the first account."})
	}
	return all
}

// Hub is the interface to the hub for the pages.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	Register(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Counts(ctx context.Context) (hub.Counts, error)
	Live() hub.Live
}

// Store is the interface to stored data for the pages; hub.Store implements it.
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

// wideView is like NewView, but for a wide page with tables or charts.
func (s *Pages) wideView(r *http.Request, title string) shell.View {
	v := s.NewView(r, title)
	v.Wide = true
	return v
}
