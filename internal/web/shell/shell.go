// Package shell is what all pages share: the layout and the templates, static files, sessions
// and forms, the protection of forms against other sites, live streams, charts, and the words
// for numbers, times and errors.
//
// Templates, styles and scripts are embedded. A page is rendered whole before its first byte
// leaves, so a failure is an error page and never half a page. Times are relative text inside a
// time element that carries the exact moment. Start with [Shell].
package shell

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/account"
	"cloudburst/protocol/rsscloud"
)

// Sessions is what the pages ask of the accounts to know who sends a request.
type Sessions interface {
	StartSession(ctx context.Context, u account.User, agent string) (cookie string, s account.Session, err error)
	Session(ctx context.Context, cookie string) (account.Session, error)
	EndSession(ctx context.Context, id string) error
}

// Options are the surroundings of all pages. The zero value of each means its default.
type Options struct {
	PublicURL string // where the public reaches this server; "": as the request says
	// Cloud is the <cloud> of this server at a public URL; nil: rsscloud.CloudAt.
	Cloud    func(public string) rsscloud.Cloud
	TestFeed string           // URL of a feed that changes by itself; "": none
	Expiry   time.Duration    // how long a registration by rssCloud lasts [25 h]
	Version  string           // of the program
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default
	Done     <-chan struct{}  // closed when the program stops: streams end; nil: never

	Sessions Sessions // nil: nobody signs in here
	// Rels are the links of users' pages by which programs find what they need to sign in: rel
	// and path in turn.
	Rels [][2]string

	// What this server does, for the bar and the menus of the pages.
	Reads, Writes, Hosts, CountsReaders bool

	// ClientAddr is the address a request counts as coming from, proxies
	// considered. Nil: the TCP peer.
	ClientAddr   func(*http.Request) netip.Addr
	MaxListeners int           // live readers at once [5,000]; more are asked to come back
	Heartbeat    time.Duration // between two signs of life on a quiet stream [15 s]
}

const (
	defaultListeners = 5000
	defaultHeartbeat = 15 * time.Second
	writeTimeout     = 10 * time.Second // a live reader that takes nothing for so long is dropped
)

// Shell is what all pages share: how they look, who reads them, and their live streams.
type Shell struct {
	Options
	pages     pages
	assets    assets
	listening atomic.Int64
	turns     chan struct{} // a slot for each request that reads a saved document now
	packers   sync.Pool     // of *gzip.Writer
}

// New makes ready what all pages share.
func New(o Options) *Shell {
	if o.Heartbeat <= 0 {
		o.Heartbeat = defaultHeartbeat
	}
	s := &Shell{Options: o, assets: loadAssets(), pages: parsePages(), turns: make(chan struct{}, ConcurrentReadings)}
	s.packers.New = func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			return nil // the level exists
		}
		return z
	}
	return s
}

func (s *Shell) CurrentTime() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Shell) Logger() *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.Default()
}

func (s *Shell) CallerAddr(r *http.Request) netip.Addr {
	if s.ClientAddr != nil {
		return s.ClientAddr(r)
	}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap()
	}
	return netip.Addr{}
}

// ExecutePart writes one template of a page.
func (s *Shell) ExecutePart(out io.Writer, page, name string, data any) error {
	return s.pages[page]().ExecuteTemplate(out, name, data)
}
