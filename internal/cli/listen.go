package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/rsscloud"
)

// listenProcedure is what hubs call over xml-rpc and soap.
const listenProcedure = "rssCloud.notify"

func (p *Program) listen() *cobra.Command {
	l := &listener{p: p}
	c := &cobra.Command{
		Use:   "listen FEED…",
		Short: "Wait for changes of feeds and print them: an aggregator in a terminal",
		Long: `Reads each feed's <cloud> element, asks that hub to be notified, answers its test
call or challenge, and prints every notification with its delay and the newest
item of the feed. It renews every 24 hours, registers again after an outage, and
cancels its registrations at the end where the hub offers that. Ctrl-C ends it.

The hub must be able to connect to this machine. Without --domain it calls the
address that the registration comes from; --domain names another host, and the hub
then asks for consent with a challenge. --addr fixes the port, for firewalls.

The delay counts from the moment when the hub heard of the change, where the hub
says it; else from the feed's own Last-Modified or newest date.

--json prints one object a line: at, event (registered, test, changed, error,
cancelled), feed, hub, message, after_ms, since (ping, modified, date), title,
link, text, changed_at.`,
		Example: "  cloudburst listen http://example.org/rss.xml\n  cloudburst listen --addr :5339 --domain reader.example.org http://example.org/rss.xml",
		Args:    between(1, -1, "the URL of at least one FEED"),
		RunE: func(c *cobra.Command, feeds []string) error {
			return l.run(c.Context(), feeds)
		},
	}
	c.Flags().StringVar(&l.addr, "addr", ":0", "`address` to listen on, host:port; port 0 takes any free one")
	c.Flags().StringVar(&l.domain, "domain", "", "`name` or address by which the hub reaches this machine")
	c.Flags().StringVar(&l.hub, "hub", "", "`URL` of the hub to ask, for feeds without a <cloud> (default: each feed's own)")
	choose(c, &l.via, "via", "how to be told (default http-post)", rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP)
	c.Flags().BoolVar(&l.json, "json", false, "one JSON object a line")
	return c
}

// listener is one run of the command.
type listener struct {
	p                 *Program
	addr, domain, via string
	hub               string // asked instead of the feed's own, unless empty
	json              bool

	port    int
	path    string // with a part that nobody guesses
	client  rsscloud.Client
	notices chan notice
	reading chan struct{} // places for feeds being read

	printing sync.Mutex
	mu       sync.Mutex
	feeds    map[string]*followed
}

// followed is one feed and its registration.
type followed struct {
	url   string
	cloud rsscloud.Cloud
	asks  bool // a registration is under way: what comes now is the test call
	held  bool // registered, as far as we know
}

// notice is a notification with what its header says.
type notice struct {
	rsscloud.Notice
	test      bool
	changedAt time.Time // when the hub heard of the change; zero: it does not say
}

const (
	noticeRoom  = 1024 // notifications that may wait to be printed
	readAtOnce  = 4
	cancelTime  = 3 * time.Second
	renewAfter  = 24 * time.Hour
	renewJitter = 20 * time.Minute
)

func (l *listener) run(ctx context.Context, urls []string) error {
	if l.via == "" {
		l.via = rsscloud.HTTPPost
	}
	if l.hub != "" && rsscloud.CheckFeedURL(l.hub) != nil {
		return usagef("--hub is %q: it needs http:// or https:// and a host", l.hub)
	}
	l.feeds = map[string]*followed{}
	for _, u := range urls {
		if err := rsscloud.CheckFeedURL(u); err != nil {
			return usagef("%q is not the URL of a feed: it needs http:// or https:// and a host", u)
		}
		l.feeds[u] = &followed{url: u}
	}
	l.client = rsscloud.Client{HTTP: l.p.HTTP, UserAgent: l.p.agent()}
	l.notices = make(chan notice, noticeRoom)
	l.reading = make(chan struct{}, readAtOnce)
	stop, err := l.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { l.print(ctx) })
	failed := make(chan error, len(l.feeds))
	for _, f := range l.feeds {
		group.Go(func() { failed <- l.follow(ctx, f) })
	}
	var last error
	lost := 0
	for range l.feeds {
		if err := <-failed; err != nil {
			last = err
			lost++
		}
	}
	cancel()
	group.Wait()
	l.cancelAll()
	if lost == len(l.feeds) && last != nil {
		return errSilent // each was told when it happened
	}
	return nil
}

// serve starts the callback.
//
// spec:rsscloud-2009#listener-needs-a-server
func (l *listener) serve(ctx context.Context) (stop func(), err error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", l.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr is %q, and nothing can listen there: %w", l.addr, err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, err
	}
	if l.port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	var secret [8]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, err
	}
	l.path = "/notify/" + hex.EncodeToString(secret[:])
	mux := http.NewServeMux()
	mux.Handle(l.path, &rsscloud.Subscriber{Wants: l.wants, OnNotify: l.heard, Procedure: listenProcedure})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			l.say(record{Event: "error", Message: "the callback stopped: " + sentence(err)})
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // nobody is left to tell
		}
	}, nil
}

func (l *listener) wants(feed string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.feeds[feed]
	return ok
}

// heard takes a notification. When too many wait, the oldest news is old anyway.
func (l *listener) heard(ctx context.Context, n rsscloud.Notice) {
	note := notice{Notice: n}
	if r := rsscloud.RequestFrom(ctx); r != nil {
		note.changedAt = parseChangedAt(r.Header.Get(rsscloud.ChangedAtHeader))
	}
	l.mu.Lock()
	f := l.feeds[n.URL]
	note.test = f != nil && f.asks && l.domain == "" && note.changedAt.IsZero()
	l.mu.Unlock()
	select {
	case l.notices <- note:
	default:
	}
}

// parseChangedAt reads a moment in either form that hubs may give it: RFC 3339 or
// Unix milliseconds.
func parseChangedAt(text string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t
	}
	if ms, err := strconv.ParseFloat(text, 64); err == nil && ms > 0 && ms < 1e15 {
		return time.UnixMicro(int64(ms * 1000))
	}
	return time.Time{}
}

// print reads and prints what was heard, a few feeds at a time.
func (l *listener) print(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-l.notices:
			if n.test {
				l.say(record{At: n.At, Event: "test", Feed: n.URL, Message: "the hub's test call"})
				continue
			}
			select {
			case l.reading <- struct{}{}:
			case <-ctx.Done():
				return
			}
			group.Go(func() {
				defer func() { <-l.reading }()
				l.tell(ctx, n)
			})
		}
	}
}

// tell prints one notification, as soon as its delay is known, and then what is new.
//
// spec:rsscloud-2009#aggregator-reads-feed
func (l *listener) tell(ctx context.Context, n notice) {
	r := record{At: n.At, Event: "changed", Feed: n.URL}
	if !n.changedAt.IsZero() {
		r.measure(n.At, n.changedAt, "ping")
		if !l.json {
			l.say(r)
		}
	}
	doc, err := l.p.readFeed(ctx, n.URL)
	if err == nil {
		newest, dated := doc.newestItem()
		r.Title, r.Link, r.Text = clean(newest.Title), clean(newest.Link), short(clean(newest.Text), 500)
		if r.Since == "" && !doc.Modified.IsZero() {
			r.measure(n.At, doc.Modified, "modified")
		}
		if r.Since == "" && !dated.IsZero() {
			r.measure(n.At, dated, "date")
		}
		r.item = newest.String()
	} else if ctx.Err() == nil {
		r.Message = sentence(err)
	}
	r.again = !n.changedAt.IsZero() && !l.json
	l.say(r)
}
