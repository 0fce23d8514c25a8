package app_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/protocol/websub"
)

// The following tests check requirements for hubs beyond the numbered checks in websub_test.go.

func TestOnlyTheExactChallengeConfirmsASubscription(t *testing.T) {
	t.Parallel()
	w, other := newWebSubHub(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "one")
	elsewhere := newRecordingServer(t, nil)
	answers := map[string]func(w http.ResponseWriter, challenge string){
		"404":                     func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) },
		"404 with the challenge":  func(w http.ResponseWriter, c string) { w.WriteHeader(http.StatusNotFound); _, _ = io.WriteString(w, c) },
		"500 with the challenge":  func(w http.ResponseWriter, c string) { w.WriteHeader(500); _, _ = io.WriteString(w, c) },
		"nothing":                 func(w http.ResponseWriter, _ string) {},
		"no content":              func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNoContent) },
		"another challenge":       func(w http.ResponseWriter, c string) { _, _ = io.WriteString(w, strings.Repeat("x", len(c))) },
		"a trailing newline":      func(w http.ResponseWriter, c string) { _, _ = io.WriteString(w, c+"\n") },
		"a space before it":       func(w http.ResponseWriter, c string) { _, _ = io.WriteString(w, " "+c) },
		"in another case":         func(w http.ResponseWriter, c string) { _, _ = io.WriteString(w, strings.ToLower(c)) },
		"a page that contains it": func(w http.ResponseWriter, c string) { _, _ = io.WriteString(w, "<p>You searched for "+c) },
		"a redirect to a confirming callback": func(w http.ResponseWriter, c string) {
			w.Header().Set("Location", elsewhere.URL+"/?hub.challenge="+c)
			w.WriteHeader(http.StatusFound)
			_, _ = io.WriteString(w, c)
		},
	}
	list := map[string]*recordingServer{}
	for name, answer := range answers {
		e := newRecordingServer(t, func(w http.ResponseWriter, r arrived, _ int) { answer(w, r.URL.Query().Get("hub.challenge")) })
		w.accepts(t, "subscribe", topic, e.URL+"/cb")
		list[name] = e
	}
	w.decided(t)
	w.subscribe(t, topic, other.URL+"/cb")
	w.publish(t, topic)
	other.await(t, "POST", 1)
	for name, e := range list {
		if _, ok := w.subscription(t, topic, e.URL+"/cb"); ok || len(e.got("POST")) != 0 {
			t.Errorf("%s is taken for consent", name)
		}
		if n := len(e.got("GET")); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	if n := len(elsewhere.got("GET")); n != 0 {
		t.Error("a redirect was followed")
	}
}

func TestAny2xxStatusWithChallengeConfirmsASubscription(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	topic := w.text("/blog", "one")
	for _, status := range []int{200, 201, 202, 203, 299} {
		e := newRecordingServer(t, func(w http.ResponseWriter, r arrived, n int) {
			w.WriteHeader(status)
			confirm(w, r, n)
		})
		w.subscribe(t, topic, e.URL+"/cb")
	}
}

func TestSubscriptionToUndeliverableTopicIsDenied(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, func(c *config.Config) { c.WebSub.MaxContent = 1000 })
	w.put("/gone", page{status: http.StatusGone})
	w.text("/large", strings.Repeat("x", 1001))
	for path, reason := range map[string]string{"/missing?a=1&b=2": "404", "/gone": "410", "/large": "1,001"} {
		e := newRecordingServer(t, nil)
		w.accepts(t, "subscribe", w.URL+path, e.URL+"/cb?hub.mode=mine&x=%2F")
		w.decided(t)
		asked := e.got("GET")
		if len(asked) != 1 || !strings.HasPrefix(asked[0].RequestURI, "/cb?hub.mode=mine&x=%2F&hub.mode=denied&") {
			t.Fatalf("%s: asked %d times: %v", path, len(asked), asked)
		}
		if q := asked[0].URL.Query(); q.Get("hub.topic") != w.URL+path || !strings.Contains(q.Get("hub.reason"), reason) || q.Has("hub.challenge") || q.Has("hub.lease_seconds") {
			t.Errorf("%s: received %v", path, q)
		}
		if _, ok := w.subscription(t, w.URL+path, e.URL+"/cb?hub.mode=mine&x=%2F"); ok {
			t.Errorf("%s: subscribed nevertheless", path)
		}
	}
}

func TestLargeContentIsRefusedOrSentWithoutContent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reject", "without-content"} {
		w, e := newWebSubHub(t, func(c *config.Config) { c.WebSub.MaxContent, c.WebSub.LargeTopics = 1000, how }), newRecordingServer(t, nil)
		topic := w.text("/blog", "small")
		w.subscribe(t, topic, e.URL+"/cb", "hub.secret", "s")
		w.text("/blog", strings.Repeat("x", 1001))
		w.publish(t, topic)
		notified := e.got("POST")
		switch {
		case how == "reject" && len(notified) != 0, how == "without-content" && len(notified) != 1:
			t.Fatalf("%s: %d notifications", how, len(notified))
		case how == "without-content" && (len(notified[0].body) != 0 || notified[0].Header.Get("X-Hub-Signature") != signatureOf("s", nil)):
			t.Errorf("%s: received %d bytes, signed %s", how, len(notified[0].body), notified[0].Header.Get("X-Hub-Signature"))
		}
		w.text("/blog", "small again")
		w.publish(t, topic)
		notified = e.got("POST")
		w.same(t, notified[len(notified)-1], topic, "text/plain", "small again")
	}
}

func TestCallbackURLIsUsedByteForByte(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	topic := w.text("/blog", "one")
	e := newRecordingServer(t, nil)
	paths := []string{
		"", "/", "?x=1", "/cb", "/Path/CASE", "/a%2fb%2Fc", "/%7Euser/~user", "/a;b=1|c,d", "/a//b/../c/.", "//two", "/p?", "/p?a=1&", "/p??&&",
		"/p?hub.mode=mine&hub.topic=mine&hub.challenge=mine&hub.lease_seconds=1", "/p?q=a+b%20c&q=%41;x|y", "/ü?ü=%C3%BC", "/p?x=\"'<>^`{}", "/p?u=http://x/?y=z",
	}
	for _, path := range paths {
		w.subscribe(t, topic, e.URL+path)
	}
	asked := e.await(t, "GET", len(paths))
	w.publish(t, topic)
	notified := e.await(t, "POST", len(paths))
	line := func(path string) string {
		if !strings.HasPrefix(path, "/") {
			return "/" + path
		}
		return path
	}
	for i, path := range paths {
		// RequestURI contains the unchanged bytes of the request line.
		rest, ok := strings.CutPrefix(asked[i].RequestURI, line(path))
		if !ok || !strings.HasPrefix(strings.TrimLeft(rest, "?&"), "hub.mode=subscribe&hub.topic=") || len(rest)-len(strings.TrimLeft(rest, "?&")) > 1 {
			t.Errorf("%q was asked as %q", path, asked[i].RequestURI)
		}
		found := 0
		for _, d := range notified {
			if d.RequestURI == line(path) {
				found++
			}
		}
		if want := map[bool]int{false: 1, true: 2}[path == "" || path == "/"]; found != want {
			t.Errorf("%q received %d notifications", path, found)
		}
	}
	for _, path := range []string{"/a b", "/a\tb", "/a\\b", "/a#b", "/a\x7f"} {
		if code, body := w.ask(t, "subscribe", topic, e.URL+path); code != http.StatusBadRequest {
			t.Errorf("%q: %d %s", path, code, body)
		}
	}
	if code, _ := w.ask(t, "subscribe", topic, strings.Replace(e.URL, "://", "://me:secret@", 1)); code != http.StatusBadRequest {
		t.Errorf("a callback with a log-in: %d", code)
	}
	for callback, want := range map[string]string{
		"http://10.0.0.1/cb": "10.0.0.1", "http://[fe80::1]/cb": "fe80", "http://192.0.2.1:22/cb": "port 22", "http://192.0.2.1:99999/cb": "99999",
	} {
		if code, body := w.ask(t, "subscribe", topic, callback); code < 400 || code > 499 || !strings.Contains(body, want) {
			t.Errorf("%s, which can never be called: %d %s", callback, code, body)
		}
	}
}

func TestNotificationContainsTopicURLAsSubscribed(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	for query, shown := range map[string]string{
		"":                                 "",
		"?a=1&b=%2F%7e":                    "?a=1&b=%2F%7e",
		"?a;b|c,d":                         "?a;b|c,d",
		"?x=<>\"":                          "?x=%3C%3E%22",
		"?ü":                               "?%C3%BC",
		"?u=http://127.0.0.1/,rel=\"hub\"": "?u=http://127.0.0.1/,rel=%22hub%22",
	} {
		e := newRecordingServer(t, nil)
		w.text("/blog", "one")
		w.subscribe(t, w.URL+"/blog"+query, e.URL+"/cb")
		if got := e.await(t, "GET", 1)[0].URL.Query().Get("hub.topic"); got != w.URL+"/blog"+query {
			t.Errorf("asked about %q", got)
		}
		w.text("/blog", "two")
		w.publish(t, w.URL+"/blog"+query)
		w.same(t, e.await(t, "POST", 1)[0], w.URL+"/blog"+shown, "text/plain", "two")
	}
}

// TestMovedTopicKeepsItsSubscriptions redirects a topic to another URL. The subscriptions must
// keep the URL that the subscribers requested.
func TestMovedTopicKeepsItsSubscriptions(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 307, 308} {
		w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
		topic := w.text("/old", "one")
		w.subscribe(t, topic, e.URL+"/cb")
		w.put("/old", page{status: status, header: []string{"Location", "/new"}})
		w.put("/new", page{header: []string{"Content-Type", "application/json", "Link", `<SITE/new>; rel="self"`}, body: `"two"`})
		w.publish(t, topic)
		w.same(t, e.await(t, "POST", 1)[0], topic, "application/json", `"two"`)
		// From now on, the hub also accepts pings for the new URL.
		w.put("/new", page{header: []string{"Content-Type", "application/json"}, body: `"three"`})
		w.publish(t, w.URL+"/new")
		w.same(t, e.await(t, "POST", 2)[1], topic, "application/json", `"three"`)
	}
}

// TestTestFeedIsDeliveredByWebSub subscribes to the test feed by WebSub.
func TestTestFeedIsDeliveredByWebSub(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	for _, method := range []string{"GET", "HEAD"} {
		r, err := http.NewRequestWithContext(t.Context(), method, w.base+"/test/rss.xml", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Values("Link"); len(got) != 1 || strings.Count(got[0], `rel="hub"`) != 1 || strings.Count(got[0], `rel="self"`) != 1 {
			t.Errorf("%s: Link is %q", method, got)
		}
	}
	d, err := (&websub.Client{}).Discover(t.Context(), w.base+"/test/rss.xml")
	if err != nil || len(d.Hubs) != 1 || d.Hubs[0] != w.base+"/websub" {
		t.Fatalf("discovered %+v, %v", d, err)
	}
	if err := (&websub.Client{}).Subscribe(t.Context(), d.Hubs[0], websub.Subscription{Callback: e.URL + "/cb", Topic: d.Topic()}); err != nil {
		t.Fatal(err)
	}
	w.decided(t)
	w.publish(t, d.Topic())
	w.same(t, e.await(t, "POST", 1)[0], d.Topic(), "application/rss+xml; charset=utf-8", string(e.got("POST")[0].body))
}

func TestLeaseIsClampedAndReported(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "one")
	for i, c := range [][2]string{{"1", "300"}, {"300", "300"}, {"86400", "86400"}, {"864001", "864000"}, {"99999999", "864000"}, {"99999999999999999999", "864000"}, {"", "864000"}} {
		s := w.subscribe(t, topic, e.URL+"/cb", "hub.lease_seconds", c[0])
		if got := e.await(t, "GET", i+1)[i].URL.Query().Get("hub.lease_seconds"); got != c[1] || fmt.Sprint(int(s.ExpiresAt.Sub(s.RenewedAt).Seconds())) != c[1] {
			t.Errorf("requested %q: reported %s, granted %s", c[0], got, s.ExpiresAt.Sub(s.RenewedAt))
		}
	}
	for _, bad := range []string{"0", "-1", "1.5", "ten"} {
		if code, body := w.ask(t, "subscribe", topic, e.URL+"/cb", "hub.lease_seconds", bad); code != http.StatusBadRequest {
			t.Errorf("a lease of %s: %d %s", bad, code, body)
		}
	}
}

func TestResponseStatusOfSubscriberDecidesAboutRetry(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	w, elsewhere := newWebSubHub(t, nil), newRecordingServer(t, nil)
	topic := w.text("/blog", "one")
	// at returns a server that answers deliveries with f. The server confirms all other requests,
	// which are verifications.
	at := func(f func(w http.ResponseWriter, n int)) *recordingServer {
		return newRecordingServer(t, func(w http.ResponseWriter, r arrived, n int) {
			if r.Method == http.MethodGet {
				confirm(w, r, n)
				return
			}
			f(w, n)
		})
	}
	list := map[string]*recordingServer{
		"500 three times": at(func(w http.ResponseWriter, n int) { w.WriteHeader(map[bool]int{true: 500, false: 200}[n <= 3]) }),
		"a redirect": at(func(w http.ResponseWriter, n int) {
			w.Header().Set("Location", elsewhere.URL+"/cb")
			w.WriteHeader(map[bool]int{true: http.StatusPermanentRedirect, false: 200}[n <= 3])
		}),
		"404 three times": at(func(w http.ResponseWriter, n int) { w.WriteHeader(map[bool]int{true: 404, false: 204}[n <= 3]) }),
		"410":             at(func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusGone) }),
		"five seconds":    at(func(w http.ResponseWriter, _ int) { <-time.After(5 * time.Second); w.WriteHeader(http.StatusAccepted) }),
		"a page":          at(func(w http.ResponseWriter, _ int) { _, _ = io.WriteString(w, strings.Repeat("false", 2000)) }),
	}
	for _, e := range list {
		w.subscribe(t, topic, e.URL+"/cb", "hub.secret", "s")
	}
	w.text("/blog", "two")
	w.publish(t, topic)
	for name, want := range map[string]int{"500 three times": 4, "a redirect": 4, "404 three times": 4, "410": 1, "five seconds": 1, "a page": 1} {
		notified := list[name].got("POST")
		if len(notified) != want {
			t.Errorf("%s: %d notifications, want %d", name, len(notified), want)
		}
		for _, d := range notified {
			if string(d.body) != "two" || d.Header.Get("X-Hub-Signature") != signatureOf("s", []byte("two")) {
				t.Errorf("%s: received %q", name, d.body)
			}
		}
		if s, ok := w.subscription(t, topic, list[name].URL+"/cb"); ok == (name == "410") || s.Failures != 0 {
			t.Errorf("%s: subscribed: %v, with %d failures", name, ok, s.Failures)
		}
	}
	if len(elsewhere.got("POST"))+len(elsewhere.got("GET")) != 0 {
		t.Error("a redirect was followed")
	}
	w.text("/blog", "three")
	w.publish(t, topic)
	for name, e := range list {
		notified := e.got("POST")
		if last := string(notified[len(notified)-1].body); (last == "three") == (name == "410") {
			t.Errorf("%s: the next change: received %q", name, last)
		}
	}
}

func TestPublishRequestCanContainManyTopics(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newRecordingServer(t, nil)
	form := url.Values{"hub.mode": {"publish"}, "foo": {"bar"}}
	for i := range 20 {
		topic := w.text(fmt.Sprintf("/%d", i), "one")
		w.subscribe(t, topic, fmt.Sprintf("%s/%d", e.URL, i))
		form.Add([]string{"hub.url", "hub.topic"}[i%2], topic)
	}
	if code, body := post(t, w.base+"/websub", form); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, body)
	}
	notified := map[string]int{}
	for _, d := range e.await(t, "POST", 20) {
		notified[d.RequestURI]++
	}
	if len(notified) != 20 {
		t.Errorf("received %v", notified)
	}
	for name, f := range map[string]url.Values{
		"none":       {"hub.mode": {"publish"}},
		"no URL":     {"hub.mode": {"publish"}, "hub.url": {"blog"}},
		"unreadable": {"hub.mode": {"publish"}, "hub.url": {w.URL + "/missing"}},
	} {
		if code, body := post(t, w.base+"/websub", f); code < 400 || code > 499 || body == "" {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if code, body := post(t, w.base+"/websub", url.Values{"hub.mode": {"publish"}, "hub.url": {w.URL + "/1", "nonsense"}}); code != http.StatusAccepted || !strings.Contains(body, "nonsense") {
		t.Errorf("one of two: %d %s", code, body)
	}
}

func TestTopicsAreRestrictedBySettingOfTheOperator(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string][3]int{"open": {202, 202, 202}, "known": {403, 202, 202}, "own": {403, 403, 202}} {
		w, e, s := newWebSubHub(t, func(c *config.Config) { c.WebSub.Topics = policy }), newRecordingServer(t, nil), newSubscriber(t)
		unknown, known := w.text("/unknown", "x"), w.text("/known", "x")
		if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(known, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
		for i, topic := range []string{unknown, known, w.base + "/test/rss.xml"} {
			if code, body := w.ask(t, "subscribe", topic, e.URL+"/cb"); code != want[i] || body == "" {
				t.Errorf("%s, %s: %d %s", policy, topic, code, body)
			}
		}
		w.decided(t)
	}
}

func TestHubEndpointServesPageToBrowsers(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	for _, path := range []string{"/hub", "/websub"} {
		for method, want := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "PUT": 405} {
			r, err := http.NewRequestWithContext(t.Context(), method, w.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != want || (method == "GET") != strings.Contains(string(body), "hub.mode=subscribe") && method != "PUT" {
				t.Errorf("%s %s: %d %s", method, path, res.StatusCode, body)
			}
		}
	}
}

// TestSecretAndCallbackOfASubscriberAreNotDisclosed searches all public output for a secret and a
// callback. It also searches the operator's normal output for the secret.
func TestSecretAndCallbackOfASubscriberAreNotDisclosed(t *testing.T) {
	t.Parallel()
	const secret, token = "zq-secret-zq", "zq-token-zq"
	var log safeBuffer
	w := &websubHub{site: newSite(t)}
	cfg := conf(t, t.TempDir())
	cfg.Hub.PingInterval, cfg.Hub.Retry = time.Millisecond, []time.Duration{20 * time.Millisecond}
	w.running = startWith(t, cfg, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	e := newRecordingServer(t, func(w http.ResponseWriter, r arrived, n int) {
		if r.Method == http.MethodPost && n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		confirm(w, r, n)
	})
	topic := w.text("/blog", "one")
	w.accepts(t, "subscribe", w.URL+"/missing", e.URL+"/"+token, "hub.secret", secret)  // the hub denies this subscription
	w.accepts(t, "subscribe", topic, "http://127.0.0.1:2/"+token, "hub.secret", secret) // this callback never confirms its subscription
	w.accepts(t, "subscribe", topic, e.URL+"/"+token, "hub.secret", secret)
	wait(t, "it is subscribed", func() bool { _, ok := w.subscription(t, topic, e.URL+"/"+token); return ok })
	w.publish(t, topic)
	e.await(t, "POST", 2)
	_, topics := get(t, w.base+"/topics")
	public := []string{"/", "/log", "/log?text=" + token, "/topics", "/topics?match=" + token, "/status", "/changes", "/changes.xml", "/docs"}
	if i := strings.Index(topics, `href="/topics/`); i >= 0 {
		path, _, _ := strings.Cut(topics[i+len(`href="`):], `"`)
		public = append(public, path)
	} else {
		t.Error("the page of topics names none")
	}
	for _, path := range public {
		code, body := get(t, w.base+path)
		body = strings.ReplaceAll(body, `value="`+token+`"`, "") // remove the input of the client, which the page may repeat
		if code != http.StatusOK || strings.Contains(body, secret) || strings.Contains(body, token) {
			t.Errorf("%s: %d, shows the secret: %v, the callback: %v", path, code, strings.Contains(body, secret), strings.Contains(body, token))
		}
	}
	for _, path := range []string{"/v1/status", "/v1/log?limit=1000", "/v1/subscriptions", "/v1/topics", "/metrics"} {
		if code, body := get(t, w.admin+path); code != http.StatusOK || strings.Contains(body, secret) {
			t.Errorf("%s: %d, shows the secret: %v", path, code, strings.Contains(body, secret))
		}
	}
	if code, body := get(t, w.admin+"/v1/subscriptions/export"); code != http.StatusOK || !strings.Contains(body, secret) {
		t.Errorf("an export for another hub: %d, has the secret: %v", code, strings.Contains(body, secret))
	}
	if text := log.String(); strings.Contains(text, secret) || strings.Contains(text, token) {
		t.Errorf("the log has one of them:\n%s", text)
	}
}

// safeBuffer is a buffer that supports concurrent writers.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
