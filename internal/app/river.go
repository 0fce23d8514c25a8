package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/internal/api"
	"cloudburst/internal/endpoint/readhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/people"
	"cloudburst/internal/push"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store"
	"cloudburst/internal/testfeed"
	"cloudburst/internal/web"
	"cloudburst/internal/web/readerui"
)

// reading contains the components of the river.
type reading struct {
	river  *river.River
	reader *fetch.Client // fetches feeds for users
	full   *fulltext.Service
	site   atomic.Pointer[http.Handler] // handler of the public listener, which answers requests for URLs of this program
}

// newRiver creates the river, which reads feeds. It uses the same guard for outgoing requests as
// the hub, except for URLs of this program.
func (a *App) newRiver(st store.Store) error {
	c := a.cfg.River
	mail, err := a.mail()
	if err != nil {
		return err
	}
	interval := c.HostInterval
	if interval == 0 {
		interval = -1
	}
	a.reader = fetch.New(fetch.Options{
		Guard:     a.fetchGuard(),
		UserAgent: readhttp.ReaderAgent(Version, a.cfg.PublicURL, 0),
		Idle:      2 * c.Concurrency, IdlePerHost: c.Concurrency,
	})
	a.river = &river.River{
		Store: st, Fetch: ownPages{a.reader, a}, Key: a.accounts.Key, Log: a.log, Now: a.clock.Now,
		Sender: a.owners.senderOf,
		Agent:  func(readers int64) string { return readhttp.ReaderAgent(Version, a.names.Public(), readers) },
		Options: river.Options{
			AtOnce: c.Concurrency, PerHost: c.PerHost, HostInterval: interval, OwnHosts: splitList(c.UnpacedHosts),
			Own: func(url string) bool { _, own := a.names.Path(url); return own }, Canonical: a.names.Canonical,
			MaxForwardings: people.MaxSubscribers + 100, Keep: c.Keep, KeepFor: c.KeepFor, Max: c.MaxFeeds, MailsBy: a.cfg.SMTP.AccountLimit, MailsTo: a.cfg.SMTP.RecipientLimit, Shared: a.cfg.Database != "",
		},
	}
	a.river.Hint = func() { // wake other processes, because items have arrived
		if h, ok := st.(store.Hinter); ok {
			h.Hint()
		}
		a.full.Wake()
		a.threads.Wake()
	}
	a.river.Forward = &readhttp.Sender{Sender: a.sender, Mail: mail, Now: a.clock.Now}
	a.river.Init()
	a.full = &fulltext.Service{
		Store: st, Fetch: ownPages{a.reader, a}, River: river.Publisher{River: a.river}, Log: a.log, Now: a.clock.Now,
		Interval: func(link string) time.Duration {
			if a.river.Options.Unpaced(link) {
				return 0
			}
			return c.HostInterval
		},
	}
	push.Join(a.river, a.upstream, a.hub)
	return nil
}

// mail returns the mail sender; nil: no mail server is configured.
func (a *App) mail() (*readhttp.Mail, error) {
	c := a.cfg.SMTP
	if c.Server == "" {
		return nil, nil
	}
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		return nil, fault.New(fault.Invalid, "smtp.server is %q; it must be host and port, such as mail.example.org:587.", c.Server)
	}
	if c.From == "" {
		return nil, fault.New(fault.Invalid, "smtp.server is set and smtp.from is not: set smtp.from to the sender of mail, such as river@example.org.")
	}
	m := &readhttp.Mail{
		Server: c.Server, From: c.From, User: c.User, Password: c.Password, TLS: c.TLS,
		Site: a.names.Public,
		Posts: func(n forward.Forwarding) bool {
			return n.SourceID == river.SourceID(a.names.Public()+"/"+a.owners.ownerOf(n.Reader)+"/rss.xml")
		},
	}
	return m, m.Check()
}

const (
	beginTask = "river begins"
	forGood   = 100 * 365 * 24 * time.Hour
)

// beginRiver makes a new installation follow its own test feed, so that the river has items
// immediately. It does so only once.
func (a *App) beginRiver(ctx context.Context) {
	now := a.clock.Now()
	won, err := a.store.ClaimTask(ctx, beginTask, now, now, now.Add(forGood))
	if err == nil && won && a.owners.fresh(ctx) {
		_, err = a.river.Add(ctx, river.Request{URL: a.names.Public() + testfeed.Path})
	}
	if err != nil && ctx.Err() == nil {
		a.log.Warn("cannot follow the test feed", "err", err)
	}
}

// unifySources moves subscriptions to feeds of this server to the canonical origin. Earlier
// versions treated each origin as a separate feed. The canonical origin also changes with the
// settings public-url and listen.
func (a *App) unifySources(ctx context.Context) error {
	origins := a.names.All()
	for _, o := range origins[1:] {
		// The IDs of items in the test feed contain the feed's URL.
		renewed := func(url string) bool { return url == o+testfeed.Path }
		if err := a.river.Unify(ctx, o+"/", renewed, a.owners.readers); err != nil {
			return err
		}
	}
	return nil
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// riverPages sets the fields that give the pages access to the river.
func (a *App) riverPages(w *web.Web) {
	w.River = a.river
	w.Arrivals = func(buffer int) readerui.Listener { return a.river.Listen(buffer) }
	w.ReaderOf, w.OwnerOf, w.Fresh = a.owners.readerOf, a.owners.ownerOf, a.owners.fresh
	w.Explained, w.FullTexts = api.ExplanationJSON, a.full
	w.RiverPublic = a.cfg.River.Public == "everyone"
	w.Images, w.Remote, w.ImageKey = a.cfg.River.Images, a.reader, a.accounts.Key
}

// ownPages answers requests for URLs of this program without the network, because the program
// refuses connections to itself. It sends all other requests over the network.
type ownPages struct {
	*fetch.Client
	app *App
}

const (
	ownWithin = 10 * time.Second
	maxOwn    = 5 << 20
)

// Get implements river.Fetcher.
func (o ownPages) Get(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	u, own := o.app.names.Path(r.URL)
	site := o.app.site.Load()
	if !own || site == nil {
		return o.Client.Get(ctx, r)
	}
	ctx, cancel := context.WithTimeout(ctx, ownWithin)
	defer cancel()
	out := &fetch.Response{URL: r.URL, SentAt: time.Now()}
	for {
		// The river must not read its own pages and feeds: their items would be stored again in
		// an endless loop. The OPML list of a public category has no items.
		list, _ := path.Match("/rivers/*/*/opml", u.Path)
		if first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); !list && slices.Contains([]string{"river", "rivers", "feeds", "feeds.opml"}, first) {
			return nil, &fetch.Error{Kind: fetch.Refused, URL: r.URL, Text: "is a page of this server's own river, which does not read itself"}
		}
		got := o.ask(ctx, u, r, out)
		if ctx.Err() != nil {
			return nil, &fetch.Error{Kind: fetch.Ours, URL: r.URL, Text: "could not be read in time", Err: ctx.Err()}
		}
		out.Status, out.Header = got.status, got.header
		out.NotModified = got.status == http.StatusNotModified
		to, err := u.Parse(got.header.Get("Location"))
		if !slices.Contains([]int{301, 302, 303, 307, 308}, got.status) || err != nil || got.header.Get("Location") == "" {
			out.Body = got.body.Bytes()
			return out, nil
		}
		out.Redirects = append(out.Redirects, fetch.Redirect{Status: got.status, From: out.URL, To: to.String()})
		if u, own = o.app.names.Path(to.String()); !own {
			return o.leave(ctx, r, out, to)
		}
		if len(out.Redirects) > 5 {
			return nil, &fetch.Error{Kind: fetch.TooManyRedirects, URL: r.URL, Text: "led from redirect to redirect, more than 5 times"}
		}
		out.URL = to.String()
	}
}

// leave follows a redirect to a URL of another server.
func (o ownPages) leave(ctx context.Context, r fetch.Request, out *fetch.Response, to *url.URL) (*fetch.Response, error) {
	r.URL = to.String()
	r.Header, r.Private = r.Header.Clone(), nil // these fields were meant only for this server
	r.Header.Del("Authorization")
	got, err := o.Client.Get(ctx, r)
	if err != nil {
		return nil, err
	}
	got.Redirects = append(out.Redirects, got.Redirects...)
	return got, nil
}

// ask calls the handler of the public listener.
func (o ownPages) ask(ctx context.Context, u *url.URL, r fetch.Request, out *fetch.Response) *answer {
	h := http.Header{}
	maps.Copy(h, r.Header)
	h.Set("User-Agent", cmp.Or(r.UserAgent, readhttp.ReaderAgent(Version, o.app.names.Public(), 0)))
	h.Set("Accept", cmp.Or(r.Accept, "*/*"))
	if r.ValidatorsURL == "" || r.ValidatorsURL == out.URL {
		if r.ETag != "" {
			h.Set("If-None-Match", r.ETag)
		}
		if r.LastModified != "" {
			h.Set("If-Modified-Since", r.LastModified)
		}
	}
	shown := h.Clone()
	maps.Copy(h, r.Private)
	req := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}, Host: u.Host, Header: h, Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "0.0.0.0:0", RequestURI: u.RequestURI(),
	}).WithContext(ctx)
	a := &answer{header: http.Header{}}
	(*o.app.site.Load()).ServeHTTP(a, req)
	if r.Trace != nil && r.Trace.Sent == "" {
		r.Trace.Sent = fmt.Sprintf("GET %s HTTP/1.1\nHost: %s\n%s", u.RequestURI(), u.Host, headText(shown))
	}
	if r.Trace != nil {
		r.Trace.Received = fmt.Sprintf("HTTP/1.1 %d %s\n%s", a.status, http.StatusText(a.status), headText(a.header))
	}
	return a
}

func headText(h http.Header) string {
	var b strings.Builder
	_ = h.WriteSubset(&b, map[string]bool{"Authorization": true, "Set-Cookie": true}) // a strings.Builder never returns an error
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// answer is a ResponseWriter that records the response of a handler.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader records the first status and ignores further ones.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write appends b to the body. It returns an error if the body would exceed maxOwn bytes.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(b) > maxOwn {
		return 0, fault.New(fault.Invalid, "The answer is longer than %d bytes.", maxOwn)
	}
	return a.body.Write(b)
}
