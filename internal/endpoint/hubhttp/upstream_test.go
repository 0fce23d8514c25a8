package hubhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/route"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

// playedHub is a hub of all protocols on one server. The test determines its responses.
type playedHub struct {
	*httptest.Server
	mu     sync.Mutex
	refuse bool
	status int // if not 0: the status of every response
	clouds []rsscloud.Registration
	cancel []rsscloud.Registration
	web    []websub.Subscription
	ended  []websub.Subscription
	cnws   []cnws.Subscribe
}

func newPlayedHub(t *testing.T) *playedHub {
	t.Helper()
	h := &playedHub{}
	mux := http.NewServeMux()
	for _, path := range rsscloud.Endpoints() {
		mux.Handle(path, &rsscloud.Handler{Backend: playedCloud{h}})
	}
	mux.Handle("/hub", &websub.Handler{Backend: playedWebSub{h}})
	mux.Handle("/cnws", &cnws.Handler{Publisher: playedCNWS{h}})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Hello</html>") })
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		status := h.status
		h.mu.Unlock()
		if status != 0 {
			w.Header().Set("Retry-After", "90")
			http.Error(w, "Not\x00 now,\n"+strings.Repeat("x", 2000), status)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *playedHub) no() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.refuse }

type playedCloud struct{ *playedHub }

func (c playedCloud) Ping(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
	return rsscloud.Result{}, nil
}

func (c playedCloud) PleaseNotify(_ context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	c.clouds = append(c.clouds, g)
	return rsscloud.Result{Success: !c.no(), Msg: "Not\nyours."}, nil
}

func (c playedCloud) Cancel(_ context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	c.cancel = append(c.cancel, g)
	return rsscloud.Result{Success: true}, nil
}

type playedWebSub struct{ *playedHub }

func (b playedWebSub) Subscribe(_ context.Context, s websub.Subscription) error {
	b.web = append(b.web, s)
	if b.no() {
		return &websub.Error{Status: http.StatusForbidden, Msg: "Not yours."}
	}
	return nil
}

func (b playedWebSub) Unsubscribe(_ context.Context, s websub.Subscription) error {
	b.ended = append(b.ended, s)
	return nil
}

func (b playedWebSub) Publish(_ context.Context, urls []string) []error {
	return make([]error, len(urls))
}

type playedCNWS struct{ *playedHub }

func (p playedCNWS) Subscribe(_ context.Context, s cnws.Subscribe) (cnws.Result, error) {
	p.cnws = append(p.cnws, s)
	return cnws.Result{Status: !p.no(), Description: "Not yours."}, nil
}

// asking returns an UpstreamClient that may connect to loopback addresses.
func asking(t *testing.T, public string) *UpstreamClient {
	t.Helper()
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	d := fetch.NewDoer(fetch.DoerOptions{Guard: &fetch.Guard{Allow: loop, Callback: true}})
	c := fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: loop}, Bucket: -1})
	t.Cleanup(func() { d.CloseIdle(); c.CloseIdle() })
	return &UpstreamClient{Feeds: c, HTTP: d, UserAgent: "Test/1", PublicURL: func() string { return public }}
}

func follow(protocol, hub string) upstream.Follow {
	return upstream.Follow{Protocol: protocol, Feed: feed, Topic: feed, Hub: hub, Wire: rsscloud.HTTPPost, Token: "token", Secret: "secret"}
}

func TestSubscriptionRequestIsSentByTheProtocolOfTheHub(t *testing.T) {
	t.Parallel()
	h := newPlayedHub(t)
	u := asking(t, "https://me.example:8443/at")
	ctx := t.Context()
	for protocol, target := range map[string]string{upstream.RSSCloud: "/rsscloud/pleaseNotify", upstream.WebSub: "/hub", upstream.CNWS: "/cnws"} {
		f := follow(protocol, h.URL+target)
		a, err := u.Ask(ctx, f)
		if err != nil || a.Confirmed != (protocol != upstream.WebSub) {
			t.Errorf("%s: %+v, %v", protocol, a, err)
		}
		h.mu.Lock()
		h.refuse = true
		h.mu.Unlock()
		if _, err := u.Ask(ctx, f); fault.CodeOf(err) != fault.Refused || !strings.Contains(err.Error(), "Not yours.") {
			t.Errorf("%s, refused: %v", protocol, err)
		}
		h.mu.Lock()
		h.refuse = false
		h.mu.Unlock()
		if err := u.End(ctx, f); protocol == upstream.CNWS != (fault.CodeOf(err) == fault.Unsupported && err != nil) {
			t.Errorf("%s, ended: %v", protocol, err)
		}
	}
	cloud := rsscloud.Registration{Port: 8443, Path: "/at/notify/rsscloud", Protocol: rsscloud.HTTPSPost, URLs: []string{feed}, Domain: "me.example"}
	if d := cmp.Diff([]rsscloud.Registration{cloud, cloud}, h.clouds); d != "" {
		t.Errorf("registrations (- want, + got):\n%s", d)
	}
	if d := cmp.Diff([]rsscloud.Registration{cloud}, h.cancel); d != "" {
		t.Errorf("cancellations (- want, + got):\n%s", d)
	}
	web := websub.Subscription{Callback: "https://me.example:8443/at/notify/websub/token", Topic: feed, Secret: "secret"}
	if d := cmp.Diff([]websub.Subscription{web, web}, h.web); d != "" {
		t.Errorf("subscriptions (- want, + got):\n%s", d)
	}
	if len(h.ended) != 1 || h.ended[0].Callback != web.Callback {
		t.Errorf("ended: %+v", h.ended)
	}
	if want := (cnws.Subscribe{ResourceID: feed, NotificationURL: "https://me.example:8443/at/cnws"}); len(h.cnws) != 2 || h.cnws[0] != want {
		t.Errorf("CNWS: %+v", h.cnws)
	}
}

func TestRegistrationOmitsDomainIfThePublicURLIsNotADomain(t *testing.T) {
	t.Parallel()
	for public, domain := range map[string]string{
		"http://localhost:5337": "", "http://127.0.0.1:5337": "", "http://192.0.2.1:5337": "", "http://[::1]:5337": "",
		"http://hub.example": "hub.example", "https://192.0.2.1": "192.0.2.1", "https://hub.example": "hub.example",
	} {
		h := newPlayedHub(t)
		if _, err := asking(t, public).Ask(t.Context(), follow(upstream.RSSCloud, h.URL+"/pleaseNotify")); err != nil {
			t.Errorf("%s: %v", public, err)
			continue
		}
		if got := h.clouds[0]; got.Domain != domain || got.Path != "/notify/rsscloud" {
			t.Errorf("%s: %+v", public, got)
		}
	}
}

func TestResponsesOfUpstreamHubsAreMappedToErrors(t *testing.T) {
	t.Parallel()
	h := newPlayedHub(t)
	u := asking(t, "http://me.example")
	paths := map[string]string{upstream.RSSCloud: "/rsscloud/pleaseNotify", upstream.WebSub: "/hub", upstream.CNWS: "/cnws"}
	for status, want := range map[int]fault.Code{
		410: fault.Gone, 429: fault.TooMany, 503: fault.Unavailable, 500: fault.Unreadable, 404: fault.Unreadable,
	} {
		h.mu.Lock()
		h.status = status
		h.mu.Unlock()
		for protocol, target := range paths {
			_, err := u.Ask(t.Context(), follow(protocol, h.URL+target))
			if fault.CodeOf(err) != want {
				t.Errorf("%s, %d: %v", protocol, status, err)
			}
			if msg := fault.Message(err); len(msg) > 600 || strings.ContainsAny(msg, "\n\x00") {
				t.Errorf("%s, %d: the message is %q", protocol, status, msg)
			}
			if want == fault.TooMany && fault.RetryAfter(err) != 90*time.Second {
				t.Errorf("%s: RetryAfter %s", protocol, fault.RetryAfter(err))
			}
		}
	}
	h.mu.Lock()
	h.status = 0
	h.mu.Unlock()
	for _, protocol := range []string{upstream.RSSCloud, upstream.CNWS} {
		if _, err := u.Ask(t.Context(), follow(protocol, h.URL+"/page")); fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("%s, a page: %v", protocol, err)
		}
	}
	h.Close()
	for protocol, target := range paths {
		if _, err := u.Ask(t.Context(), follow(protocol, h.URL+target)); fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("%s, no server: %v", protocol, err)
		}
		if _, err := u.Ask(t.Context(), follow(protocol, "http://10.0.0.1"+target)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%s, a private address: %v", protocol, err)
		}
	}
}

func TestHubsAreDiscoveredInFeedsOfEveryFormat(t *testing.T) {
	t.Parallel()
	const cloud = `<cloud domain="cloud.example" port="5337" path="/pleaseNotify" registerProcedure="" protocol="http-post"/>`
	web := func(hub string) upstream.Endpoint { return upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub} }
	rest := func(hub string) upstream.Endpoint {
		return upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: hub, Wire: rsscloud.HTTPPost}
	}
	for name, c := range map[string]struct {
		body, kind, link string
		topic            string
		paths            []upstream.Endpoint
	}{
		"RSS": {body: `<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom"><channel>` + cloud + `<a:link rel="hub" href="https://hub.example/"/><a:link rel="self" href="http://feeds.example/self.xml"/></channel></rss>`,
			topic: "http://feeds.example/self.xml", paths: []upstream.Endpoint{web("https://hub.example/"), rest("http://cloud.example:5337/pleaseNotify")}},
		"RSS of 2003": {body: `<rss version="2.0"><channel><cloud domain="" port="80" path="RPC2" registerProcedure="xmlStorageSystem.rssPleaseNotify" protocol="xml-rpc"/></channel></rss>`,
			topic: feed, paths: []upstream.Endpoint{{Protocol: upstream.RSSCloud, Hub: "http://feeds.example/RPC2", Wire: rsscloud.XMLRPC, Procedure: "xmlStorageSystem.rssPleaseNotify"}}},
		"headers override links": {body: `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://inner.example/"/></feed>`, link: `<https://outer.example/>; rel="hub", <http://feeds.example/outer>; rel="self"`,
			topic: "http://feeds.example/outer", paths: []upstream.Endpoint{web("https://outer.example/")}},
		"JSON": {body: `{"version":"https://jsonfeed.org/version/1.1","feed_url":"http://feeds.example/j","hubs":[{"type":"WebSub","url":"https://hub.example/"},{"type":"rssCloud","url":"http://cloud.example/"}],"items":[]}`, kind: "application/feed+json",
			topic: "http://feeds.example/j", paths: []upstream.Endpoint{web("https://hub.example/"), rest("http://cloud.example/rsscloud/pleaseNotify")}},
		"HTML page":        {body: `<!DOCTYPE html><html><head><link rel="hub" href="/hub"></head></html>`, kind: "text/html", topic: feed, paths: []upstream.Endpoint{web("http://feeds.example/hub")}},
		"nothing":          {body: `<rss version="2.0"><channel/></rss>`, topic: feed},
		"invalid hub URLs": {body: `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="ftp://x/"/><link rel="hub" href="http://u:p@x/"/></feed>`, topic: feed},
		"not a feed":       {body: "\x00\xff", topic: feed},
	} {
		header := http.Header{"Content-Type": {c.kind}}
		if c.link != "" {
			header.Set("Link", c.link)
		}
		got := found([]byte(c.body), feed, header)
		if d := cmp.Diff(upstream.Found{Topic: c.topic, Endpoints: c.paths}, got); d != "" {
			t.Errorf("%s (- want, + got):\n%s", name, d)
		}
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `<link rel="hub" href="http://hub%d.example/"/>`, i)
	}
	if n := len(found([]byte(`<feed xmlns="http://www.w3.org/2005/Atom">`+many.String()+`</feed>`), feed, http.Header{}).Endpoints); n > maxHubs {
		t.Errorf("%d hubs are kept", n)
	}
}

func TestNoHubsAreDiscoveredInUnreadableFeed(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	u := asking(t, "http://me.example")
	if _, err := u.Discover(t.Context(), srv.URL); fault.CodeOf(err) != fault.Unreadable || !strings.Contains(err.Error(), "404") {
		t.Errorf("404: %v", err)
	}
	if _, err := u.Discover(t.Context(), "http://10.0.0.1/"); fault.CodeOf(err) != fault.Refused {
		t.Errorf("a private address: %v", err)
	}
}

func TestDefaultPathIsAddedToHubURLOfTheUser(t *testing.T) {
	t.Parallel()
	u := asking(t, "http://me.example")
	for in, want := range map[[2]string]string{
		{upstream.RSSCloud, "https://hub.example"}:               "https://hub.example/rsscloud/pleaseNotify",
		{upstream.RSSCloud, "http://hub.example:5337/"}:          "http://hub.example:5337/rsscloud/pleaseNotify",
		{upstream.RSSCloud, "https://hub.example:8443/notifyMe"}: "https://hub.example:8443/notifyMe",
		{upstream.RSSCloud, "ftp://hub.example"}:                 "",
		{upstream.WebSub, "https://hub.example"}:                 "https://hub.example",
		{upstream.WebSub, "https://u:p@hub.example"}:             "",
		{upstream.CNWS, "https://hub.example/x"}:                 "https://hub.example/x",
	} {
		d, err := u.Endpoint(in[0], in[1])
		if d.Hub != want || (err == nil) != (want != "") {
			t.Errorf("%v: %+v, %v", in, d, err)
		}
	}
}

// playedEngine is an Engine that records its calls.
type playedEngine struct {
	mu       sync.Mutex
	received []string
	err      error
}

func (e *playedEngine) record(what string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.received = append(e.received, what)
	return e.err
}

func (e *playedEngine) Receive(_ context.Context, topic, protocol string, source netip.Addr, hops int) (bool, error) {
	err := e.record(fmt.Sprintln("received", topic, protocol, source, hops))
	return topic == feed, err
}

func (e *playedEngine) Wants(_ context.Context, topic, _ string) (bool, error) {
	return topic == feed && e.err == nil, e.err
}

func (e *playedEngine) Callback(_ context.Context, token string) (upstream.Follow, error) {
	if token != "token" {
		return upstream.Follow{}, fault.New(fault.NotFound, "Nobody's.")
	}
	if e.err != nil && fault.CodeOf(e.err) == fault.Unavailable {
		return upstream.Follow{}, e.err
	}
	return follow(upstream.WebSub, ""), nil
}

func (e *playedEngine) Confirm(_ context.Context, token, topic string, subscribe bool, lease time.Duration) (bool, error) {
	err := e.record(fmt.Sprintln("confirm", token, topic, subscribe, lease))
	return topic == feed && token == "token", err
}

func (e *playedEngine) Denied(_ context.Context, token, topic, reason string) error {
	return e.record(fmt.Sprintln("denied", token, topic, reason))
}

func (e *playedEngine) Delivered(_ context.Context, token string, source netip.Addr, hops int, c upstream.Content) error {
	return e.record(fmt.Sprintln("delivered", token, source, hops, string(c.Body), c.Signed, c.Header.Get("Content-Type"), c.Header.Get("Link")))
}

func (e *playedEngine) Rejected(_ context.Context, token string) error {
	return e.record(fmt.Sprintln("rejected", token))
}

// take returns the calls since the last call of take.
func (e *playedEngine) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.received)
	e.received = nil
	return strings.TrimSpace(strings.Join(all, ""))
}

func notified(t *testing.T, e Engine) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	route.Mount(mux, (&NotifyEndpoints{Engine: e, Log: logTo(t)}).Routes(), nil)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestRSSCloudNotificationsAreReceivedInEveryProtocol(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	c := &rsscloud.Client{}
	callback := srv.URL + "/notify/rsscloud"
	for _, protocol := range []string{rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP} {
		if err := c.Notify(t.Context(), protocol, callback, "rssCloud.notify", feed, 2); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		if got := e.take(); got != "received "+feed+" rsscloud 127.0.0.1 2" {
			t.Errorf("%s: %s", protocol, got)
		}
		err := c.Notify(t.Context(), protocol, callback, "rssCloud.notify", "http://other.example/", 2)
		if err == nil || !strings.Contains(err.Error(), "410") {
			t.Errorf("%s, a feed that is not wanted: %v", protocol, err)
		}
		e.err = fault.New(fault.Unavailable, "The store is away.")
		for _, u := range []string{feed, "http://other.example/"} {
			if err := c.Notify(t.Context(), protocol, callback, "rssCloud.notify", u, 2); err == nil || !strings.Contains(err.Error(), "503") {
				t.Errorf("%s, while the store is away: %v", protocol, err)
			}
		}
		e.err = nil
		e.take()
	}
	if err := c.Challenge(t.Context(), callback, feed); err != nil {
		t.Errorf("a challenge: %v", err)
	}
	if err := c.Challenge(t.Context(), callback, "http://other.example/"); err == nil {
		t.Error("a challenge for another feed is met")
	}
	if got := e.take(); got != "" {
		t.Errorf("challenges are no news: %s", got)
	}
}

func TestWebSubNotificationsAreReceived(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	signed, err := websub.Sign(websub.SHA256, "secret", []byte("<rss/>"))
	if err != nil {
		t.Fatal(err)
	}
	unwell := fault.New(fault.Unavailable, "The store is away.")
	ask := func(token string, v websub.Verification) string {
		return strings.TrimPrefix(websub.VerifyURL(srv.URL+"/notify/websub/"+token, v), srv.URL)
	}
	sub := websub.Verification{Mode: websub.ModeSubscribe, Topic: feed, Challenge: "abc", Lease: 300 * time.Second}
	other := websub.Verification{Mode: websub.ModeUnsubscribe, Topic: "http://other.example/", Challenge: "abc"}
	denied := websub.Verification{Mode: websub.ModeDenied, Topic: feed, Reason: "No."}
	for name, c := range map[string]struct {
		method, path, signature string
		err                     error
		status                  int
		received                string
	}{
		"verification request":                   {method: "GET", path: ask("token", sub), status: 200, received: "confirm token " + feed + " true 5m0s"},
		"verification request for another topic": {method: "GET", path: ask("token", other), status: 404, received: "confirm token http://other.example/ false 0s"},
		"denial":                                 {method: "GET", path: ask("token", denied), status: 200, received: "denied token " + feed + " No."},
		"content":                                {method: "POST", path: "/notify/websub/token", signature: signed, status: 202, received: "delivered token 127.0.0.1 1 <rss/> true application/rss+xml <http://feeds.example/rss.xml>; rel=\"self\""},
		"unsigned":                               {method: "POST", path: "/notify/websub/token", status: 202, received: "rejected token"},
		"wrong signature":                        {method: "POST", path: "/notify/websub/token", signature: "sha256=00", status: 202, received: "rejected token"},
		"unknown token":                          {method: "POST", path: "/notify/websub/other", signature: signed, status: 410},
		"without a token":                        {method: "POST", path: "/notify/websub/", signature: signed, status: 404},
		"a verification request, store unavailable": {method: "GET", path: ask("token", sub), err: unwell, status: 503, received: "confirm token " + feed + " true 5m0s"},
		"content, store unavailable":                {method: "POST", path: "/notify/websub/token", signature: signed, err: unwell, status: 503},
		"content, retry later": {method: "POST", path: "/notify/websub/token", signature: signed, err: fault.New(fault.TooMany, "Slowly."), status: 503,
			received: "delivered token 127.0.0.1 1 <rss/> true application/rss+xml <http://feeds.example/rss.xml>; rel=\"self\""},
	} {
		e.err = c.err
		r, err := http.NewRequestWithContext(t.Context(), c.method, srv.URL+c.path, strings.NewReader("<rss/>"))
		if err != nil {
			t.Fatal(err)
		}
		if c.signature != "" {
			r.Header.Set(websub.SignatureHeader, c.signature)
		}
		r.Header.Set(rsscloud.HopsHeader, "1")
		r.Header.Set("Content-Type", "application/rss+xml")
		r.Header.Set("Link", "<"+feed+`>; rel="self"`)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := e.take(); res.StatusCode != c.status || got != c.received {
			t.Errorf("%s: %d, %s", name, res.StatusCode, got)
		}
	}
}
