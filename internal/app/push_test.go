package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
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

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/gateway"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
	"cloudburst/internal/store"
	"cloudburst/internal/upstream"
	"cloudburst/websub"
)

const (
	pushFeed = "http://feed.test/rss.xml"
	pushHub  = "example.com" // for which httptest has a certificate
)

// pushed is two programs on an internet in memory: one that is the hub of a feed, and
// one that has readers, whose river the test plays.
type pushed struct {
	t      *testing.T
	net    *nettest.Internet
	secure *httptest.Server // whose certificate is the hub's
	public string           // the reading program's, as hubs know it
	me     netip.Addr
	hub    *hub.Hub
	engine *upstream.Engine
	push   *readerPush

	mu     sync.Mutex
	title  string
	reads  map[string]int // of the feed, by User-Agent
	posts  []string       // what came to the reading program's doors
	heard  []string
	docs   []string
	doors  []river.Door
	failed error
	pings  []hub.Ping // of its own hub
}

func (p *pushed) Heard(_ context.Context, url, door string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.heard = append(p.heard, door+" "+url)
	}
	return true, p.failed
}

func (p *pushed) Deliver(_ context.Context, url, door string, body []byte, header http.Header) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.docs = append(p.docs, strings.Join([]string{door, url, header.Get("Content-Type"), header.Get("Link"), string(body)}, "\n"))
	}
	return true, p.failed
}

func (p *pushed) Known(context.Context, string) (string, []river.Door, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pushFeed, p.doors, p.doors != nil, nil
}

func (p *pushed) Ping(_ context.Context, ping hub.Ping) (hub.PingResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pings = append(p.pings, ping)
	return hub.PingResult{}, nil
}

// said is what the river was told since the last call.
func (p *pushed) said() (heard, docs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard, docs, p.heard, p.docs = p.heard, p.docs, nil, nil
	return heard, docs
}

// serve listens at address until the test ends.
func (p *pushed) serve(address string, secure bool, h http.Handler) (stop func()) {
	p.t.Helper()
	l, err := p.net.Listen(address)
	if err != nil {
		p.t.Fatal(err)
	}
	if secure {
		l = tls.NewListener(l, &tls.Config{Certificates: p.secure.TLS.Certificates})
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = srv.Serve(l) }() // it ends when it is closed
	return func() { srv.Close(); <-ended }
}

// inPush runs both programs. named says that the reading one is known by a name.
func inPush(t *testing.T, named bool, do func(t *testing.T, p *pushed)) {
	t.Helper()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	dirs := []string{t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		p := &pushed{t: t, net: &nettest.Internet{Latency: time.Millisecond}, secure: secure, title: "one", reads: map[string]int{}}
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
		defer p.foreign(ctx, &group, dirs[0], &tls.Config{RootCAs: roots})()
		defer p.reading(ctx, &group, dirs[1], &tls.Config{RootCAs: roots})()
		defer func() { cancel(); group.Wait() }()
		do(t, p)
	})
}

func (p *pushed) serveFeed(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads[r.UserAgent()]++
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>feed</title><item><title>%s</title></item></channel></rss>`, p.title)
}

func (p *pushed) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

func (p *pushed) open(dir string) store.Store {
	p.t.Helper()
	st, err := store.Open(p.t.Context(), store.Options{Dir: dir, Log: p.log()})
	if err != nil {
		p.t.Fatal(err)
	}
	return st
}

// foreign is the hub's program.
func (p *pushed) foreign(ctx context.Context, group *sync.WaitGroup, dir string, roots *tls.Config) (stop func()) {
	st := p.open(dir)
	dial := p.net.Dialer(p.net.Host(pushHub), nil)
	reads := fetch.New(fetch.Options{Dial: dial, UserAgent: "hub"})
	sends := fetch.NewSender(fetch.SenderOptions{Dial: dial, TLSConfig: roots})
	p.hub = &hub.Hub{
		Store: st, Bus: event.NewBus(1), Log: p.log(), Fetch: &gateway.Fetcher{Client: reads}, Verify: &gateway.Verifier{Sender: sends}, Ask: &gateway.Asker{Sender: sends},
		Notify: &gateway.Notifier{Sender: sends, HubURL: func() string { return "https://" + pushHub + "/websub" }},
	}
	mux := http.NewServeMux()
	(&gateway.Gateway{Hub: p.hub, Changes: st, PublicURL: "http://" + pushHub, Log: p.log()}).Mount(mux)
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

// reading is the program with the readers. Who would read the feed there besides its
// river fails the test.
func (p *pushed) reading(ctx context.Context, group *sync.WaitGroup, dir string, roots *tls.Config) (stop func()) {
	st := p.open(dir)
	asks := fetch.NewDoer(fetch.DoerOptions{Dial: p.net.Dialer(p.me, nil), TLSConfig: roots})
	public := func() string { return p.public }
	own := func(u string) bool { return gateway.Own(u, p.public) }
	p.engine = &upstream.Engine{
		Store: st, Bus: event.NewBus(2), Log: p.log(), PublicURL: public, Options: upstream.Options{Own: own, Known: known(p), Away: time.Hour},
		Ask:    &gateway.UpstreamClient{Feeds: nobodyReads{p.t}, HTTP: asks, PublicURL: public},
		Signal: takeSignal(p, p),
	}
	p.push = &readerPush{engine: p.engine, own: own, readers: p, since: time.Now()}
	mux := http.NewServeMux()
	(&gateway.Notified{Engine: p.engine, Log: p.log()}).Mount(mux)
	(&gateway.Gateway{Upstream: p.engine, Hub: p.hub, Log: p.log()}).Mount(mux)
	closed := p.serve("me.test:80", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.posts = append(p.posts, r.Method+" "+r.URL.Path)
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

type nobodyReads struct{ t *testing.T }

func (n nobodyReads) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	n.t.Errorf("%s was read to find its hubs", r.URL)
	return nil, fault.New(fault.Refused, "No.")
}

// pass lets time go by.
func (p *pushed) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// follow follows the feed by doors.
func (p *pushed) follow(doors ...river.Door) {
	p.t.Helper()
	p.mu.Lock()
	p.doors = doors
	p.mu.Unlock()
	if err := p.push.Follow(p.t.Context(), pushFeed, pushFeed, doors); err != nil {
		p.t.Fatal(err)
	}
}

// state is what the only hub said.
func (p *pushed) state() river.PushState {
	p.t.Helper()
	list, err := p.push.State(p.t.Context(), pushFeed)
	if err != nil || len(list) != 1 {
		p.t.Fatalf("the states are %+v, %v", list, err)
	}
	return list[0]
}

// change makes another version of the feed and pings the hub.
func (p *pushed) change(title string) {
	p.t.Helper()
	p.mu.Lock()
	p.title = title
	p.mu.Unlock()
	if _, err := p.hub.Ping(p.t.Context(), hub.Ping{URL: pushFeed, Door: "rest"}); err != nil {
		p.t.Fatal(err)
	}
	p.pass(2 * time.Second)
}

// callbacks are those that the hub tells.
func (p *pushed) callbacks() []string {
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

// TestReadersHearOfChangesByEveryProtocol follows a feed at a real hub, over the wire.
func TestReadersHearOfChangesByEveryProtocol(t *testing.T) {
	t.Parallel()
	const at = "http://" + pushHub
	cloud := func(path, wire, procedure string) river.Door {
		return river.Door{Protocol: upstream.RSSCloud, Hub: at + path, Wire: wire, Procedure: procedure}
	}
	for name, c := range map[string]struct {
		door     river.Door
		named    bool
		callback string // as the hub has it
		news     string
	}{
		"a form, with a domain":    {cloud("/rsscloud/pleaseNotify", "http-post", ""), true, "http-post http://me.test/notify/rsscloud", upstream.DoorRSSCloud},
		"a form, without":          {cloud("/rsscloud/pleaseNotify", "http-post", ""), false, "http-post http://ADDR/notify/rsscloud", upstream.DoorRSSCloud},
		"a URL alone":              {cloud("/rsscloud/pleaseNotify", "", ""), true, "http-post http://me.test/notify/rsscloud", upstream.DoorRSSCloud},
		"XML-RPC of 2009":          {cloud("/RPC2", "xml-rpc", "rssCloud.pleaseNotify"), true, "http-post http://me.test/notify/rsscloud", upstream.DoorRSSCloud},
		"XML-RPC of 2009, without": {cloud("/RPC2", "xml-rpc", "rssCloud.pleaseNotify"), false, "http-post http://ADDR/notify/rsscloud", upstream.DoorRSSCloud},
		"XML-RPC of 2003":          {cloud("/RPC2", "xml-rpc", "xmlStorageSystem.rssPleaseNotify"), false, "xml-rpc http://ADDR/notify/RPC2", upstream.DoorRSSCloud},
		"XML-RPC of 2003, a name":  {cloud("/RPC2", "xml-rpc", "xmlStorageSystem.rssPleaseNotify"), true, "xml-rpc http://ADDR/notify/RPC2", upstream.DoorRSSCloud},
		"SOAP of 2009":             {cloud("/soap", "soap", "pleaseNotify"), true, "http-post http://me.test/notify/rsscloud", upstream.DoorRSSCloud},
		"SOAP of 2003":             {cloud("/soap", "soap", "xmlStorageSystem.rssPleaseNotify"), false, "soap http://ADDR/notify/soap", upstream.DoorRSSCloud},
		"WebSub":                   {river.Door{Protocol: upstream.WebSub, Hub: at + "/websub"}, true, "websub http://me.test/notify/websub/", upstream.DoorWebSub},
		"CNWS":                     {river.Door{Protocol: upstream.CNWS, Hub: at + "/cnws"}, true, "cnws http://me.test/cnws", upstream.DoorCNWS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inPush(t, c.named, func(t *testing.T, p *pushed) {
				p.follow(c.door)
				p.pass(5 * time.Second)
				s := p.state()
				if s.State != upstream.Active || s.Since.IsZero() || s.Door != c.door || s.LastError != "" {
					t.Fatalf("it is %+v", s)
				}
				callback := strings.Replace(c.callback, "ADDR", p.me.String(), 1)
				if got := p.callbacks(); len(got) != 1 || !strings.HasPrefix(got[0], callback) {
					t.Errorf("the hub tells %v, want %s", got, callback)
				}
				if heard, _ := p.said(); len(heard) != 0 {
					t.Errorf("before there is news the river hears %q", heard)
				}
				p.change("two")
				if heard, docs := p.said(); !slices.Equal(heard, []string{c.news + " " + pushFeed}) || len(docs) != 0 {
					t.Errorf("the river hears %q, and gets %q", heard, docs)
				}
				p.follow(c.door) // nothing is new
				p.pass(time.Minute)
				if err := p.push.Leave(t.Context(), pushFeed); err != nil {
					t.Fatal(err)
				}
				p.pass(time.Minute)
				p.change("three")
				p.change("four")
				if heard, _ := p.said(); len(heard) != 0 {
					t.Errorf("afterwards the river hears %q", heard)
				}
				if got := p.callbacks(); len(got) != 0 && (c.news != upstream.DoorRSSCloud || strings.HasSuffix(c.door.Hub, "pleaseNotify")) {
					t.Errorf("afterwards the hub tells %v", got)
				}
				if len(p.pings) != 0 {
					t.Errorf("its own hub was told: %+v", p.pings)
				}
			})
		})
	}
}

func TestARegistrationHoldsForDays(t *testing.T) {
	t.Parallel()
	inPush(t, true, func(t *testing.T, p *pushed) {
		p.follow(river.Door{Protocol: upstream.RSSCloud, Hub: "http://" + pushHub + "/rsscloud/pleaseNotify", Wire: "http-post"})
		p.pass(5 * time.Second)
		since := p.state().Since
		for day := range 3 {
			p.pass(24 * time.Hour)
			p.change(fmt.Sprint("day ", day))
			if heard, _ := p.said(); len(heard) != 1 {
				t.Errorf("on day %d the river hears %q", day, heard)
			}
		}
		if s := p.state(); !s.Since.Equal(since) || !s.Until.After(time.Now()) || s.HeardAt.IsZero() {
			t.Errorf("it is %+v", s)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		asked := len(slices.DeleteFunc(slices.Clone(p.posts), func(s string) bool { return s != "GET /notify/rsscloud" }))
		if asked != 3 && asked != 4 {
			t.Errorf("in three days it was challenged %d times", asked)
		}
	})
}

func TestSignedContentGoesToTheRiverAsItCame(t *testing.T) {
	t.Parallel()
	inPush(t, true, func(t *testing.T, p *pushed) {
		p.follow(river.Door{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"})
		p.pass(5 * time.Second)
		p.change("two")
		heard, docs := p.said()
		if len(heard) != 0 || len(docs) != 1 {
			t.Fatalf("the river hears %q, and gets %q", heard, docs)
		}
		for _, want := range []string{upstream.DoorWebSub + "\n" + pushFeed + "\napplication/rss+xml\n", "<" + pushFeed + `>; rel="self"`, "<item><title>two</title></item>"} {
			if !strings.Contains(docs[0], want) {
				t.Errorf("it gets %q, without %q", docs[0], want)
			}
		}
		if p.reads["hub"] == 0 || len(p.reads) != 1 {
			t.Errorf("the feed was read by %v", p.reads)
		}
	})
}

func TestContentIsTakenFromTheHubAndNobodyElse(t *testing.T) {
	t.Parallel()
	inPush(t, true, func(t *testing.T, p *pushed) {
		p.follow(river.Door{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"})
		p.pass(5 * time.Second)
		f, err := p.engine.Get(t.Context(), pushFeed, upstream.WebSub)
		if err != nil || f.Secret == "" {
			t.Fatalf("%+v, %v", f, err)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: p.net.Dial, DisableKeepAlives: true}}
		send := func(token, signature, body string) int {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.public+"/notify/websub/"+token, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/rss+xml")
			if signature != "" {
				r.Header.Set(websub.SignatureHeader, signature)
			}
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body) // its status counts
			return res.StatusCode
		}
		sign := func(secret, body string) string {
			s, err := websub.Sign(websub.SHA256, secret, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for what, signature := range map[string]string{"none": "", "another's": sign("x", "<rss/>"), "of other content": sign(f.Secret, "<RSS/>"), "nonsense": "sha256=zz"} {
			if got := send(f.Token, signature, "<rss/>"); got < 200 || got > 299 {
				t.Errorf("a signature that is %s is answered %d", what, got)
			}
		}
		if heard, docs := p.said(); len(heard)+len(docs) != 0 {
			t.Errorf("the river hears %q, and gets %q", heard, docs)
		}
		p.pass(2 * time.Minute)
		send(f.Token, "", "<rss/>")
		if s := p.state(); s.Rejected != 5 || s.State != upstream.Active {
			t.Errorf("it is %+v", s)
		}
		p.mu.Lock()
		p.failed = fault.New(fault.Unavailable, "The database is away.")
		p.mu.Unlock()
		if got := send(f.Token, sign(f.Secret, "<rss/>"), "<rss/>"); got != http.StatusServiceUnavailable {
			t.Errorf("what cannot be kept is answered %d", got)
		}
		p.mu.Lock()
		p.failed = nil
		p.mu.Unlock()
		if got := send(f.Token, sign(f.Secret, "<rss/>"), "<rss/>"); got < 200 || got > 299 {
			t.Errorf("what is signed is answered %d", got)
		}
		if got := send(f.Token, sign(f.Secret, ""), ""); got < 200 || got > 299 {
			t.Errorf("news without content is answered %d", got)
		}
		if heard, docs := p.said(); len(heard) != 1 || len(docs) != 1 {
			t.Errorf("the river hears %q, and gets %q", heard, docs)
		}
		if got := send("nobody", "", "<rss/>"); got != http.StatusGone {
			t.Errorf("an address of nobody's is answered %d", got)
		}
	})
}

func TestAllDoorsAreAskedButOurOwn(t *testing.T) {
	t.Parallel()
	const at = "http://" + pushHub
	inPush(t, true, func(t *testing.T, p *pushed) {
		web, second := river.Door{Protocol: upstream.WebSub, Hub: at + "/websub"}, river.Door{Protocol: upstream.WebSub, Hub: "http://second.test/hub"}
		cloud := river.Door{Protocol: upstream.RSSCloud, Hub: at + "/rsscloud/pleaseNotify", Wire: "http-post"}
		own := river.Door{Protocol: upstream.WebSub, Hub: p.public + "/websub"}
		bad := river.Door{Protocol: "smoke", Hub: "http://fire.test/"}
		p.follow(own, web, second, cloud, bad)
		p.pass(5 * time.Second)
		list, err := p.push.State(t.Context(), pushFeed)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintln(s.Hub, s.State, s.Own, !s.Since.IsZero()))
		}
		want := []string{
			fmt.Sprintln(own.Hub, "active", true, true), fmt.Sprintln(web.Hub, "active", false, true),
			fmt.Sprintln(second.Hub, "spare", false, false), fmt.Sprintln(cloud.Hub, "active", false, true),
		}
		if !slices.Equal(got, want) {
			t.Errorf("states:\n%s", strings.Join(got, ""))
		}
		p.change("two")
		heard, _ := p.said()
		slices.Sort(heard)
		if !slices.Equal(heard, []string{upstream.DoorRSSCloud + " " + pushFeed, upstream.DoorWebSub + " " + pushFeed}) {
			t.Errorf("the river hears %q", heard)
		}
		p.follow(second, web) // the one that tells is kept, the cloud is left
		p.pass(time.Minute)
		if got := p.callbacks(); len(got) != 1 || !strings.HasPrefix(got[0], "websub ") {
			t.Errorf("the hub tells %v", got)
		}
		p.follow()
		p.pass(time.Minute)
		if got := p.callbacks(); len(got) != 0 {
			t.Errorf("the hub tells %v", got)
		}
	})
}

func TestWhatReadersAndSubscribersWantIsToldToBothOnce(t *testing.T) {
	t.Parallel()
	inPush(t, true, func(t *testing.T, p *pushed) {
		door := river.Door{Protocol: upstream.WebSub, Hub: "https://" + pushHub + "/websub"}
		p.follow(door)
		d := upstream.Door(door)
		if _, err := p.engine.Add(t.Context(), upstream.Request{Feed: pushFeed, For: upstream.Relay, Door: &d, Topic: pushFeed}); err != nil {
			t.Fatal(err)
		}
		p.pass(5 * time.Second)
		p.change("two")
		if _, docs := p.said(); len(docs) != 1 {
			t.Errorf("the river gets %q", docs)
		}
		if len(p.pings) != 1 || p.pings[0].URL != pushFeed || !p.pings[0].Told || p.pings[0].Hops != 1 {
			t.Errorf("its hub is told %+v", p.pings)
		}
		if err := p.push.Leave(t.Context(), pushFeed); err != nil {
			t.Fatal(err)
		}
		p.change("three")
		if heard, docs := p.said(); len(heard)+len(docs) != 0 {
			t.Errorf("who left hears %q, and gets %q", heard, docs)
		}
		if len(p.pings) != 2 || p.pings[1].Told {
			t.Errorf("its hub is told %+v", p.pings)
		}
	})
}

func TestAHubThatWasNamedByHandStays(t *testing.T) {
	t.Parallel()
	inPush(t, true, func(t *testing.T, p *pushed) {
		p.mu.Lock()
		p.doors = []river.Door{}
		p.mu.Unlock()
		_, err := p.engine.Add(t.Context(), upstream.Request{Feed: pushFeed, Via: upstream.CNWS, Hub: "http://" + pushHub + "/cnws", For: upstream.Reader})
		if err != nil {
			t.Fatal(err)
		}
		p.pass(5 * time.Second)
		p.follow(river.Door{Protocol: upstream.CNWS, Hub: "http://elsewhere.test/"})
		p.follow([]river.Door{}...)
		if s := p.state(); s.Hub != "http://"+pushHub+"/cnws" || s.State != upstream.Active {
			t.Errorf("it is %+v", s)
		}
		p.change("two")
		if heard, _ := p.said(); !slices.Equal(heard, []string{upstream.DoorCNWS + " " + pushFeed}) {
			t.Errorf("the river hears %q", heard)
		}
	})
}
