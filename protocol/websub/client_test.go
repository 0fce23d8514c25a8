package websub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

// testHub is a small but complete hub made of the package's own functions. It verifies
// pending requests only when settle is called, like a hub that works asynchronously.
type testHub struct {
	*httptest.Server
	method string // method of the signatures

	mu      sync.Mutex
	pending []websub.Request
	subs    map[[2]string]websub.Subscription // key: topic and callback
	refused []error
}

func newHub(t *testing.T) *testHub {
	t.Helper()
	h := &testHub{method: websub.SHA256, subs: map[[2]string]websub.Subscription{}}
	keep := func(mode string) func(context.Context, websub.Subscription) error {
		return func(_ context.Context, s websub.Subscription) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.pending = append(h.pending, websub.Request{Mode: mode, Subscription: s})
			return nil
		}
	}
	h.Server = httptest.NewServer(&websub.Handler{Log: quiet(t), Backend: backend{
		subscribe: keep(websub.ModeSubscribe), unsubscribe: keep(websub.ModeUnsubscribe),
		publish: func(ctx context.Context, urls []string) []error {
			out := make([]error, len(urls))
			for i, u := range urls {
				out[i] = h.deliver(ctx, u)
			}
			return out
		},
	}})
	t.Cleanup(h.Close)
	return h
}

// settle verifies all pending requests at their callbacks.
func (h *testHub) settle(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.pending {
		key := [2]string{q.Subscription.Topic, q.Subscription.Callback}
		challenge := websub.NewChallenge()
		status, body := get(t, websub.VerifyURL(q.Subscription.Callback, websub.Verification{
			Mode: q.Mode, Topic: q.Subscription.Topic, Challenge: challenge, Lease: websub.ClampLease(q.Subscription.Lease),
		}))
		switch err := websub.CheckChallenge(status, body, challenge); {
		case err != nil:
			h.refused = append(h.refused, err)
		case q.Mode == websub.ModeSubscribe:
			h.subs[key] = q.Subscription
		default:
			delete(h.subs, key)
		}
	}
	h.pending = nil
}

// deliver reads a topic and sends it to all of its subscribers.
func (h *testHub) deliver(ctx context.Context, topic string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	resp, err := http.Get(topic)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		return &websub.Error{Status: 422, Msg: "The topic cannot be read."}
	}
	for key, s := range h.subs {
		if key[0] != topic {
			continue
		}
		r, err := http.NewRequestWithContext(ctx, "POST", s.Callback, bytes.NewReader(content))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", resp.Header.Get("Content-Type"))
		r.Header.Set("Link", websub.LinkHeader(h.URL+"/", topic))
		if s.Secret != "" {
			signature, err := websub.Sign(h.method, s.Secret, content)
			if err != nil {
				return err
			}
			r.Header.Set(websub.SignatureHeader, signature)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusGone {
			delete(h.subs, key)
		}
	}
	return nil
}

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// publisher serves one document with links to hub and self in its header.
func publisher(t *testing.T, hub, contentType, content string) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Link", websub.LinkHeader(hub, srv.URL+r.URL.Path))
		_, _ = io.WriteString(w, content)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestSubscriptionIsDiscoveredConfirmedNotifiedAndEnded(t *testing.T) {
	t.Parallel()
	hub := newHub(t)
	f := newFollower()
	callbacks := httptest.NewServer(&websub.Subscriber{Callbacks: f, Log: quiet(t)})
	t.Cleanup(callbacks.Close)
	feed := publisher(t, hub.URL+"/", "application/rss+xml; charset=x", "<rss>ü</rss>")
	c := &websub.Client{UserAgent: "follower/1"}
	ctx := t.Context()

	d, err := c.Discover(ctx, feed.URL+"/feed")
	if err != nil || d.Topic() != feed.URL+"/feed" || len(d.Hubs) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	token := websub.NewToken()
	s := websub.Subscription{Callback: callbacks.URL + "/cb/" + token + "?own=1", Topic: d.Topic(), Lease: time.Hour, Secret: websub.NewToken()}

	// If the subscriber has no pending request, it does not confirm.
	if err := c.Subscribe(ctx, d.Hubs[0], s); err != nil {
		t.Fatal(err)
	}
	hub.settle(t)
	if len(hub.subs) > 0 || len(hub.refused) != 1 || !errors.Is(hub.refused[0], websub.ErrRefused) {
		t.Fatalf("%v %v", hub.subs, hub.refused)
	}

	for _, method := range []string{"sha1", "sha256", "sha384", "sha512"} { // each further method is a renewal
		hub.method = method
		f.expect(token, "subscribe", s.Topic, s.Secret)
		if err := c.Subscribe(ctx, d.Hubs[0], s); err != nil {
			t.Fatal(err)
		}
		hub.settle(t)
		if err := c.Publish(ctx, hub.URL, s.Topic); err != nil {
			t.Fatal(err)
		}
		want := websub.Delivery{
			Token: token, Topic: s.Topic, Self: s.Topic, Hub: hub.URL + "/",
			ContentType: "application/rss+xml; charset=x", Body: []byte("<rss>ü</rss>"), Verified: true,
		}
		select {
		case got := <-f.arrived:
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		default:
			t.Fatalf("%s: no delivery arrived", method)
		}
	}
	if len(hub.subs) != 1 {
		t.Errorf("renewals made %d subscriptions", len(hub.subs))
	}

	if err := c.Unsubscribe(ctx, hub.URL, s); err != nil {
		t.Fatal(err)
	}
	hub.settle(t)
	if len(hub.subs) != 1 {
		t.Error("the subscription ended without the consent of its callback")
	}
	f.expect(token, "unsubscribe", s.Topic, "")
	if err := c.Unsubscribe(ctx, hub.URL, s); err != nil {
		t.Fatal(err)
	}
	hub.settle(t)
	if len(hub.subs) != 0 {
		t.Error("the subscription did not end")
	}
}

func TestClientFollowsHubRedirect(t *testing.T) {
	t.Parallel()
	var asked int
	hub := httptest.NewServer(&websub.Handler{Backend: backend{subscribe: func(_ context.Context, s websub.Subscription) error {
		asked++
		if s.Secret != "geheim" || s.Callback != testCallback {
			return fmt.Errorf("%+v", s)
		}
		return nil
	}}})
	t.Cleanup(hub.Close)
	mux := http.NewServeMux()
	mux.Handle("/308/", http.RedirectHandler(hub.URL, http.StatusPermanentRedirect))
	mux.Handle("/307/", http.RedirectHandler("/308/x", http.StatusTemporaryRedirect))
	mux.Handle("/twice", http.RedirectHandler("307/", http.StatusTemporaryRedirect))
	mux.Handle("/302", http.RedirectHandler(hub.URL, http.StatusFound))
	mux.Handle("/303", http.RedirectHandler(hub.URL, http.StatusSeeOther))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusTemporaryRedirect))
	mux.Handle("/ftp", http.RedirectHandler("ftp://x.example/", http.StatusPermanentRedirect))
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPermanentRedirect) })
	old := httptest.NewServer(mux)
	t.Cleanup(old.Close)
	s := websub.Subscription{Callback: testCallback, Topic: testTopic, Secret: "geheim"}
	for _, c := range []struct {
		path, want string // want is the expected error; "": the request is accepted
	}{
		{"/308/", ""}, {"/307/", ""}, {"/twice", ""},
		{"/302", "302 Found"}, {"/303", "303 See Other"}, {"/loop", "more than 3 redirects"}, {"/ftp", "308"}, {"/nowhere", "308"},
	} {
		before := asked
		err := (&websub.Client{}).Subscribe(t.Context(), old.URL+c.path, s)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || (asked > before) != (err == nil) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	// If the client follows redirects by itself, the last page must not count as the response of
	// the hub.
	own := &websub.Client{HTTP: http.DefaultClient}
	if err := own.Subscribe(t.Context(), old.URL+"/twice", s); err != nil {
		t.Errorf("307, 307, 308 by net/http: %v", err)
	}
	if err := own.Subscribe(t.Context(), old.URL+"/302", s); err == nil || !strings.Contains(err.Error(), "not for a POST") {
		t.Errorf("302 by net/http: %v", err)
	}
}

// doer answers requests without a network.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func answer(status int, body string, header ...string) *http.Response {
	w := httptest.NewRecorder()
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Add(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	return w.Result()
}

func TestSecretIsNotRedirectedToHTTP(t *testing.T) {
	t.Parallel()
	requests := 0
	c := &websub.Client{HTTP: doer(func(r *http.Request) (*http.Response, error) {
		if requests++; r.URL.Scheme == "https" {
			return answer(307, "", "Location", "http://hub.example/"), nil
		}
		return answer(202, ""), nil
	})}
	s := websub.Subscription{Callback: testCallback, Topic: testTopic}
	if err := c.Subscribe(t.Context(), "https://hub.example/", s); err != nil || requests != 2 {
		t.Errorf("without a secret: %v", err)
	}
	s.Secret = "geheim"
	if err := c.Subscribe(t.Context(), "https://hub.example/", s); err == nil || requests != 3 {
		t.Errorf("with a secret: %v, %d requests", err, requests)
	}
}

func TestClientReturnsErrorResponseOfHub(t *testing.T) {
	t.Parallel()
	s := websub.Subscription{Callback: testCallback, Topic: testTopic}
	for _, c := range []struct {
		resp *http.Response
		want string // expected error; "": the request is accepted
	}{
		{answer(202, "thanks"), ""},
		{answer(200, ""), ""},
		{answer(204, ""), ""},
		{answer(400, "hub.topic is\nwrong\n", "Content-Type", "text/plain; charset=utf-8"), "400 Bad Request. Message: hub.topic is?wrong"},
		{answer(400, "<html>", "Content-Type", "text/html"), "The hub answered 400 Bad Request."},
		{answer(500, "\xff", "Content-Type", "text/plain"), "The hub answered 500 Internal Server Error."},
		{answer(503, strings.Repeat("ü", 9000), "Content-Type", "text/plain", "Retry-After", "7"), "…"},
		{answer(299, ""), ""},
		{answer(600, ""), "600"},
	} {
		c2 := &websub.Client{HTTP: doer(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Method != "POST" {
				t.Errorf("%s %s", r.Method, r.Header)
			}
			return c.resp, nil
		})}
		err := c2.Subscribe(t.Context(), "http://hub.example/", s)
		e, ok := errors.AsType[*websub.Error](err)
		if ok != (c.want != "") || ok && (e.Status != c.resp.StatusCode || !strings.Contains(e.Msg, c.want) || len(e.Msg) > 600) {
			t.Errorf("%d: %v", c.resp.StatusCode, err)
		}
		if ok && e.Status == 503 && e.RetryAfter != 7*time.Second {
			t.Errorf("%s", e.RetryAfter)
		}
	}
	down := &websub.Client{HTTP: doer(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	if err := down.Publish(t.Context(), "http://hub.example/", testTopic); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := down.Discover(t.Context(), testTopic); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func TestClientDoesNotSendInvalidSubscriptionRequest(t *testing.T) {
	t.Parallel()
	c := &websub.Client{HTTP: doer(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return answer(202, ""), nil
	})}
	good := websub.Subscription{Callback: testCallback, Topic: testTopic}
	for name, break_ := range map[string]func(*websub.Subscription){
		"callback": func(s *websub.Subscription) { s.Callback = "javascript:alert(1)" },
		"topic":    func(s *websub.Subscription) { s.Topic = "http://t.example/#x" },
		"secret":   func(s *websub.Subscription) { s.Secret = strings.Repeat("x", 200) },
	} {
		s := good
		break_(&s)
		if err := c.Subscribe(t.Context(), "http://hub.example/", s); err == nil {
			t.Errorf("%s", name)
		}
	}
	if c.Subscribe(t.Context(), "http://hub.example/\x7f", good) == nil || c.Publish(t.Context(), "http://hub.example/") == nil ||
		c.Publish(t.Context(), "http://hub.example/", make([]string, 51)...) == nil || c.Publish(t.Context(), "http://hub.example/", "x") == nil {
		t.Error("no error")
	}
}

func TestPublishRequestContainsURLAndTopic(t *testing.T) {
	t.Parallel()
	var got []string
	c := &websub.Client{UserAgent: "author/1", HTTP: doer(func(r *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(r.Body)
		got = append(got, string(b), r.Header.Get("User-Agent"))
		return answer(204, ""), err
	})}
	if err := errors.Join(c.Publish(t.Context(), "http://hub.example/", "http://a.example/"), c.Publish(t.Context(), "http://hub.example/", "http://a.example/", "http://b.example/")); err != nil {
		t.Error(err)
	}
	want := []string{
		form("hub.mode", "publish", "hub.url", "http://a.example/", "hub.topic", "http://a.example/"), "author/1",
		form("hub.mode", "publish", "hub.url", "http://a.example/", "hub.url", "http://b.example/"), "author/1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDiscoverReadsNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	read := 0
	long := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(readerFunc(func(p []byte) (int, error) {
		read += len(p)
		return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
	}))}
	c := &websub.Client{HTTP: doer(func(*http.Request) (*http.Response, error) { return long, nil })}
	if _, err := c.Discover(t.Context(), testTopic); !errors.Is(err, websub.ErrNoHub) || read > 12<<20 {
		t.Errorf("%v after %d bytes", err, read)
	}
	read = 0
	long.Header.Set("Link", websub.LinkHeader("http://hub.example/", testTopic))
	if d, err := c.Discover(t.Context(), testTopic); err != nil || read != 0 || d.Self != testTopic {
		t.Errorf("%+v, %v after %d bytes", d, err, read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
