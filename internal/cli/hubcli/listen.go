package hubcli

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/protocol/rsscloud"
)

// Values of --via in addition to the protocols of rssCloud.
const (
	viaRSSCloud = "rsscloud"
	viaWebSub   = "websub"
	viaCNWS     = "cnws"
)

func (p *commands) listen() *cobra.Command {
	l := &listener{p: p}
	var lease string
	c := &cobra.Command{
		Use:   "listen FEED…",
		Short: "Subscribe to feeds and print each notification",
		Long: `Subscribes to feeds at their hubs, answers the verification requests, and prints every
notification with its delay and the newest item of the feed. The command renews each
subscription before it expires and after an outage, and cancels it at exit if the hub
supports that. If the server of a feed is not running yet, the command waits for it.
Press Ctrl-C to stop.

--via selects the protocol:

  rsscloud  the hub in the <cloud> element of each feed (the default); http-post, xml-rpc
            and soap select the kind of call. Renewed every 24 hours.
  websub    the hub in the Link headers or links with rel="hub" of each feed. FEED may
            be any document: the notification contains its content. Deliveries
            without a valid signature of this run are ignored. Renewed before the
            lease ends.
  cnws      the hub at --hub, which is required. Confirmed again after 30 days without
            notifications. CNWS has no call to cancel: the hub drops the subscription
            when the next notification fails.

The hub must be able to connect to this machine. With rssCloud and without --domain the
hub calls the IP address that sent the registration; with the other protocols the
command sends the address that this machine uses to connect to the hub. --domain names
another host; an rssCloud hub then verifies the host with a challenge. --addr sets the
port, for firewalls.

The delay starts when the hub learned of the change, if the hub reports that time;
otherwise at the time in the notification (cnws), the Last-Modified of the feed or its
newest date.

--json prints one object per line: at, event (waiting, registered, renewed, test, changed,
error, cancelled, stopped), protocol, feed, hub, message, after_ms, since (ping, change_time,
modified, date), title, link, text, changed_at; with websub also content_type, size,
sha256 and signature (ok, none) of the delivered content.`,
		Example: "  cloudburst listen http://example.org/rss.xml\n  cloudburst listen --addr :5339 --domain reader.example.org http://example.org/rss.xml\n  cloudburst listen --via websub http://example.org/atom.xml\n  cloudburst listen --via cnws --hub http://localhost:5337 http://example.org/rss.xml",
		Args:    shell.Between(1, -1, "the URL of at least one FEED"),
		RunE: func(c *cobra.Command, feeds []string) error {
			var err error
			if l.lease, err = parseLease(lease); err != nil {
				return err
			}
			return l.run(c.Context(), feeds)
		},
	}
	c.Flags().StringVar(&l.addr, "addr", ":0", "`address` to listen on, host:port; port 0 selects any free port")
	c.Flags().StringVar(&l.domain, "domain", "", "`name` or address by which the hub reaches this machine")
	c.Flags().StringVar(&l.hub, "hub", "", "`URL` of the hub (default: the hub that each feed names); with websub its endpoint or its server")
	shell.ChoiceFlag(c, &l.via, "via", "protocol of the subscription (default rsscloud)", viaRSSCloud, viaWebSub, viaCNWS, rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP)
	c.Flags().StringVar(&lease, "lease", "", "with websub, the `time` to subscribe for, such as 10d, 12h or a number of seconds (default: the hub decides)")
	c.Flags().BoolVar(&l.noSecret, "no-secret", false, "with websub, accept deliveries without a signature")
	c.Flags().BoolVar(&l.json, "json", false, "print one JSON object per line")
	return c
}

// listener is one run of the command listen.
type listener struct {
	p                 *commands
	addr, domain, via string
	hub               string // hub to use for all feeds; "": the hub of each feed
	lease             time.Duration
	noSecret          bool
	json              bool

	way     way
	host    string // address to listen at; "": all addresses
	port    int
	path    string // path of the callback, which cannot be guessed; feeds may have callbacks below it
	notices chan notice
	reading chan struct{} // semaphore that limits concurrent reads of feeds

	printing sync.Mutex
	mu       sync.Mutex
	feeds    map[string]*followed
}

// way implements the subscriber of one protocol.
type way interface {
	// handler returns the handler of the callback, for l.path and all paths below it.
	handler() http.Handler
	// register subscribes to f at a hub and waits for the confirmation.
	register(ctx context.Context, f *followed) (registered, error)
	// cancel ends the subscription if the protocol allows that, and returns the result to print. A
	// record without an event is not printed.
	cancel(ctx context.Context, f *followed) record
}

// registered is the subscription that a hub granted.
type registered struct {
	hub, msg string
	again    time.Duration // time until the renewal
}

// followed is one feed and its registration.
type followed struct {
	url  string
	asks bool      // a registration is in progress, so the hub's next call is its test call
	held bool      // the feed is registered, as far as the command knows
	due  time.Time // time of the renewal

	cloud rsscloud.Cloud // the hub, if the protocol is rssCloud
	sub   subscribed     // the subscription, if the protocol is WebSub
}

// notice is a notification with the values of its header.
type notice struct {
	feed      string
	at        time.Time
	test      bool
	changedAt time.Time // time when the hub learned of the change; zero: unknown
	news      *record   // record of the delivered content; nil: none, so the command reads the feed
}

const (
	noticeCapacity = 1024 // maximum number of notifications that wait to be printed
	readAtOnce     = 4
	cancelTime     = 3 * time.Second
	renewAfter     = 24 * time.Hour
	renewJitter    = 20 * time.Minute
)

func (l *listener) run(ctx context.Context, urls []string) error {
	if err := l.prepare(urls); err != nil {
		return err
	}
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
		return shell.ErrReported // each error was printed when it occurred
	}
	return nil
}

// prepare checks the command line.
func (l *listener) prepare(urls []string) error {
	if l.via == "" || l.via == viaRSSCloud {
		l.via = rsscloud.HTTPPost
	}
	if l.hub != "" && rsscloud.CheckFeedURL(l.hub) != nil {
		return shell.Usagef("--hub is %q: it must be an http or https URL with a host", l.hub)
	}
	if l.via != viaWebSub && (l.lease != 0 || l.noSecret) {
		return shell.Usagef("--lease and --no-secret need --via websub: other protocols have no leases and secrets")
	}
	l.feeds = map[string]*followed{}
	for _, u := range urls {
		if err := rsscloud.CheckFeedURL(u); err != nil {
			return shell.Usagef("%q is not the URL of a feed: it must be an http or https URL with a host", u)
		}
		l.feeds[u] = &followed{url: u}
	}
	l.notices = make(chan notice, noticeCapacity)
	l.reading = make(chan struct{}, readAtOnce)
	switch l.via {
	case viaWebSub:
		l.way = newWebSubWay(l)
	case viaCNWS:
		if l.hub == "" {
			return shell.Usagef("--via cnws needs --hub URL: feeds do not name hubs of CNWS")
		}
		l.way = newCNWSWay(l)
	default:
		l.way = newCloudWay(l)
	}
	return nil
}

// take queues a notification for printing. It drops the notification if the queue is full.
func (l *listener) take(n notice) {
	select {
	case l.notices <- n:
	default:
	}
}

func (l *listener) wants(feed string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.feeds[feed]
	return ok
}

// print reads the feed of each notification and prints the notification. It reads a few feeds at
// the same time.
func (l *listener) print(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-l.notices:
			if n.test {
				l.emit(record{At: n.at, Event: "test", Feed: n.feed, Message: "the hub's test call"})
				continue
			}
			if n.news != nil {
				l.emit(*n.news)
				continue
			}
			select {
			case l.reading <- struct{}{}:
			case <-ctx.Done():
				return
			}
			group.Go(func() {
				defer func() { <-l.reading }()
				l.report(ctx, n)
			})
		}
	}
}

// report prints one notification as soon as the delay is known, and then prints the newest item of
// the feed.
//
// spec:rsscloud-2009#aggregator-reads-feed
func (l *listener) report(ctx context.Context, n notice) {
	r := record{At: n.at, Event: "changed", Feed: n.feed}
	if !n.changedAt.IsZero() {
		r.measure(n.at, n.changedAt, "ping")
		if !l.json {
			l.emit(r)
		}
	}
	doc, err := l.p.ReadFeed(ctx, n.feed)
	if err == nil {
		r.show(doc)
	} else if ctx.Err() == nil {
		r.Message = shell.Sentence(err)
	}
	r.again = !n.changedAt.IsZero() && !l.json
	l.emit(r)
}

// parseLease parses the value of --lease: a duration in the format of settings, or a number of
// seconds as in WebSub.
func parseLease(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(text)
	if n, bad := time.ParseDuration(text + "s"); bad == nil && err != nil {
		d, err = n, nil
	}
	if err != nil || d < time.Second {
		return 0, shell.Usagef("--lease is %q: it must be at least 1s, such as 10d, 12h or a number of seconds", text)
	}
	return d.Truncate(time.Second), nil
}
