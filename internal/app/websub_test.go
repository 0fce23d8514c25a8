package app_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// site is a server for documents that the test can change. It counts the requests for each
// document.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	pages map[string]page
	reads map[string]int
}

// page is one document of a site. header contains names and values in turn. In headers and body,
// SITE and HUB are placeholders for the URLs of the site and of the hub.
type page struct {
	status int // HTTP status; 0 means 200
	header []string
	body   string
	hub    string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: map[string]page{}, reads: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p, ok := s.pages[r.URL.Path]
	s.reads[r.URL.Path]++
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	fill := strings.NewReplacer("SITE", s.URL, "HUB", p.hub)
	w.Header()["Content-Type"] = nil // nil prevents net/http from guessing a content type
	for i := 0; i+1 < len(p.header); i += 2 {
		w.Header().Add(p.header[i], fill.Replace(p.header[i+1]))
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	_, _ = io.WriteString(w, fill.Replace(p.body))
}

// put creates or replaces a document and returns its URL.
func (s *site) put(path string, p page) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = p
	return s.URL + path
}

func (s *site) text(path, body string) string {
	return s.put(path, page{body: body, header: []string{"Content-Type", "text/plain"}})
}

func (s *site) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads[path]
}

// recordingServer records all requests with their bodies. It confirms every verification unless
// answer is set.
type recordingServer struct {
	*httptest.Server

	mu     sync.Mutex
	came   []arrived
	answer func(w http.ResponseWriter, r arrived, n int) // n counts the requests with the same method from 1
}

func newRecordingServer(t *testing.T, answer func(w http.ResponseWriter, r arrived, n int)) *recordingServer {
	t.Helper()
	e := &recordingServer{answer: answer}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *recordingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	a := arrived{r, body}
	e.mu.Lock()
	e.came = append(e.came, a)
	n, answer := 0, e.answer
	for _, c := range e.came {
		if c.Method == r.Method {
			n++
		}
	}
	e.mu.Unlock()
	if answer == nil {
		confirm(w, a, n)
		return
	}
	answer(w, a, n)
}

// confirm answers a request as a subscriber that confirms every verification.
func confirm(w http.ResponseWriter, r arrived, _ int) {
	if all := r.URL.Query()["hub.challenge"]; len(all) > 0 {
		_, _ = io.WriteString(w, all[len(all)-1])
	}
}

func (e *recordingServer) answers(f func(w http.ResponseWriter, r arrived, n int)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = f
}

// got returns the recorded requests with a method in the order of their arrival.
func (e *recordingServer) got(method string) []arrived {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.came), func(a arrived) bool { return a.Method != method })
}

// await waits until n requests with a method have arrived, and returns them.
func (e *recordingServer) await(t *testing.T, method string, n int) []arrived {
	t.Helper()
	wait(t, fmt.Sprintf("%d times %s", n, method), func() bool { return len(e.got(method)) >= n })
	return e.got(method)
}

// websubHub is the whole program with helper methods for WebSub subscribers and publishers.
type websubHub struct {
	*running
	*site
}

func newWebSubHub(t *testing.T, change func(*config.Config)) *websubHub {
	t.Helper()
	cfg := conf(t, t.TempDir())
	cfg.Hub.PingInterval, cfg.Hub.ClientRate, cfg.Hub.HostRate = time.Millisecond, 0, 0
	cfg.Hub.Retry = slices.Repeat([]time.Duration{20 * time.Millisecond}, 8)
	cfg.Hub.CallbackTimeout = 2 * time.Minute // the timeout is long, because the machine may be busy
	if change != nil {
		change(&cfg)
	}
	return &websubHub{start(t, cfg), newSite(t)}
}

// ask sends a WebSub request to the hub. more contains names and values of further parameters in
// turn.
func (w *websubHub) ask(t *testing.T, mode, topic, callback string, more ...string) (int, string) {
	t.Helper()
	form := url.Values{"hub.mode": {mode}, "hub.topic": {topic}, "hub.callback": {callback}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Add(more[i], more[i+1])
	}
	return post(t, w.base+"/hub", form)
}

// accepts is like ask, but fails the test unless the status is 202.
func (w *websubHub) accepts(t *testing.T, mode, topic, callback string, more ...string) {
	t.Helper()
	if code, body := w.ask(t, mode, topic, callback, more...); code != http.StatusAccepted {
		t.Fatalf("%s: %d %s", mode, code, body)
	}
}

// subscribe sends a subscription request and waits until the subscription is active.
func (w *websubHub) subscribe(t *testing.T, topic, callback string, more ...string) hub.Subscription {
	t.Helper()
	w.accepts(t, hub.ModeSubscribe, topic, callback, more...)
	w.decided(t)
	s, ok := w.subscription(t, topic, callback)
	if !ok {
		t.Fatalf("%s is not subscribed", callback)
	}
	return s
}

func (w *websubHub) subscription(t *testing.T, topic, callback string) (hub.Subscription, bool) {
	t.Helper()
	s, err := w.app.Hub().Store.Subscription(t.Context(), hub.Key{TopicID: hub.TopicID(topic), ID: hub.SubscriptionID(hub.WebSub, callback)})
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		t.Fatal(err)
	}
	return s, err == nil
}

// decided waits until the hub has decided all subscription requests.
func (w *websubHub) decided(t *testing.T) {
	t.Helper()
	wait(t, "every request is decided", func() bool {
		n, err := w.app.Hub().Store.Intents(t.Context())
		return err == nil && n == 0
	})
}

// publish pings the hub and waits until all deliveries are done.
func (w *websubHub) publish(t *testing.T, topic string) {
	t.Helper()
	if code, body := post(t, w.base+"/hub", url.Values{"hub.mode": {"publish"}, "hub.url": {topic}}); code != http.StatusNoContent {
		t.Fatalf("publish: %d %s", code, body)
	}
	w.rest(t)
}

// rest waits until no delivery is pending. It reads the count from the store, because the
// displayed count may be out of date.
func (r *running) rest(t *testing.T) {
	t.Helper()
	wait(t, "all subscribers are notified", func() bool {
		c, err := r.app.Hub().Store.Counts(t.Context(), time.Now())
		return err == nil && c.Pending+c.ShardsDue+c.ChecksDue == 0
	})
}

func signatureOf(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// same fails the test unless a delivery has this content, this content type, and the links of the
// topic.
func (w *websubHub) same(t *testing.T, d arrived, topic, contentType, body string) {
	t.Helper()
	if string(d.body) != body || d.Header.Get("Content-Type") != contentType {
		t.Errorf("delivered %s %q; want %s %q", d.Header.Get("Content-Type"), d.body, contentType, body)
	}
	want := "<" + w.base + `/websub>; rel="hub", <` + topic + `>; rel="self"`
	if got := d.Header.Values("Link"); len(got) != 1 || got[0] != want {
		t.Errorf("Link is %q; want %q", got, want)
	}
}

// The following tests are the checks of hubs at https://websub.rocks, in the order of their
// numbers there.

func TestWebSubRocks100SubscriberIsNotified(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	const kind = "text/html; charset=UTF-8"
	topic := w.put("/blog", page{header: []string{"Content-Type", kind}, body: "<!doctype html><p>one"})
	w.subscribe(t, topic, e.URL+"/cb")
	asked := e.await(t, "GET", 1)
	q := asked[0].URL.Query()
	if len(asked) != 1 || len(q) != 4 || q.Get("hub.mode") != "subscribe" || q.Get("hub.topic") != topic || len(q.Get("hub.challenge")) < 20 || q.Get("hub.lease_seconds") != "864000" {
		t.Errorf("asked %d times, the first time %v", len(asked), q)
	}
	w.put("/blog", page{header: []string{"Content-Type", kind}, body: "<!doctype html><p>two"})
	w.publish(t, topic)
	notified := e.await(t, "POST", 1)
	w.same(t, notified[0], topic, kind, "<!doctype html><p>two")
	if len(notified) != 1 || notified[0].RequestURI != "/cb" || notified[0].Header.Get("X-Hub-Signature") != "" {
		t.Errorf("%d notifications, at %s, signed %q", len(notified), notified[0].RequestURI, notified[0].Header.Get("X-Hub-Signature"))
	}
	w.publish(t, topic)
	if n := len(e.got("POST")); n != 1 {
		t.Errorf("%d notifications of one change", n)
	}
}

func TestWebSubRocks101SubscriberWithSecretGetsSignedContent(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	topic := w.text("/blog", "one")
	for _, secret := range []string{"s", "grün &=%2B+;\n", strings.Repeat("x", 199)} {
		e := newRecordingServer(t, nil)
		w.subscribe(t, topic, e.URL+"/cb", "hub.secret", secret)
		w.text("/blog", "of "+secret)
		w.publish(t, topic)
		if d := e.await(t, "POST", 1)[0]; d.Header.Get("X-Hub-Signature") != signatureOf(secret, d.body) || string(d.body) != "of "+secret {
			t.Errorf("secret %q: %q is signed %s", secret, d.body, d.Header.Get("X-Hub-Signature"))
		}
	}
	if code, body := w.ask(t, "subscribe", topic, "http://127.0.0.1:9/cb", "hub.secret", strings.Repeat("x", 200)); code != http.StatusBadRequest {
		t.Errorf("a secret of 200 bytes: %d %s", code, body)
	}
}

func TestWebSubRocks102UnknownParametersAreIgnored(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "one")
	w.subscribe(t, topic, e.URL+"/cb", "foo", "bar", "hub.verify", "async", "hub.verify_token", "x", "hub.foo", "", "Hub.Mode", "denied", "foo", "again")
	for _, name := range []string{"foo", "hub.verify", "hub.verify_token", "hub.foo"} {
		if q := e.await(t, "GET", 1)[0].URL.Query(); q.Has(name) {
			t.Errorf("the question has %s", name)
		}
	}
	w.publish(t, topic)
	w.same(t, e.await(t, "POST", 1)[0], topic, "text/plain", "one")
}

func TestWebSubRocks103SubscriptionIsRenewed(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "0")
	first := w.subscribe(t, topic, e.URL+"/cb", "hub.secret", "old", "hub.lease_seconds", "600")
	e.answers(func(w http.ResponseWriter, r arrived, _ int) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r.Request)
		}
	})
	w.accepts(t, "subscribe", topic, e.URL+"/cb", "hub.secret", "new", "hub.lease_seconds", "1200")
	w.decided(t)
	if s, ok := w.subscription(t, topic, e.URL+"/cb"); !ok || s.Secret != "old" || !s.ExpiresAt.Equal(first.ExpiresAt) {
		t.Errorf("a renewal that was not confirmed has changed it: %v", ok)
	}
	signed := func(n int, secret string) {
		t.Helper()
		w.text("/blog", fmt.Sprint(n))
		w.publish(t, topic)
		notified := e.await(t, "POST", n)
		want := ""
		if secret != "" {
			want = signatureOf(secret, notified[n-1].body)
		}
		if got := notified[n-1].Header.Get("X-Hub-Signature"); len(notified) != n || got != want {
			t.Errorf("%d notifications; change %d is signed %q, and not with the secret %q", len(notified), n, got, secret)
		}
	}
	signed(1, "old")
	e.answers(nil)
	s := w.subscribe(t, topic, e.URL+"/cb", "hub.secret", "new", "hub.lease_seconds", "1200")
	if s.ExpiresAt.Sub(first.ExpiresAt) < 9*time.Minute || !s.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("renewed until %s, first until %s", s.ExpiresAt, first.ExpiresAt)
	}
	signed(2, "new")
	w.subscribe(t, topic, e.URL+"/cb")
	signed(3, "")
}

func TestWebSubRocks104UnsubscribedCallbackIsNotNotified(t *testing.T) {
	t.Parallel()
	w, e, other := newWebSubHub(t, nil), newRecordingServer(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "one")
	w.subscribe(t, topic, e.URL+"/cb?id=1")
	w.subscribe(t, topic, e.URL+"/cb?id=2")
	w.subscribe(t, topic, other.URL+"/cb")
	e.answers(func(w http.ResponseWriter, r arrived, _ int) { http.NotFound(w, r.Request) })
	w.accepts(t, "unsubscribe", topic, e.URL+"/cb?id=1")
	w.decided(t)
	if _, ok := w.subscription(t, topic, e.URL+"/cb?id=1"); !ok {
		t.Fatal("it was ended without the subscriber's yes")
	}
	e.answers(nil)
	w.accepts(t, "unsubscribe", topic, e.URL+"/cb?id=1", "hub.lease_seconds", "0", "hub.secret", strings.Repeat("x", 300))
	w.decided(t)
	asked := e.got("GET")
	q := asked[len(asked)-1].URL.Query()
	if len(q) != 4 || q.Get("hub.mode") != "unsubscribe" || q.Get("hub.topic") != topic || q.Get("hub.challenge") == "" || q.Has("hub.lease_seconds") {
		t.Errorf("the question was %v", q)
	}
	w.publish(t, topic)
	other.await(t, "POST", 1)
	if notified := e.await(t, "POST", 1); len(notified) != 1 || notified[0].RequestURI != "/cb?id=2" {
		t.Errorf("%d notifications, first at %s", len(notified), notified[0].RequestURI)
	}
}

func TestWebSubRocks105And106ContentIsDeliveredUnchanged(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	for name, c := range map[string]struct{ kind, want, body string }{
		"plain text":        {"text/plain", "text/plain", "one\r\ntwo\n"},
		"JSON":              {"application/json", "application/json", `{"a" : "ü", "b":1.0}` + "\n"},
		"an RSS feed":       {"application/rss+xml", "application/rss+xml", "<rss><channel><title>x</title></channel></rss>"},
		"Latin-1":           {`text/xml;charset="ISO-8859-1"`, `text/xml;charset="ISO-8859-1"`, "<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><title>Caf\xe9</title></channel></rss>"},
		"UTF-16":            {"application/xml", "application/xml", "\xff\xfe<\x00a\x00/\x00>\x00"},
		"an image":          {"image/png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\xff\xfe" + strings.Repeat("\x00\x01", 5000)},
		"a type in capital": {"Text/HTML; Charset=UTF-8", "Text/HTML; Charset=UTF-8", "<p>"},
		"no type":           {"", "application/octet-stream", "what?"},
		"nothing at all":    {"text/plain", "text/plain", ""},
		"just small enough": {"text/plain", "text/plain", strings.Repeat("x", 1<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecordingServer(t, nil)
			p := page{body: c.body}
			if c.kind != "" {
				p.header = []string{"Content-Type", c.kind}
			}
			path := "/" + url.PathEscape(name)
			w.text("/"+name, "before")
			w.subscribe(t, w.URL+path, e.URL+"/cb", "hub.secret", "s")
			w.put("/"+name, p)
			w.publish(t, w.URL+path)
			d := e.await(t, "POST", 1)[0]
			if !bytes.Equal(d.body, []byte(c.body)) || d.Header.Get("Content-Type") != c.want || d.Header.Get("X-Hub-Signature") != signatureOf("s", []byte(c.body)) || d.Header.Get("Content-Encoding") != "" {
				t.Errorf("delivered %d bytes of %v: %.100q", len(d.body), d.Header, d.body)
			}
		})
	}
}
