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

// What --via says besides the protocols of rssCloud.
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
		Short: "Wait for changes of feeds and print them: an aggregator in a terminal",
		Long: `Asks the hubs of feeds to be told of changes, answers what they ask back, and prints
every notification with its delay and the newest item of the feed. It asks again
before a hub forgets and after an outage, and takes everything back at the end
where the hub offers that. A feed whose server does not answer yet is waited for.
Ctrl-C ends it.

--via says in which protocol:

  rsscloud  the hub of each feed's <cloud> element (the default); http-post, xml-rpc
            and soap are the same with that kind of call. Renewed every 24 hours.
  websub    the hub that each feed's Link headers or links name as rel="hub". FEED may
            be any document: its content comes with the notification. Deliveries
            that are not signed with the secret of this run are ignored. Renewed
            before the lease ends.
  cnws      the hub at --hub, which must be named. Confirmed anew after 30 silent days.
            CNWS has no way to cancel: the hub finds nobody here the next time, and
            forgets.

The hub must be able to connect to this machine. With rssCloud and without --domain it
calls the address that the registration comes from; with the others it is given the
address from which this machine connects to the hub. --domain names another host; an
rssCloud hub then asks for consent with a challenge. --addr fixes the port, for
firewalls.

The delay counts from the moment when the hub heard of the change, where the hub
says it; else from the time in the notification (cnws), the feed's own Last-Modified
or its newest date.

--json prints one object a line: at, event (waiting, registered, renewed, test, changed,
error, cancelled, stopped), protocol, feed, hub, message, after_ms, since (ping, change_time,
modified, date), title, link, text, changed_at; with websub also content_type, size,
sha256 and signature (ok, none) of what was delivered.`,
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
	c.Flags().StringVar(&l.addr, "addr", ":0", "`address` to listen on, host:port; port 0 takes any free one")
	c.Flags().StringVar(&l.domain, "domain", "", "`name` or address by which the hub reaches this machine")
	c.Flags().StringVar(&l.hub, "hub", "", "`URL` of the hub to ask (default: each feed's own; with websub where it takes requests, or of its server)")
	shell.ChoiceFlag(c, &l.via, "via", "how to be told (default rsscloud)", viaRSSCloud, viaWebSub, viaCNWS, rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP)
	c.Flags().StringVar(&lease, "lease", "", "with websub, the `time` to subscribe for, such as 10d, 12h or a number of seconds (default: what the hub gives)")
	c.Flags().BoolVar(&l.noSecret, "no-secret", false, "with websub, take deliveries without a signature")
	c.Flags().BoolVar(&l.json, "json", false, "one JSON object a line")
	return c
}

// listener is one run of the command.
type listener struct {
	p                 *commands
	addr, domain, via string
	hub               string // asked instead of the feed's own, unless empty
	lease             time.Duration
	noSecret          bool
	json              bool

	way     way
	host    string // the address that it listens on, if that is a certain one
	port    int
	path    string // with a part that nobody guesses; feeds may have their own below it
	notices chan notice
	reading chan struct{} // places for feeds being read

	printing sync.Mutex
	mu       sync.Mutex
	feeds    map[string]*followed
}

// way is a protocol in which hubs are asked and tell.
type way interface {
	// handler is the callback, for l.path and all below it.
	handler() http.Handler
	// register asks a hub to be told of f, and waits until it will be.
	register(ctx context.Context, f *followed) (registered, error)
	// cancel ends what register began, as far as that can be done, and says how it
	// went; a record without an event says nothing.
	cancel(ctx context.Context, f *followed) record
}

// registered is what a hub has granted.
type registered struct {
	hub, msg string
	again    time.Duration // when to ask anew
}

// followed is one feed and its registration.
type followed struct {
	url  string
	asks bool      // a registration is under way: what comes now is the test call
	held bool      // registered, as far as we know
	due  time.Time // when to ask anew

	cloud rsscloud.Cloud // of rssCloud
	sub   subscribed     // of WebSub
}

// notice is a notification with what its header says.
type notice struct {
	feed      string
	at        time.Time
	test      bool
	changedAt time.Time // when the hub heard of the change; zero: it does not say
	news      *record   // what came with it; nil: the feed is to be read
}

const (
	noticeRoom  = 1024 // notifications that may wait to be printed
	readAtOnce  = 4
	cancelTime  = 3 * time.Second
	renewAfter  = 24 * time.Hour
	renewJitter = 20 * time.Minute
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
		return shell.ErrReported // each was told when it happened
	}
	return nil
}

// prepare looks at the command line.
func (l *listener) prepare(urls []string) error {
	if l.via == "" || l.via == viaRSSCloud {
		l.via = rsscloud.HTTPPost
	}
	if l.hub != "" && rsscloud.CheckFeedURL(l.hub) != nil {
		return shell.Usagef("--hub is %q: it needs http:// or https:// and a host", l.hub)
	}
	if l.via != viaWebSub && (l.lease != 0 || l.noSecret) {
		return shell.Usagef("--lease and --no-secret belong to --via websub: other protocols have neither")
	}
	l.feeds = map[string]*followed{}
	for _, u := range urls {
		if err := rsscloud.CheckFeedURL(u); err != nil {
			return shell.Usagef("%q is not the URL of a feed: it needs http:// or https:// and a host", u)
		}
		l.feeds[u] = &followed{url: u}
	}
	l.notices = make(chan notice, noticeRoom)
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

// take keeps a notification to be printed. When too many wait, the oldest news is
// old anyway.
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
				l.say(record{At: n.at, Event: "test", Feed: n.feed, Message: "the hub's test call"})
				continue
			}
			if n.news != nil {
				l.say(*n.news)
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

// tell prints one notification, as soon as its delay is known, and then what is new.
//
// spec:rsscloud-2009#aggregator-reads-feed
func (l *listener) report(ctx context.Context, n notice) {
	r := record{At: n.at, Event: "changed", Feed: n.feed}
	if !n.changedAt.IsZero() {
		r.measure(n.at, n.changedAt, "ping")
		if !l.json {
			l.say(r)
		}
	}
	doc, err := l.p.ReadFeed(ctx, n.feed)
	if err == nil {
		r.show(doc)
	} else if ctx.Err() == nil {
		r.Message = shell.Sentence(err)
	}
	r.again = !n.changedAt.IsZero() && !l.json
	l.say(r)
}

// parseLease reads --lease: a time as the settings have it, or seconds as WebSub does.
func parseLease(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(text)
	if n, bad := time.ParseDuration(text + "s"); bad == nil && err != nil {
		d, err = n, nil
	}
	if err != nil || d < time.Second {
		return 0, shell.Usagef("--lease is %q: it needs a time of at least a second, such as 10d, 12h or a number of seconds", text)
	}
	return d.Truncate(time.Second), nil
}
