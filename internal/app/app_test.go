package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// running is the whole program on a free port, with its own data folder.
type running struct {
	t           *testing.T
	app         *app.App
	base, admin string
	out         *bytes.Buffer
	stop        func() error
}

func conf(t *testing.T, dir string) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Admin.Listen, cfg.Data = "127.0.0.1:0", "127.0.0.1:0", dir
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.Egress.AllowFetch, cfg.Egress.AllowCallback = loop, loop
	return cfg
}

func start(t *testing.T, cfg config.Config) *running {
	t.Helper()
	return startWith(t, cfg, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
}

func startWith(t *testing.T, cfg config.Config, log *slog.Logger) *running {
	t.Helper()
	if cfg.Database == "" {
		sqlitetest.Fill(t, cfg.Data)
	}
	a, err := app.Open(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, cfg, a)
}

// run runs a program until the test ends.
func run(t *testing.T, cfg config.Config, a *app.App) *running {
	t.Helper()
	r := &running{t: t, app: a, out: &bytes.Buffer{}}
	a.Out = r.out
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		if cerr := a.Close(); err == nil {
			err = cerr
		}
		return err
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	r.base, r.admin = r.addr(cfg.Data, app.ListenAddrFile), r.addr(cfg.Data, app.AdminAddrFile)
	return r
}

// addr waits for an address file in dir, which the program writes when it listens, and returns
// the address.
func (r *running) addr(dir, name string) string {
	r.t.Helper()
	addr := ""
	wait(r.t, name+" is written", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			return false
		}
		addr = "http://" + strings.TrimSpace(string(b))
		return true
	})
	return addr
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func post(t *testing.T, to string, form url.Values) (int, string) {
	t.Helper()
	res, err := http.PostForm(to, form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// subscriber is a server whose callback records the notifications that it receives.
type subscriber struct {
	*httptest.Server
	received chan string
}

func newSubscriber(t *testing.T) *subscriber {
	s := &subscriber{received: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("challenge"); c != "" {
			fmt.Fprint(w, c)
			return
		}
		s.received <- r.PostFormValue("url")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *subscriber) form(feed, domain string) url.Values {
	u, _ := url.Parse(s.URL) // httptest created the URL, so it is valid
	host, port, _ := net.SplitHostPort(u.Host)
	v := url.Values{"notifyProcedure": {""}, "port": {port}, "path": {"/notify"}, "protocol": {"http-post"}, "url1": {feed}}
	if domain == "yes" {
		v.Set("domain", host)
	}
	return v
}

func (s *subscriber) wait(t *testing.T, what string) string {
	t.Helper()
	select {
	case url := <-s.received:
		return url
	case <-time.After(maxWait):
		t.Fatalf("no notification received: %s", what)
		return ""
	}
}

// feed is a server for a document that the test can change.
type feed struct {
	*httptest.Server
	mu   sync.Mutex
	body string
}

func newFeed(t *testing.T) *feed {
	f := &feed{body: "<rss><channel><title>one</title></channel></rss>"}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		w.Header().Set("Content-Type", "application/rss+xml")
		io.WriteString(w, f.body)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *feed) set(body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.body = body
}

func TestPingNotifiesSubscriber(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f, s := newFeed(t), newSubscriber(t)
	url1 := f.URL + "/rss.xml"

	if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(url1, "")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	if got := s.wait(t, "the test call"); got != url1 {
		t.Errorf("the test call named %q", got)
	}
	f.set("<rss><channel><title>two</title></channel></rss>")
	code, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {url1}})
	if code != 200 || !strings.Contains(body, `success="true"`) || !strings.Contains(body, `msg="Thanks for the ping."`) {
		t.Fatalf("ping: %d %s", code, body)
	}
	if got := s.wait(t, "the notification"); got != url1 {
		t.Errorf("the notification named %q", got)
	}
	if code, body := post(t, r.base+"/ping", url.Values{"url": {url1}}); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("ping of an unchanged feed: %d %s", code, body)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.received); n != 0 {
		t.Errorf("an unchanged feed was announced %d times", n)
	}
}

func TestPingNotifiesSubscriberOfAnotherSpellingOfTheFeed(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f, s := newFeed(t), newSubscriber(t)
	usual := f.URL + "/rss.xml"
	other := strings.Replace(usual, "http://", "HTTP://", 1)
	raw, encoded, lower := f.URL+"/f\u00e9.xml?\u00e9", f.URL+"/f%C3%A9.xml?%C3%A9", f.URL+"/f%c3%a9.xml?%c3%a9"
	for i, c := range []struct{ registered, pinged string }{
		{other, usual}, {usual, other}, {usual, other}, {raw, encoded}, {encoded, raw}, {lower, raw}, {raw, lower}, {lower, encoded},
		{f.URL + "/%7ef.xml?a[]=1", f.URL + "/~%66.xml?a%5b%5D=1"},
	} {
		if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(c.registered, "")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
		if got := s.wait(t, "the test call"); got != c.registered {
			t.Errorf("the test call named %q", got)
		}
		f.set(fmt.Sprintf("<rss><channel><title>change %d</title></channel></rss>", i))
		if code, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {c.pinged}}); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("ping: %d %s", code, body)
		}
		if got := s.wait(t, "the notification"); got != c.registered {
			t.Errorf("the notification named %q, want %q", got, c.registered)
		}
		if code, body := post(t, r.base+"/rsscloud/cancel", s.form(c.registered, "")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("cancel: %d %s", code, body)
		}
	}
}

func TestEndpointsOfTheHubAcceptSlashesAndPreflightRequests(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	hour := time.Now().UTC().Add(-time.Hour).Format("/2006/01/02/15.xml")
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/changes.xml/", 200},
		{"GET", "/shortChanges.xml/", 200},
		{"GET", hour + "/", 200},
		{"GET", "/2026/not/an/hour/", 404},
		{"OPTIONS", hour, 204},
		{"OPTIONS", "/", 204},
		{"OPTIONS", "/alice/xmlrpc.php", 204},
		{"OPTIONS", "/alice/xmlrpc.php/", 204},
	} {
		res := r.ask(c.method, "127.0.0.1:PORT", c.path, "Origin", "https://page.example", "Access-Control-Request-Method", "POST")
		if res.StatusCode != c.status || c.status != 404 && res.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: %s %s", c.method, c.path, res.Status, res.Header)
		}
	}
}

func TestHealthEndpointsRespondOnBothListeners(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	for _, base := range []string{r.base, r.admin} {
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, body := get(t, base+path); code != 200 {
				t.Errorf("%s%s: %d %s", base, path, code, body)
			}
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/v1/status", "/v1/subscriptions"} {
		if code, _ := get(t, r.base+path); code != http.StatusNotFound {
			t.Errorf("%s answers %d on the public listener", path, code)
		}
		if code, _ := get(t, r.admin+path); code != http.StatusOK {
			t.Errorf("%s answers %d on the admin listener", path, code)
		}
	}
}

func TestStartupBannerListsPagesAndEndpoints(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "http://hub.example.com:8080"
	r := start(t, cfg)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http://hub.example.com:8080/", `<cloud domain="hub.example.com" port="8080" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`, "egress.allow-callback"} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("the start does not say %q:\n%s", want, r.out)
		}
	}
}

func TestProxyWarningIsShownOnlyWhileLoopbackRequestsAreTrusted(t *testing.T) {
	t.Parallel()
	const warning = "Warning: No account exists yet, so requests from this machine may change the server's river. If a proxy or a tunnel"
	cfg := conf(t, t.TempDir())
	warned := func(cfg config.Config) bool {
		t.Helper()
		r := start(t, cfg)
		_, status := get(t, r.admin+"/v1/status")
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		start := strings.Contains(r.out.String(), warning)
		if strings.Contains(status, strings.TrimPrefix(warning, "Warning: ")) != start {
			t.Errorf("the start and the status differ:\n%s\n%s", r.out, status)
		}
		return start
	}
	if !warned(cfg) {
		t.Error("a new server at a loopback address does not warn")
	}
	public := cfg
	public.PublicURL = "https://hub.example.com"
	if warned(public) {
		t.Error("a server with a public-url warns")
	}
	r := start(t, cfg)
	if _, page := get(t, r.base+"/status"); strings.Contains(page, "requests from this machine") {
		t.Error("the public status page shows what would help an attacker")
	}
	res, err := http.Post(r.admin+"/v1/users", "application/json", strings.NewReader(`{"name":"ann","password":"correct horse battery"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if warned(cfg) {
		t.Error("a server with an account warns")
	}
}

func TestEveryPageReturns200(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	for _, path := range []string{"/", "/log", "/topics", "/status", "/docs"} {
		code, body := get(t, r.base+path)
		if code != 200 || !strings.Contains(body, "<h1") {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	if code, _ := get(t, r.base+"/nothing-here"); code != http.StatusNotFound {
		t.Errorf("an unknown page answers %d", code)
	}
}

func TestOwnEndpointIsRejectedAsCallback(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f := newFeed(t)
	u, err := url.Parse(r.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range []string{"", "localhost", "127.0.0.1"} {
		form := url.Values{"notifyProcedure": {""}, "port": {u.Port()}, "path": {"/rsscloud/ping"}, "protocol": {"http-post"}, "url1": {f.URL + "/rss.xml"}}
		if domain != "" {
			form.Set("domain", domain)
		}
		if code, body := post(t, r.base+"/rsscloud/pleaseNotify", form); code != 200 || !strings.Contains(body, `success="false"`) {
			t.Errorf("domain %q: %d %s", domain, code, body)
		}
	}
}

func TestTestFeedCanBeFollowedUnderEveryServerName(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	u, err := url.Parse(r.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s := newSubscriber(t)
		feed := "http://" + net.JoinHostPort(host, u.Port()) + "/test/rss.xml"
		if code, body := get(t, feed); code != 200 || !strings.Contains(body, "<cloud ") {
			t.Fatalf("%s: %d %s", feed, code, body)
		}
		if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify for %s: %d %s", feed, code, body)
		}
		if code, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {feed}}); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("ping of %s: %d %s", feed, code, body)
		}
		if got := s.wait(t, "the first look counts as a change"); got != feed {
			t.Errorf("notified of %q", got)
		}
	}
	if code, body := get(t, r.base+"/"); code != 200 || !strings.Contains(body, "/test/rss.xml") {
		t.Errorf("the front page does not name the test feed: %d", code)
	}
}

func TestHubURLServesPageToBrowsersAndEndpointToPrograms(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	for accept, want := range map[string]string{"": "This is a WebSub hub.", "*/*": "This is a WebSub hub.", "text/html,application/xhtml+xml,*/*;q=0.8": `action="/do/ping"`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/hub", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), want) || !strings.Contains(strings.Join(res.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("with Accept %q: %d %v\n%.300s", accept, res.StatusCode, res.Header, body)
		}
	}
	if code, body := post(t, r.base+"/hub", url.Values{"hub.mode": {"publish"}, "hub.url": {"ftp://x/"}}); code != 400 {
		t.Errorf("what a program sends there: %d %s", code, body)
	}
}

func TestSecondProcessCannotUseTheDataFolder(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	start(t, cfg)
	_, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), cfg.Data) {
		t.Errorf("a second one on the folder: %v; want a refusal that names it", err)
	}
}
