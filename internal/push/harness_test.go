package push

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
	"cloudburst/internal/route"
	"cloudburst/internal/store"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/internal/upstream"
)

const (
	pushFeed = "http://feed.test/rss.xml"
	pushHub  = "example.com" // httptest has a certificate for this name
)

// harness simulates two programs on a network: the hub of a feed, and a program with an aggregator,
// whose river the test simulates.
type harness struct {
	t         *testing.T
	net       *nettest.Internet
	tlsServer *httptest.Server // provides the certificate of the hub
	public    string           // public URL of the aggregator's program
	me        netip.Addr
	hub       *hub.Hub
	engine    *upstream.Engine
	push      *readerPush

	mu              sync.Mutex
	title           string
	reads           map[string]int // number of requests for the feed; key: User-Agent
	requests        []string       // requests to the aggregator's program
	received        []string
	documents       []string
	endpoints       []river.PushEndpoint
	aggregatorError error
	admitError      error      // error of Admit, as if the rate of a source were exceeded
	pings           []hub.Ping // pings to the hub of the aggregator's program
}

func (p *harness) ReceivePush(_ context.Context, url, via string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aggregatorError == nil {
		p.received = append(p.received, via+" "+url)
	}
	return true, p.aggregatorError
}

func (p *harness) Deliver(_ context.Context, url, via string, body []byte, header http.Header) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aggregatorError == nil {
		p.documents = append(p.documents, strings.Join([]string{via, url, header.Get("Content-Type"), header.Get("Link"), string(body)}, "\n"))
	}
	return true, p.aggregatorError
}

func (p *harness) Known(context.Context, string) (string, []river.PushEndpoint, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pushFeed, p.endpoints, p.endpoints != nil, nil
}

func (p *harness) Ping(_ context.Context, ping hub.Ping) (hub.PingResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pings = append(p.pings, ping)
	return hub.PingResult{}, nil
}

func (p *harness) Admit(netip.Addr) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.admitError
}

// takeReceived returns the pushes and the documents that the river received since the last call.
func (p *harness) takeReceived() (received, documents []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	received, documents, p.received, p.documents = p.received, p.documents, nil, nil
	return received, documents
}

// serve serves h at address until the caller calls stop.
func (p *harness) serve(address string, secure bool, h http.Handler) (stop func()) {
	p.t.Helper()
	l, err := p.net.Listen(address)
	if err != nil {
		p.t.Fatal(err)
	}
	if secure {
		l = tls.NewListener(l, &tls.Config{Certificates: p.tlsServer.TLS.Certificates})
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = srv.Serve(l) }() // ends when the server is closed
	return func() { srv.Close(); <-ended }
}

// withHarness runs both programs. If named is true, the aggregator's program has a host name.
func withHarness(t *testing.T, named bool, do func(t *testing.T, p *harness)) {
	t.Helper()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	dirs := []string{t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		p := &harness{t: t, net: &nettest.Internet{Latency: time.Millisecond}, tlsServer: secure, title: "one", reads: map[string]int{}}
		defer p.serve("feed.test:80", false, http.HandlerFunc(p.serveFeed))()
		p.me = p.net.Host("me.test")
		p.public = "http://" + p.me.String()
		if named {
			p.public = "http://me.test"
		}
		var group sync.WaitGroup
		defer group.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer p.startHub(ctx, &group, dirs[0], &tls.Config{RootCAs: roots})()
		defer p.startAggregator(ctx, &group, dirs[1], &tls.Config{RootCAs: roots})()
		defer func() { cancel(); group.Wait() }()
		do(t, p)
	})
}

func (p *harness) serveFeed(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads[r.UserAgent()]++
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>feed</title><item><title>%s</title></item></channel></rss>`, p.title)
}

func (p *harness) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

func (p *harness) open(dir string) store.Store {
	p.t.Helper()
	st, err := store.Open(p.t.Context(), store.Options{Dir: sqlitetest.Fill(p.t, dir), Log: p.log()})
	if err != nil {
		p.t.Fatal(err)
	}
	return st
}

// startHub starts the hub's program.
func (p *harness) startHub(ctx context.Context, group *sync.WaitGroup, dir string, roots *tls.Config) (stop func()) {
	st := p.open(dir)
	dial := p.net.Dialer(p.net.Host(pushHub), nil)
	reads := fetch.New(fetch.Options{Dial: dial, UserAgent: "hub"})
	sends := fetch.NewSender(fetch.SenderOptions{Dial: dial, TLSConfig: roots})
	p.hub = &hub.Hub{
		Store: st, Bus: event.NewBus(1), Log: p.log(), Fetch: &hubhttp.Fetcher{Client: reads}, Verify: &hubhttp.Verifier{Sender: sends}, Ask: &hubhttp.Asker{Sender: sends},
		Notify: &hubhttp.Notifier{Sender: sends, HubURL: func() string { return "https://" + pushHub + "/websub" }},
	}
	mux := http.NewServeMux()
	route.Mount(mux, (&hubhttp.Endpoints{Hub: p.hub, Changes: st, PublicURL: "http://" + pushHub, Log: p.log()}).Routes(), nil)
	plain, secure := p.serve(pushHub+":80", false, mux), p.serve(pushHub+":443", true, mux)
	group.Go(func() {
		if err := p.hub.Run(ctx); err != nil {
			p.t.Error(err)
		}
	})
	return func() {
		plain()
		secure()
		reads.CloseIdle()
		sends.Close()
		_ = st.Close()
	}
}

// startAggregator starts the aggregator's program. If any part of the program except its river
// reads the feed, the test fails.
func (p *harness) startAggregator(ctx context.Context, group *sync.WaitGroup, dir string, roots *tls.Config) (stop func()) {
	st := p.open(dir)
	asks := fetch.NewDoer(fetch.DoerOptions{Dial: p.net.Dialer(p.me, nil), TLSConfig: roots})
	public := func() string { return p.public }
	own := func(u string) bool { return hubhttp.IsOwnEndpoint(u, p.public) }
	p.engine = &upstream.Engine{
		Store: st, Bus: event.NewBus(2), Log: p.log(), PublicURL: public, Options: upstream.Options{Own: own, Known: knownHubs(p), Away: time.Hour},
		Ask:    &hubhttp.UpstreamClient{Feeds: noFeedReads{p.t}, HTTP: asks, PublicURL: public},
		Signal: receiveSignal(p, p),
	}
	p.push = &readerPush{engine: p.engine, isOwn: own, since: time.Now()}
	mux := http.NewServeMux()
	route.Mount(mux, (&hubhttp.NotifyEndpoints{Engine: p.engine, Log: p.log()}).Routes(), nil)
	route.Mount(mux, (&hubhttp.Endpoints{Upstream: p.engine, Hub: p.hub, Log: p.log()}).Routes(), nil)
	closed := p.serve("me.test:80", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.Path)
		p.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	group.Go(func() {
		if err := p.engine.Run(ctx); err != nil {
			p.t.Error(err)
		}
	})
	return func() {
		closed()
		asks.CloseIdle()
		_ = st.Close()
	}
}

type noFeedReads struct{ t *testing.T }

func (n noFeedReads) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	n.t.Errorf("%s was read to find its hubs", r.URL)
	return nil, fault.New(fault.Refused, "No.")
}

// advance advances the fake clock by d.
func (p *harness) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// follow makes the river follow the feed with these push endpoints.
func (p *harness) follow(endpoints ...river.PushEndpoint) {
	p.t.Helper()
	p.mu.Lock()
	p.endpoints = endpoints
	p.mu.Unlock()
	if err := p.push.Follow(p.t.Context(), pushFeed, pushFeed, endpoints); err != nil {
		p.t.Fatal(err)
	}
}

// state returns the state of the only endpoint. The test fails if there is not exactly one.
func (p *harness) state() river.PushState {
	p.t.Helper()
	p.mu.Lock()
	endpoints := p.endpoints
	p.mu.Unlock()
	list, err := p.push.State(p.t.Context(), pushFeed, endpoints)
	if err != nil || len(list) != 1 {
		p.t.Fatalf("the states are %+v, %v", list, err)
	}
	return list[0]
}

// change changes the feed and pings the hub.
func (p *harness) change(title string) {
	p.t.Helper()
	p.mu.Lock()
	p.title = title
	p.mu.Unlock()
	if _, err := p.hub.Ping(p.t.Context(), hub.Ping{URL: pushFeed, Via: "rest"}); err != nil {
		p.t.Fatal(err)
	}
	p.advance(2 * time.Second)
}

// callbacks returns the subscribers of the hub.
func (p *harness) callbacks() []string {
	p.t.Helper()
	list, err := p.hub.Store.Subscriptions(p.t.Context(), hub.SubscriptionQuery{TopicID: hub.TopicID(pushFeed), Limit: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	var urls []string
	for _, s := range list {
		urls = append(urls, s.Protocol+" "+s.Callback)
	}
	return urls
}

// challenged reports whether the hub sent a challenge.
func (p *harness) challenged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.requests, "GET /notify/rsscloud") || slices.Contains(p.requests, "GET /notify/RPC2") || slices.Contains(p.requests, "GET /notify/soap")
}
