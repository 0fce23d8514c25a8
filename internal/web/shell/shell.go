// Package shell has what all pages share: the layout and templates, static files, sessions and
// forms, protection against cross-site requests, live streams, charts, and the formatting of
// numbers, times and errors.
//
// Templates, styles and scripts are embedded. A page is rendered completely before its first byte
// is sent, so a failure is an error page and never half a page. Times are relative text inside a
// time element with the exact moment. Start with [Shell].
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
	"cloudburst/internal/date"
	"cloudburst/internal/web/locale"
	"cloudburst/protocol/rsscloud"
)

// Sessions is the interface to the accounts that identifies the sender of a request.
type Sessions interface {
	StartSession(ctx context.Context, u account.User, agent string) (cookie string, s account.Session, err error)
	Session(ctx context.Context, cookie string) (account.Session, error)
	EndSession(ctx context.Context, id string) error
	SetPreferences(ctx context.Context, user string, p account.Preferences) error
}

// Options configure all pages. The zero value of each means its default.
type Options struct {
	PublicURL string // URL of this server for the public; "": taken from the request
	// Cloud is the <cloud> of this server at a public URL; nil: rsscloud.CloudAt.
	Cloud    func(public string) rsscloud.Cloud
	TestFeed string           // URL of a feed that changes every 15 minutes; "": none
	Expiry   time.Duration    // lifetime of an rssCloud registration [25 h]
	Version  string           // version of the program
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: slog.Default
	Done     <-chan struct{}  // closed when the program stops: streams end; nil: never

	Sessions Sessions // nil: the server has no accounts
	// Rels are the links on users' pages by which programs find the sign-in endpoints: rel and path
	// of each.
	Rels [][2]string

	// Features of this server, for the bar and the menus.
	Reads, Writes, Hosts, CountsReaders, Replies, Moves, Administers, People bool

	// ClientAddr returns the client address of a request, behind proxies too. Nil: the TCP peer.
	ClientAddr   func(*http.Request) netip.Addr
	MaxListeners int           // maximum number of concurrent live streams [5,000]; further clients are asked to retry
	Heartbeat    time.Duration // interval of heartbeats on a quiet stream [15 s]
}

const (
	defaultListeners = 5000
	defaultHeartbeat = 15 * time.Second
	writeTimeout     = 10 * time.Second // a stream whose client accepts no data for so long is closed
)

// Shell has what all pages share: their layout, sessions and live streams.
type Shell struct {
	Options
	pages     map[string]pages // key: code of the language
	assets    assets
	listening atomic.Int64
	readSlots chan struct{} // a slot for each request that reads a saved document
	packers   sync.Pool     // pool of *gzip.Writer
}

// New returns the shell of a server.
func New(o Options) *Shell {
	if o.Heartbeat <= 0 {
		o.Heartbeat = defaultHeartbeat
	}
	s := &Shell{Options: o, assets: loadAssets(), pages: parsePages(), readSlots: make(chan struct{}, ConcurrentReadings)}
	s.packers.New = func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			return nil // never happens: the level is valid
		}
		return z
	}
	return s
}

func (s *Shell) CurrentTime() time.Time {
	return date.Now(s.Now)
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

// ExecutePart writes one template of a page, in the language of its data: that of a View, else
// English.
func (s *Shell) ExecutePart(out io.Writer, page, name string, data any) error {
	var l *locale.Locale
	if v, ok := data.(interface{ Locale() *locale.Locale }); ok {
		l = v.Locale()
	}
	return s.ExecutePartIn(l, out, page, name, data)
}

// ExecutePartIn writes one template of a page in a language; nil is English.
func (s *Shell) ExecutePartIn(l *locale.Locale, out io.Writer, page, name string, data any) error {
	return s.pages[locale.Of(l).Code][page]().ExecuteTemplate(out, name, data)
}

// Locale returns the language of the answer to r: the choice of the user, else the first of the browser's
// languages that the pages have, else English.
func (s *Shell) Locale(r *http.Request) *locale.Locale {
	if l := locale.Find(s.Preferences(r).Language); l != nil {
		return l
	}
	return locale.Match(r.Header.Get("Accept-Language"))
}
