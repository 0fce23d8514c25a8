package hubhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
)

// fakeHub records the calls and returns the results of its functions. Where a function is nil, it
// accepts everything.
type fakeHub struct {
	ping     func(hub.Ping) (hub.PingResult, error)
	register func(hub.Registration) (hub.Registered, error)
	cancel   func(hub.Registration) (hub.Registered, error)

	mu            sync.Mutex
	pings         []hub.Ping
	registrations []hub.Registration
	cancels       []hub.Registration

	request       func(hub.Intent) error
	announce      func(hub.Announcement) (hub.Announced, error)
	intents       []hub.Intent
	announced     []hub.Announcement
	lastAgeChange []hub.Rejection
}

func (f *fakeHub) LogRejected(_ context.Context, t hub.Rejection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastAgeChange = append(f.lastAgeChange, t)
}

func (f *fakeHub) Request(_ context.Context, in hub.Intent, _ netip.Addr) error {
	f.mu.Lock()
	f.intents = append(f.intents, in)
	f.mu.Unlock()
	if f.request == nil {
		return nil
	}
	return f.request(in)
}

func (f *fakeHub) Announce(_ context.Context, a hub.Announcement) (hub.Announced, error) {
	f.mu.Lock()
	f.announced = append(f.announced, a)
	f.mu.Unlock()
	if f.announce == nil {
		return hub.Announced{}, nil
	}
	return f.announce(a)
}

func expires() time.Time { return time.Date(2009, 10, 17, 12, 47, 0, 0, time.UTC) }

func (h *fakeHub) Ping(_ context.Context, p hub.Ping) (hub.PingResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pings = append(h.pings, p)
	if h.ping == nil {
		return hub.PingResult{Known: true, Checked: true, Changed: true}, nil
	}
	return h.ping(p)
}

func (h *fakeHub) Register(_ context.Context, r hub.Registration) (hub.Registered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.registrations = append(h.registrations, r)
	if h.register == nil {
		return hub.Registered{Accepted: r.Feeds, Expires: expires()}, nil
	}
	return h.register(r)
}

func (h *fakeHub) Cancel(_ context.Context, r hub.Registration) (hub.Registered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancels = append(h.cancels, r)
	if h.cancel == nil {
		return hub.Registered{Accepted: r.Feeds}, nil
	}
	return h.cancel(r)
}

// lastRegistration returns the last registration. The test ends if there is none.
func (h *fakeHub) lastRegistration(t *testing.T) hub.Registration {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.registrations) == 0 {
		t.Fatal("the hub received no request")
	}
	return h.registrations[len(h.registrations)-1]
}

func logTo(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// listen serves all endpoints of h on a real server. It trusts forwarding headers from loopback
// addresses.
func listen(t *testing.T, h Hub) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: h, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Log: logTo(t)}).Routes(), nil)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestOwnEndpointsAreRecognizedUnderEveryOrigin(t *testing.T) {
	t.Parallel()
	origins := []string{"http://hub.example:80/", "https://hub.example", "http://192.0.2.7:5337", "http://[2001:db8::7]:5337"}
	for callback, want := range map[string]bool{
		"http://hub.example/ping":                   true,
		"http://HUB.example:80/rsscloud/ping?x=1":   true,
		"https://hub.example:443/RPC2":              true,
		"https://hub.example/xmlrpc.php":            true,
		"https://hub.example/alice/xmlrpc.php":      true,
		"https://hub.example/":                      true,
		"https://hub.example":                       true,
		"https://hub.example?x":                     true,
		"http://192.0.2.7:5337/soap":                true,
		"http://[2001:db8::7]:5337/PleaseNotify/":   true,
		"http://hub.example.:080/ping":              true,
		"http://user@ｈub.example/%70ing":            true,
		"http://[::ffff:192.0.2.7]:05337/soap":      true,
		"http://192.0.2.7:5338/soap":                false,
		"http://other.example/ping":                 false,
		"http://hub.example/my/callback":            false,
		"http://hub.example.other.example/ping":     false,
		"http://hub.example/notify/rsscloud":        true,
		"http://hub.example/Notify/websub/abc?x":    true,
		"http://hub.example/notify/me":              false,
		"hub.example/ping":                          false,
		"http://other.example/http://hub.example/a": false,
	} {
		if got := IsOwnEndpoint(callback, origins...); got != want {
			t.Errorf("%s: %t", callback, got)
		}
	}
}

func TestUserAgentContainsNameVersionAndURL(t *testing.T) {
	t.Parallel()
	if got := endpoint.UserAgent("1.2.3", "http://hub.example/docs"); got != "Cloudburst/1.2.3 (+http://hub.example/docs)" {
		t.Error(got)
	}
	if got := endpoint.UserAgent("v1 (dev)\r\nX: y", ""); got != "Cloudburst/v1--dev---X--y" {
		t.Error(got)
	}
}

func TestEndpointsDoNotShadowOtherRoutes(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: &fakeHub{}}).Routes(), nil)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	for _, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/", 418}, {"HEAD", "/", 418}, {"POST", "/", 415}, {"GET", "/RPC2", 405}, {"GET", "/xmlrpc.php", 405}, {"GET", "/alice/xmlrpc.php", 404}, {"OPTIONS", "/RPC2", 204}, {"OPTIONS", "/soap", 204}, {"GET", "/nothing", 404}, {"POST", "/soap", 500}} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.want {
			t.Errorf("%s %s: %d", c.method, c.path, w.Code)
		}
		if target := c.path == "/RPC2" || c.path == "/soap"; target && w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: no web page may read the answer: %s", c.method, c.path, w.Header())
		}
	}
}

func TestEndpointsAcceptATrailingSlash(t *testing.T) {
	t.Parallel()
	mux, _ := listRoutes(t, &fakeChanges{}, nil)
	paths := append(ownEndpoints(), "/xmlrpc.php", "/alice/xmlrpc.php", "/changes.xml", "/shortChanges.xml", "/2026/03/29/11.xml")
	for _, path := range paths {
		if path == "" || slices.Contains(notifyPaths(), path) {
			continue
		}
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			with, without := httptest.NewRecorder(), httptest.NewRecorder()
			mux.ServeHTTP(without, httptest.NewRequest(method, path, nil))
			mux.ServeHTTP(with, httptest.NewRequest(method, path+"/", nil))
			if without.Code == http.StatusNotFound && method != "GET" {
				t.Errorf("%s %s: not found", method, path)
			}
			if with.Code != without.Code || with.Body.String() != without.Body.String() {
				t.Errorf("%s %s/: %d %q; without the slash %d %q", method, path, with.Code, with.Body, without.Code, without.Body)
			}
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("POST", "/RPC2/more", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("below an endpoint: %d", w.Code)
	}
}
