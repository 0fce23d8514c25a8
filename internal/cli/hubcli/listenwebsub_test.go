package hubcli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// fakeWebSubHub is an HTTP client that serves a topic and its WebSub hubs.
type fakeWebSubHub struct {
	mu       sync.Mutex
	topic    string        // body of the document at feed.example
	callback http.Handler  // callback of the listener
	lease    time.Duration // lease that the hub grants
	mute     bool          // the hub accepts requests but never verifies them
	deny     string        // reason of the denial; "": the hub grants
	refuse   map[string]bool
	asked    []websub.Request
	at       []time.Time
	read     int
}

const pushTopic = `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="http://hub.example/"/><link rel="self" href="http://feed.example/atom.xml"/></feed>`

func (w *fakeWebSubHub) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.URL.Host == "feed.example" {
		w.read++
		return answer(w.topic), nil
	}
	q, err := websub.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	res := answer("")
	res.StatusCode = http.StatusAccepted
	if w.refuse[r.URL.Host] {
		res.StatusCode = http.StatusBadRequest
		res.Header.Set("Content-Type", "text/plain")
		res.Body = io.NopCloser(strings.NewReader("Not this topic.\n"))
		return res, nil
	}
	w.asked, w.at = append(w.asked, q), append(w.at, time.Now())
	if !w.mute && q.Mode != websub.ModePublish {
		go w.ask(q, w.lease, w.deny)
	}
	return res, nil
}

// ask sends a verification request or a denial to the callback after one second.
func (w *fakeWebSubHub) ask(q websub.Request, lease time.Duration, deny string) {
	<-time.After(time.Second)
	v := websub.Verification{Mode: q.Mode, Topic: q.Subscription.Topic, Challenge: "challenge", Lease: lease}
	if deny != "" {
		v = websub.Verification{Mode: websub.ModeDenied, Topic: q.Subscription.Topic, Reason: deny}
	}
	w.get(websub.VerifyURL(q.Subscription.Callback, v))
}

func (w *fakeWebSubHub) get(address string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.callback.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, address, nil))
	return rec
}

// deliver sends content to a callback. If secret is not "", the delivery is signed.
func (w *fakeWebSubHub) deliver(callback, secret, kind string, body []byte, changed string) int {
	r := httptest.NewRequest(http.MethodPost, callback, bytes.NewReader(body))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Link", websub.LinkHeader("http://hub.example/", "http://feed.example/atom.xml"))
	if changed != "" {
		r.Header.Set(rsscloud.ChangedAtHeader, changed)
	}
	if secret != "" {
		sign, err := websub.Sign(websub.SHA256, secret, body)
		if err != nil {
			panic(err)
		}
		r.Header.Set(websub.SignatureHeader, sign)
	}
	rec := httptest.NewRecorder()
	w.callback.ServeHTTP(rec, r)
	return rec.Code
}

func (w *fakeWebSubHub) requests() []websub.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]websub.Request(nil), w.asked...)
}

func (w *fakeWebSubHub) reads() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read
}

// webSubListener returns a listener whose network is w, one followed feed, and the output of the
// listener.
func webSubListener(w *fakeWebSubHub) (*listener, *followed, *locked) {
	if w.topic == "" {
		w.topic = pushTopic
	}
	out := &locked{}
	f := &followed{url: "http://feed.example/feed"}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out, HTTP: w, Version: "test"}), json: true, via: viaWebSub, domain: "reader.example", port: 5339,
		path: "/notify/run", feeds: map[string]*followed{f.url: f}, notices: make(chan notice, noticeCapacity)}
	l.way = newWebSubWay(l)
	w.callback = l.way.handler()
	return l, f, out
}

// advance advances the clock by d, and waits until all goroutines are idle.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// listening runs l.follow in a goroutine until the test calls stop.
func listening(t *testing.T, l *listener, f *followed) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.follow(ctx, f) }()
	go l.print(ctx)
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func records(t *testing.T, out *locked) (list []record) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, r)
	}
	return list
}

func TestWebSubSubscriptionIsRenewedBeforeLeaseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour}
		l, f, _ := webSubListener(w)
		stop := listening(t, l, f)
		advance(24 * time.Hour)
		stop()
		asked := w.requests()
		if n := len(asked); n < 29 || n > 34 {
			t.Errorf("%d requests in 24 hours for leases of one hour", n)
		}
		for i := 1; i < len(asked); i++ {
			if gap := w.at[i].Sub(w.at[i-1]); gap > 50*time.Minute || gap < 40*time.Minute {
				t.Errorf("renewed after %s", gap)
			}
			if asked[i].Subscription != asked[0].Subscription {
				t.Errorf("renewal of %+v is %+v", asked[0], asked[i])
			}
		}
		s := asked[0].Subscription
		if s.Topic != "http://feed.example/atom.xml" || len(s.Secret) < 20 || !strings.HasPrefix(s.Callback, "http://reader.example:5339/notify/run/") || len(s.Callback) < 60 {
			t.Errorf("request for %+v", s)
		}
		l.cancelAll()
		asked = w.requests()
		if last := asked[len(asked)-1]; last.Mode != websub.ModeUnsubscribe || last.Subscription.Callback != s.Callback {
			t.Errorf("at the end: %+v", last)
		}
	})
}

func TestEachFeedHasItsOwnCallbackAndSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour}
		l, f, _ := webSubListener(w)
		g := &followed{url: "http://feed.example/other"}
		l.feeds[g.url] = g
		for _, f := range l.feeds {
			if err := l.register(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if f.sub.Callback == g.sub.Callback || f.sub.Secret == g.sub.Secret || f.sub.Secret == "" {
			t.Errorf("%+v\n%+v", f.sub, g.sub)
		}
	})
}

func TestDeliveredContentIsPrintedWithoutReadingFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour}
		l, f, out := webSubListener(w)
		stop := listening(t, l, f)
		advance(time.Minute)
		read := w.reads()
		now := time.Now()
		latin := []byte("<rss version=\"2.0\"><channel><item><title>Gr\xfc\xdfe</title><link>http://a.example/1</link></item></channel></rss>")
		image := []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe")
		for _, d := range []struct {
			kind string
			body []byte
		}{{"application/rss+xml; charset=iso-8859-1", latin}, {"image/png", image}, {"", nil}} {
			if code := w.deliver(f.sub.Callback, f.sub.Secret, d.kind, d.body, now.Add(-3*time.Second).Format(time.RFC3339Nano)); code != http.StatusAccepted {
				t.Errorf("status %d", code)
			}
		}
		synctest.Wait()
		stop()
		list := records(t, out)
		if len(list) != 4 || w.reads() != read {
			t.Fatalf("%d more reads of the feed:\n%s", w.reads()-read, out)
		}
		for i, body := range [][]byte{latin, image, nil} {
			r, sum := list[i+1], sha256.Sum256(body)
			if r.Event != "changed" || r.Protocol != "websub" || r.Signature != "ok" || r.Size == nil || *r.Size != len(body) || r.SHA256 != hex.EncodeToString(sum[:]) ||
				r.AfterMS == nil || *r.AfterMS != 3000 || r.Since != "ping" || r.Feed != f.url || r.Hub != "http://hub.example/" {
				t.Errorf("%+v", r)
			}
		}
		if list[1].Title != "Grüße" || list[1].Link != "http://a.example/1" || list[2].Title != "" || list[2].ContentType != "image/png" {
			t.Errorf("%+v\n%+v", list[1], list[2])
		}
	})
}

func TestUnsignedDeliveryIsIgnoredAndReportedOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ secret, want string }{
		{"", "it is not signed (--no-secret accepts deliveries without a signature)"},
		{"another", "its signature does not match the secret and the content"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWebSubHub{lease: time.Hour}
			l, f, out := webSubListener(w)
			stop := listening(t, l, f)
			advance(time.Minute)
			for range 3 {
				if code := w.deliver(f.sub.Callback, tt.secret, "text/plain", []byte("forged"), ""); code/100 != 2 {
					t.Errorf("status %d reveals that the delivery was rejected", code)
				}
			}
			w.deliver(f.sub.Callback, f.sub.Secret, "text/plain", []byte("real"), "")
			synctest.Wait()
			stop()
			list := records(t, out)
			if len(list) != 3 || list[1].Event != "error" || !strings.HasSuffix(list[1].Message, tt.want) || list[2].Event != "changed" || *list[2].Size != 4 {
				t.Errorf("%s", out)
			}
		})
	}
}

func TestUnsignedDeliveriesAreAcceptedWithoutSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour}
		l, f, out := webSubListener(w)
		l.noSecret = true
		stop := listening(t, l, f)
		advance(time.Minute)
		w.deliver(f.sub.Callback, "", "text/plain", []byte("news"), "")
		if code := w.deliver("http://reader.example:5339/notify/run/guessed", "", "text/plain", []byte("forged"), ""); code != http.StatusGone {
			t.Errorf("status %d of an unknown callback", code)
		}
		synctest.Wait()
		stop()
		if list := records(t, out); len(list) != 2 || list[1].Signature != "none" || w.requests()[0].Subscription.Secret != "" {
			t.Errorf("%s", out)
		}
	})
}

func TestOnlyRequestedSubscriptionsAreConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour}
		l, f, _ := webSubListener(w)
		stop := listening(t, l, f)
		advance(time.Minute)
		defer stop()
		for _, tt := range []struct {
			mode, topic, callback string
			status                int
		}{
			{"subscribe", f.sub.Topic, f.sub.Callback, 200}, // the hub did not receive the first response
			{"unsubscribe", f.sub.Topic, f.sub.Callback, 404},
			{"subscribe", "http://feed.example/other", f.sub.Callback, 404},
			{"subscribe", f.sub.Topic, "http://reader.example:5339/notify/run/guessed", 404},
			{"subscribe", f.sub.Topic, "http://reader.example:5339/notify/run/", 404},
		} {
			v := websub.Verification{Mode: tt.mode, Topic: tt.topic, Challenge: "xyz", Lease: time.Hour}
			if rec := w.get(websub.VerifyURL(tt.callback, v)); rec.Code != tt.status || tt.status == 200 && rec.Body.String() != "xyz" {
				t.Errorf("%+v: %d %q", tt, rec.Code, rec.Body)
			}
		}
	})
}

func TestRefusalByWebSubHubIsReported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		push *fakeWebSubHub
		hub  string
		want string
	}{
		{"no verification", &fakeWebSubHub{mute: true}, "", `the hub at http://hub.example/ accepted, but did not verify the callback http://reader\.example:5339/notify/run/\w+ within 30 s: it cannot connect`},
		{"denial", &fakeWebSubHub{deny: "Members only."}, "", `the hub at http://hub.example/ denies http://feed.example/atom.xml: Members only\.`},
		{"error status", &fakeWebSubHub{refuse: map[string]bool{"hub.example": true}}, "", `the hub at http://hub.example/ rejected the request: The hub answered 400 Bad Request. Message: Not this topic`},
		{"no hub", &fakeWebSubHub{topic: "<rss/>"}, "", `http://feed.example/feed names no hub: its Link headers and links contain no rel="hub"; set one with --hub`},
		{"hub from flag", &fakeWebSubHub{topic: "<rss/>", deny: "No."}, "http://hub.example/x", `the hub at http://hub.example/x denies http://feed.example/feed: No\.`},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, f, out := webSubListener(tt.push)
			l.hub = tt.hub
			if err := l.follow(t.Context(), f); err == nil || !matches(tt.want, err.Error()) || len(records(t, out)) != 1 {
				t.Errorf("%s: %v\n%s", tt.name, err, out)
			}
		})
	}
}

func TestNextHubIsTriedAfterRefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: time.Hour, refuse: map[string]bool{"full.example": true},
			topic: strings.Replace(pushTopic, "<link", `<link rel="hub" href="http://full.example/"/><link`, 1)}
		l, f, out := webSubListener(w)
		if err := l.register(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if list := records(t, out); len(list) != 1 || list[0].Hub != "http://hub.example/" {
			t.Errorf("%s", out)
		}
	})
}

func TestSubscriptionEndedByHubIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWebSubHub{lease: 240 * time.Hour}
		l, f, out := webSubListener(w)
		stop := listening(t, l, f)
		advance(time.Hour)
		w.get(websub.VerifyURL(f.sub.Callback, websub.Verification{Mode: websub.ModeDenied, Topic: f.sub.Topic, Reason: "We moved."}))
		advance(5 * time.Minute)
		stop()
		list := records(t, out)
		if len(list) != 3 || list[1].Event != "error" || !strings.Contains(list[1].Message, "ended the subscription of http://feed.example/feed: We moved.") || list[2].Event != "renewed" {
			t.Errorf("%s", out)
		}
	})
}

func TestCancelWaitsForVerificationWithTimeout(t *testing.T) {
	t.Parallel()
	for _, mute := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWebSubHub{lease: time.Hour}
			l, f, out := webSubListener(w)
			if err := l.register(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			w.mute = mute
			begun := time.Now()
			l.cancelAll()
			list := records(t, out)
			last := list[len(list)-1]
			if !mute && (last.Event != "cancelled" || time.Since(begun) != time.Second) {
				t.Errorf("after %s: %+v", time.Since(begun), last)
			}
			if mute && (last.Event != "error" || !strings.Contains(last.Message, "did not verify it within 3 s") || time.Since(begun) != cancelTime) {
				t.Errorf("after %s: %+v", time.Since(begun), last)
			}
			synctest.Wait()
		})
	}
}

func TestDeliveryIsPrintedInPlainText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)
	out := &locked{}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out})}
	d := websub.Delivery{Self: "http://feed.example/", ContentType: "application/atom+xml\x1b[2J", Body: []byte("<feed><entry><title>New</title></entry></feed>"), Verified: true}
	l.emit(*deliveryRecord("http://feed.example/", d, http.Header{}, at))
	want := "03:02:01.000  changed     http://feed.example/  notified now; the time of the change is unknown\n" +
		"                          New\n" +
		"                          application/atom+xml[2J, 46 bytes, signature ok\n"
	if got := out.String(); got != want {
		t.Errorf("%q\n%q", got, want)
	}
}

func TestLeaseIsParsedAsDurationOrSeconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "600": 10 * time.Minute, "10d": 240 * time.Hour, "1h30m": 90 * time.Minute, "1d12h": 36 * time.Hour, "1500ms": time.Second} {
		if got, err := parseLease(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"never", "0", "-5", "1.5.2", "10 d", "-1h", "1ms"} {
		if got, err := parseLease(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("--lease is %q", text)) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}
