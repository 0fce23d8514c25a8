package app_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/protocol/websub"
)

// hubOf is a server that acts as a hub. It accepts every request and then verifies the callback.
type hubOf struct {
	*recordingServer
	asked chan websub.Subscription // subscriptions that the callback has confirmed
}

func newHubOf(t *testing.T, answer func(w http.ResponseWriter, r arrived, n int) bool) *hubOf {
	t.Helper()
	h := &hubOf{asked: make(chan websub.Subscription, 100)}
	h.recordingServer = newRecordingServer(t, func(w http.ResponseWriter, r arrived, n int) {
		if answer == nil || !answer(w, r, n) {
			h.take(t, w, r)
		}
	})
	return h
}

// take answers a subscription request with 202 and then verifies the callback.
func (h *hubOf) take(t *testing.T, w http.ResponseWriter, r arrived) {
	q, err := websub.ParseRequest(r.body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("%s with %s: %v", r.Method, r.Header.Get("Content-Type"), err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	go func() {
		challenge := websub.NewChallenge()
		code, header, body := fetched(websub.VerifyURL(q.Subscription.Callback, websub.Verification{Mode: q.Mode, Topic: q.Subscription.Topic, Challenge: challenge, Lease: time.Hour}))
		if code != http.StatusOK || body != challenge || header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			t.Errorf("asked about %s of %s: %d %v %q", q.Mode, q.Subscription.Topic, code, header, body)
		}
		h.asked <- q.Subscription
	}()
}

func fetched(url string) (code int, header http.Header, body string) {
	res, err := http.Get(url)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err.Error()
	}
	return res.StatusCode, res.Header, string(b)
}

// deliver sends a notification with content to a callback, as a hub does. It returns the status
// of the response.
func deliver(t *testing.T, callback, body, signature string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, callback, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/xml")
	r.Header.Set("Link", `<http://hub.invalid/>; rel="hub", <http://other.invalid/>; rel="self"`)
	if signature != "" {
		r.Header.Set("X-Hub-Signature", signature)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// The following tests are the checks of subscribers at https://websub.rocks.

// TestSubscriberDiscoversHubAndTopic serves documents that name their hub in different ways. It
// checks the request that the program sends to the hub.
func TestSubscriberDiscoversHubAndTopic(t *testing.T) {
	t.Parallel()
	const (
		html = "text/html; charset=utf-8"
		atom = "application/atom+xml"
		rss  = "application/rss+xml"
	)
	link := func(text string) string {
		return "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>x</title>" + text + "</channel></rss>"
	}
	for name, c := range map[string]struct {
		header []string
		body   string
		at     string // URL that redirects to the document; "": there is no redirect
		status int
		want   string // topic that the program must request
	}{
		"100 in headers":         {[]string{"Content-Type", html, "Link", "<HUB/hub>; rel=hub", "Link", "<SITE/blog>; rel=self"}, "<html>", "", 0, "/blog"},
		"in one header":          {[]string{"Content-Type", "text/plain", "Link", `<HUB/hub>; rel="hub", <SITE/blog>; rel="self"`}, "text", "", 0, "/blog"},
		"101 in a page":          {[]string{"Content-Type", html}, `<!doctype html><html><head><link rel="hub" href="HUB/hub"><link rel="self" href="SITE/blog"></head><body><link rel="hub" href="http://evil.invalid/">`, "", 0, "/blog"},
		"102 in Atom":            {[]string{"Content-Type", atom}, `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><link rel="hub" href="HUB/hub"/><link rel="self" href="SITE/blog"/><entry><link rel="hub" href="http://evil.invalid/"/></entry></feed>`, "", 0, "/blog"},
		"103 in RSS":             {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/><atom:link rel="self" href="SITE/blog"/>`), "", 0, "/blog"},
		"in JSON":                {[]string{"Content-Type", "application/feed+json"}, `{"version":"https://jsonfeed.org/version/1.1","title":"x","feed_url":"SITE/blog","hubs":[{"type":"WebSub","url":"HUB/hub"}],"items":[]}`, "", 0, "/blog"},
		"104 headers come first": {[]string{"Content-Type", rss, "Link", `<HUB/hub>; rel="hub", <SITE/blog>; rel="self"`}, link(`<atom:link rel="hub" href="http://wrong.invalid/"/><atom:link rel="self" href="SITE/wrong"/>`), "", 0, "/blog"},
		"several hubs":           {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/><atom:link rel="hub" href="http://second.invalid/"/><atom:link rel="self" href="SITE/blog"/>`), "", 0, "/blog"},
		"relative links":         {[]string{"Content-Type", rss, "Link", `<HUB/hub>; rel=hub`}, link(`<atom:link rel="self" href="../blog"/>`), "", 0, "/blog"},
		"no self":                {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/>`), "", 0, "/found/here"},
		"205 another self":       {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/><atom:link rel="self" href="SITE/blog?as=self"/>`), "", 0, "/blog?as=self"},
		"200 moved temporarily":  {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/><atom:link rel="self" href="SITE/blog"/>`), "/old", 302, "/blog"},
		"201 moved permanently":  {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/><atom:link rel="self" href="SITE/blog"/>`), "/old", 301, "/blog"},
		"202 and again by 307":   {[]string{"Content-Type", rss}, link(`<atom:link rel="hub" href="HUB/hub"/>`), "/old", 307, "/found/here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h, s := newWebSubHub(t, nil), newHubOf(t, nil), newSubscriber(t)
			feed := w.put("/found/here", page{header: c.header, body: c.body, hub: h.URL})
			if c.at != "" {
				feed = w.put(c.at, page{status: c.status, header: []string{"Location", "/found/here"}})
			}
			if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
				t.Fatalf("pleaseNotify: %d %s", code, body)
			}
			w.relay(t, client.RelayRequest{Feed: feed, Via: "websub"})
			q := <-h.asked
			if first := h.got("POST")[0]; q.Topic != w.URL+c.want || first.RequestURI != "/hub" {
				t.Errorf("asked at %s for %s", first.RequestURI, q.Topic)
			}
			if code := deliver(t, q.Callback, "anything", ""); code < 200 || code > 299 {
				t.Errorf("the delivery was answered %d", code)
			}
			if got := s.wait(t, "the change"); got != feed {
				t.Errorf("notified of %s", got)
			}
		})
	}
}

func TestSubscriberFollowsHubRedirect(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"300 not at all": 0, "301 for a while": http.StatusTemporaryRedirect, "302 for good": http.StatusPermanentRedirect} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := newWebSubHub(t, nil), newHubOf(t, nil)
			moved := newHubOf(t, func(w http.ResponseWriter, r arrived, _ int) bool {
				w.Header().Set("Location", h.URL+"/there")
				w.WriteHeader(status)
				return true
			})
			address := h.URL
			if status != 0 {
				address = moved.URL
			}
			feed := w.text("/blog", "one")
			w.relay(t, client.RelayRequest{Feed: feed, Via: "websub", Hub: address})
			if q := <-h.asked; q.Topic != feed {
				t.Errorf("asked for %s", q.Topic)
			}
			if n := len(moved.got("POST")); (n == 0) == (status != 0) {
				t.Errorf("%d requests to the old URL", n)
			}
		})
	}
}

// TestRelayCallbackAcceptsValidAndRejectsInvalidRequests sends valid and invalid requests of a
// hub to the program's callbacks.
func TestRelayCallbackAcceptsValidAndRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	w, h := newWebSubHub(t, nil), newHubOf(t, nil)
	feed := w.text("/blog", "one")
	w.relay(t, client.RelayRequest{Feed: feed, Via: "websub", Hub: h.URL})
	q := <-h.asked
	ask := func(callback string, v websub.Verification) int {
		v.Challenge = "abc"
		code, _, _ := fetched(websub.VerifyURL(callback, v))
		return code
	}
	nobody := q.Callback[:len(q.Callback)-1] + "-"
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"another topic", ask(q.Callback, websub.Verification{Mode: "subscribe", Topic: feed + "x", Lease: time.Hour}), 404},
		{"an end nobody asked", ask(q.Callback, websub.Verification{Mode: "unsubscribe", Topic: feed}), 404},
		{"another callback", ask(nobody, websub.Verification{Mode: "subscribe", Topic: feed, Lease: time.Hour}), 404},
		{"content for nobody", deliver(t, nobody, "x", ""), 410},
		{"the path above", deliver(t, q.Callback[:strings.LastIndexByte(q.Callback, '/')+1], "x", ""), 404},
		{"content", deliver(t, q.Callback, "x", ""), 202},
		{"signed without secrets", deliver(t, q.Callback, "x", "sha256=00"), 202},
		{"a denial", ask(q.Callback, websub.Verification{Mode: "denied", Topic: feed, Reason: "No."}), 200},
		{"content after that", deliver(t, q.Callback, "x", ""), 410},
	} {
		if c.got != c.want {
			t.Errorf("%s: answered %d, want %d", c.name, c.got, c.want)
		}
	}
	for _, callback := range []string{q.Callback, nobody} {
		if len(callback) < 40 || !strings.HasPrefix(callback, w.base) {
			t.Errorf("the callback is %s", callback)
		}
	}
}

// spawnTrusting starts the program in a process that trusts the TLS certificate of srv.
func spawnTrusting(t *testing.T, srv *httptest.Server, args ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return spawnWith(t, t.TempDir(), []string{"SSL_CERT_FILE=" + file}, args...)
}

// TestContentWithInvalidSignatureIsIgnored acts as a hub with TLS, because the program sends a
// secret only to such hubs. It counts how often the program reads the feed.
func TestContentWithInvalidSignatureIsIgnored(t *testing.T) {
	t.Parallel()
	asked := make(chan websub.Subscription, 10)
	h := &hubOf{recordingServer: &recordingServer{}, asked: asked}
	h.recordingServer.answer = func(w http.ResponseWriter, r arrived, _ int) { h.take(t, w, r) }
	secure := httptest.NewTLSServer(h.recordingServer)
	t.Cleanup(secure.Close)
	p, w, s := spawnTrusting(t, secure), newSite(t), newSubscriber(t)
	feed := w.text("/blog", "one")
	if code, body := post(t, p.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	p.relay(t, client.RelayRequest{Feed: feed, Via: "websub", Hub: secure.URL + "/hub"})
	q := <-asked
	if len(q.Secret) < 32 || len(q.Secret) > 199 {
		t.Fatalf("the secret has %d bytes", len(q.Secret))
	}
	before := w.count("/blog")
	good := map[string]string{}
	for _, method := range []string{"sha1", "sha256", "sha384", "sha512"} {
		signature, err := websub.Sign(method, q.Secret, []byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		good[method] = signature
	}
	bad := []string{
		"", "sha256", "sha256=", "=00", "sha256=zz", "md5=00", "sha256=" + strings.Repeat("0", 64), "none=" + good["sha256"][7:], strings.ToUpper(good["sha1"][:3]),
		good["sha256"][:len(good["sha256"])-2], good["sha256"] + "00", "sha1=" + good["sha256"][7:], signatureOf(q.Secret, []byte("other content")), signatureOf("other", []byte("content")),
	}
	for _, signature := range bad {
		if code := deliver(t, q.Callback, "content", signature); code < 200 || code > 299 {
			t.Errorf("signed %q: answered %d", signature, code)
		}
	}
	if n := w.count("/blog") - before; n != 0 {
		t.Errorf("the feed was read %d times", n)
	}
	for method, signature := range good {
		w.text("/blog", "changed "+method)
		if code := deliver(t, q.Callback, "content", signature); code < 200 || code > 299 {
			t.Errorf("signed by %s: answered %d", method, code)
		}
		if got := s.wait(t, "the change"); got != feed {
			t.Errorf("notified of %s", got)
		}
	}
	wait(t, "the deliveries that were not rightly signed are counted", func() bool {
		_, body := get(t, p.admin+"/v1/relays")
		return strings.Contains(body, `"rejected":`)
	})
	if code, body := get(t, p.admin+"/v1/relays"); code != http.StatusOK || strings.Contains(body, q.Secret) || strings.Contains(body, q.Callback) {
		t.Errorf("the list of relays shows the secret or the callback: %d", code)
	}
	_, body := get(t, p.base+"/log?text="+url.QueryEscape(feed))
	if strings.Contains(body, q.Secret) || strings.Contains(body, q.Callback[strings.LastIndexByte(q.Callback, '/')+1:]) {
		t.Error("the log shows the secret or the callback")
	}
}
