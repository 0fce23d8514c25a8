package app_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
	"cloudburst/internal/route"
	"cloudburst/internal/store"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/cnws"
)

// bubble connects the components as the program does, but with an in-memory network and simulated
// time.
type bubble struct {
	t    *testing.T
	dir  string
	net  *nettest.Internet
	stop func() // stops the program gracefully; start resumes it

	hub    *hub.Hub
	follow *upstream.Engine

	mu     sync.Mutex
	quiet  bool   // true: the hub does not run, which makes a simulation of many days faster
	title  string // title of the feed's newest item
	came   []moment
	answer string // answer of the other program: true or false
}

// moment is a message that the other program received.
type moment struct {
	at  time.Time
	doc cnws.Document
}

const (
	bubbleHub   = "http://hub.example"
	bubbleFeed  = "http://feed.example/rss.xml"
	bubbleOther = "http://other.example/cnws"

	bubbleSilence = 2 * 24 * time.Hour
)

func inBubble(t *testing.T, quiet bool, do func(t *testing.T, b *bubble)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, dir: dir, net: &nettest.Internet{Latency: 10 * time.Millisecond}, title: "one", answer: "true", quiet: quiet}
		defer b.serve("feed.example:80", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			b.mu.Lock()
			defer b.mu.Unlock()
			w.Header().Set("Content-Type", "text/xml")
			_, _ = io.WriteString(w, rssWith(b.title).body)
		}))()
		b.start()
		defer func() { b.stop() }()
		do(t, b)
	})
}

// serve serves HTTP at address until stop is called.
func (b *bubble) serve(address string, h http.Handler) (stop func()) {
	b.t.Helper()
	l, err := b.net.Listen(address)
	if err != nil {
		b.t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = srv.Serve(l) }() // Serve returns when stop closes the server
	return func() { srv.Close(); <-ended }
}

// startOther starts the other program; stop ends it.
func (b *bubble) startOther() (stop func()) {
	return b.serve("other.example:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		doc, err := cnws.Parse(r.Body)
		if err != nil {
			b.t.Error(err)
		}
		b.mu.Lock()
		b.came = append(b.came, moment{time.Now(), doc})
		answer := b.answer
		b.mu.Unlock()
		cnwsAnswer(w, answer)
	}))
}

// start opens the store and starts the components.
func (b *bubble) start() {
	b.t.Helper()
	log := slog.New(slog.NewTextHandler(b.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	st, err := store.Open(b.t.Context(), store.Options{Dir: sqlitetest.Fill(b.t, b.dir), Log: log})
	if err != nil {
		b.t.Fatal(err)
	}
	b.net.Host("hub.example")
	dial := b.net.Dialer(netip.MustParseAddr("50.9.9.9"), nil)
	reads, sends := fetch.New(fetch.Options{Dial: dial}), fetch.NewSender(fetch.SenderOptions{Dial: dial})
	passesLimit := fetch.NewDoer(fetch.DoerOptions{Dial: dial})
	b.hub = &hub.Hub{
		Store: st, Bus: event.NewBus(1), Log: log, Fetch: &hubhttp.Fetcher{Client: reads}, Notify: &hubhttp.Notifier{Sender: sends},
		Verify: &hubhttp.Verifier{Sender: sends}, Ask: &hubhttp.Asker{Sender: sends}, Options: hub.Options{IsOwnURL: func(u string) bool { return hubhttp.IsOwnEndpoint(u, bubbleHub) }},
	}
	public := func() string { return bubbleHub }
	b.follow = &upstream.Engine{
		Store: st, Bus: b.hub.Bus, Log: log, PublicURL: public,
		Ask: &hubhttp.UpstreamClient{Feeds: reads, HTTP: passesLimit, PublicURL: public},
		// The default of 30 days would make this test slow. The tests of package upstream check
		// the default.
		Options: upstream.Options{Away: time.Hour, Silence: bubbleSilence},
		Signal: func(ctx context.Context, s upstream.Signal) error {
			if b.quiet {
				return nil
			}
			_, err := b.hub.Ping(ctx, hub.Ping{URL: s.URL, Via: s.Via, Source: s.Source})
			return err
		},
	}
	mux := http.NewServeMux()
	route.Mount(mux, (&hubhttp.Endpoints{Hub: b.hub, Changes: st, PublicURL: bubbleHub, Upstream: b.follow, Log: log}).Routes(), nil)
	closed := b.serve("hub.example:80", mux)
	if err := b.hub.Recover(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	runs := []func(context.Context) error{b.follow.Run, b.hub.Run}
	if b.quiet {
		runs = runs[:1]
	}
	for _, run := range runs {
		group.Go(func() {
			if err := run(ctx); err != nil {
				b.t.Error(err)
			}
		})
	}
	b.stop = sync.OnceFunc(func() {
		closed()
		cancel()
		group.Wait()
		reads.CloseIdle()
		passesLimit.CloseIdle()
		sends.Close()
		if err := st.Close(); err != nil {
			b.t.Error(err)
		}
	})
}

// advance lets the simulated time d pass, and then waits until all goroutines are idle.
func (b *bubble) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// sendCNWS posts a message to the CNWS endpoint of the program and returns the result.
func (b *bubble) sendCNWS(message string) cnws.Result {
	b.t.Helper()
	tr := &http.Transport{DialContext: b.net.Dial, DisableKeepAlives: true}
	res, err := (&http.Client{Transport: tr}).Post(bubbleHub+"/cnws", "text/xml", strings.NewReader(cnwsHead+message+"</notification>"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := cnws.ParseResult(res.Header.Get("Content-Type"), body)
	if err != nil {
		b.t.Fatalf("%s: %v", body, err)
	}
	return r
}

// change publishes a new version of the feed and sends a ping for it.
func (b *bubble) change(title string) {
	b.t.Helper()
	b.mu.Lock()
	b.title = title
	b.mu.Unlock()
	if got, err := b.hub.Ping(b.t.Context(), hub.Ping{URL: bubbleFeed, Via: "rest"}); err != nil || !got.Changed {
		b.t.Fatalf("ping: %+v, %v", got, err)
	}
}

func (b *bubble) received() []moment {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]moment(nil), b.came...)
}

func (b *bubble) listed() bool {
	b.t.Helper()
	n, err := b.hub.Store.Subscribers(b.t.Context(), hub.TopicID(bubbleFeed), time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	return n[hub.CNWS] == 1
}

func TestUnreachableSubscriberIsRemovedAfterADay(t *testing.T) {
	t.Parallel()
	inBubble(t, false, func(t *testing.T, b *bubble) {
		stop := b.startOther()
		if r := b.sendCNWS(subscribeTo(bubbleFeed, bubbleOther)); !r.Status {
			t.Fatalf("subscribe: %+v", r)
		}
		b.change("two")
		b.advance(time.Second)
		if got := b.received(); len(got) != 2 || got[1].doc.Change == nil || got[1].doc.Change.Title != "two" {
			t.Fatalf("received %+v", got)
		}
		stop()
		b.change("three")
		b.advance(time.Hour)
		stop = b.startOther() // the other program runs again before its subscription ends
		b.advance(90 * time.Minute)
		if got := b.received(); len(got) != 3 || got[2].doc.Change.Title != "three" || !b.listed() {
			t.Fatalf("received %+v after its return", got)
		}
		stop()
		dials := b.net.Dials()
		b.change("four")
		b.advance(24*time.Hour - time.Minute)
		if !b.listed() {
			t.Fatal("removed before a day was over")
		}
		b.advance(10 * time.Minute)
		if b.listed() {
			t.Error("still on the list after the last try")
		}
		if n := b.net.Dials() - dials; n < 20 {
			t.Errorf("tried %d times", n)
		}
		defer b.startOther()()
		b.advance(time.Hour)
		if n := len(b.received()); n != 3 {
			t.Errorf("%d notifications", n)
		}
	})
}

func TestCNWSSubscriptionIsRenewedAfterSilenceAndAfterAnOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, true, func(t *testing.T, b *bubble) {
		stop := b.startOther()
		defer func() { stop() }()
		if _, err := b.follow.Add(t.Context(), upstream.Request{Feed: bubbleFeed, Via: upstream.CNWS, Hub: bubbleOther, For: "test"}); err != nil {
			t.Fatal(err)
		}
		b.advance(time.Minute)
		first := b.received()
		if len(first) != 1 || first[0].doc.Subscribe == nil || first[0].doc.Subscribe.ResourceID != bubbleFeed {
			t.Fatalf("received %+v", first)
		}
		b.advance(24 * time.Hour)
		if r := b.sendCNWS(changeOf(bubbleFeed)); !r.Status {
			t.Errorf("the change is not wanted: %+v", r)
		}
		spoke := time.Now()
		b.advance(bubbleSilence - 10*time.Minute)
		if n := len(b.received()); n != 1 {
			t.Fatalf("%d requests before the silence", n)
		}
		b.advance(time.Hour)
		got := b.received()
		if len(got) != 2 || got[1].doc.Subscribe == nil || got[1].at.Sub(spoke) < bubbleSilence-time.Minute {
			t.Fatalf("received %+v after the silence", got)
		}
		b.stop()
		b.advance(8 * time.Hour)
		b.start()
		b.advance(10 * time.Minute)
		if got := b.received(); len(got) != 3 || got[2].doc.Subscribe == nil {
			t.Errorf("received %+v after an outage of eight hours", got)
		}
	})
}
