package websub_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

// follower is an implementation of Callbacks in memory.
type follower struct {
	mu        sync.Mutex
	pending   map[[3]string]bool // key: token, mode and topic
	wanted    map[string]websub.Wanted
	confirmed []websub.Confirmation
	denied    []websub.Denial
	delivered []websub.Delivery
	rejected  []error
	arrived   chan websub.Delivery // receives each delivery; may be nil
	failing   error                // error of Confirm and Deliver
	lost      error                // error of Wanted
}

func newFollower() *follower {
	return &follower{pending: map[[3]string]bool{}, wanted: map[string]websub.Wanted{}, arrived: make(chan websub.Delivery, 16)}
}

// expect records a pending request of the subscriber for token.
func (f *follower) expect(token, mode, topic, secret string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending[[3]string{token, mode, topic}] = true
	if mode == websub.ModeSubscribe {
		f.wanted[token] = websub.Wanted{Topic: topic, Secret: secret}
	}
}

func (f *follower) Confirm(_ context.Context, c websub.Confirmation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := [3]string{c.Token, c.Mode, c.Topic}
	if !f.pending[key] {
		return websub.ErrNotWanted
	}
	if f.failing != nil {
		return f.failing
	}
	delete(f.pending, key)
	f.confirmed = append(f.confirmed, c)
	if c.Mode == websub.ModeUnsubscribe {
		delete(f.wanted, c.Token)
	}
	return nil
}

func (f *follower) Denied(_ context.Context, d websub.Denial) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.denied = append(f.denied, d)
}

func (f *follower) Wanted(_ context.Context, token string) (websub.Wanted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, ok := f.wanted[token]; ok {
		return w, f.lost
	}
	return websub.Wanted{}, websub.ErrNotWanted
}

func (f *follower) Deliver(ctx context.Context, d websub.Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if websub.RequestFrom(ctx) == nil {
		return errors.New("no request")
	}
	if f.failing != nil {
		return f.failing
	}
	f.delivered = append(f.delivered, d)
	f.arrived <- d
	return nil
}

func (f *follower) Rejected(_ context.Context, token string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rejected = append(f.rejected, err)
}

func verification(token string, pairs ...string) string { return "/cb/" + token + "?" + form(pairs...) }

func TestSubscriberConfirmsOnlyItsPendingRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, target string
		status       int
	}{
		{"a pending request", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc", "hub.lease_seconds", "3600"), 200},
		{"another token", verification("tik", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc"), 404},
		{"no token", verification("", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc"), 404},
		{"another topic", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic+"/", "hub.challenge", "abc"), 404},
		{"a topic in another case", verification("tok", "hub.mode", "subscribe", "hub.topic", strings.ToUpper(testTopic), "hub.challenge", "abc"), 404},
		{"another mode", verification("tok", "hub.mode", "unsubscribe", "hub.topic", testTopic, "hub.challenge", "abc"), 404},
		{"a mode in uppercase", verification("tok", "hub.mode", "SUBSCRIBE", "hub.topic", testTopic, "hub.challenge", "abc"), 404},
		{"no mode", verification("tok", "hub.topic", testTopic, "hub.challenge", "abc"), 404},
		{"no topic", verification("tok", "hub.mode", "subscribe", "hub.challenge", "abc"), 400},
		{"no challenge", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic), 400},
		{"the longest challenge", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", strings.Repeat("c", 1024)), 200},
		{"a challenge that is too long", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", strings.Repeat("c", 1025)), 400},
		{"a challenge of bytes", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "MZ\x00\xff"), 400},
		{"a challenge of lines", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "a\r\nb"), 400},
		{"an invalid query", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc") + "&x=%zz", 400},
		{"the callback's own parameters", "/cb/tok?hub.mode=mine&hub.topic=mine&" + form("hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc"), 200},
		{"a markup challenge stays text", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "<script>alert(1)</script>"), 200},
	} {
		f := newFollower()
		f.expect("tok", "subscribe", testTopic, "")
		r := serve(&websub.Subscriber{Callbacks: f, Log: quiet(t)}, "GET", c.target, "")
		text := bodyOf(t, r)
		if r.StatusCode != c.status || r.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %s %s", c.name, r.StatusCode, r.Header, text)
		}
		if (len(f.confirmed) > 0) != (c.status == 200) {
			t.Errorf("%s: confirmed %+v", c.name, f.confirmed)
		}
		u, err := url.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if challenge := u.Query().Get("hub.challenge"); (text == challenge) != (c.status == 200) {
			t.Errorf("%s: answered %q", c.name, text)
		}
	}
}

func TestConfirmReceivesTheGrantedLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, lease string
		want        time.Duration
	}{
		{"subscribe", "3600", time.Hour},
		{"subscribe", "", 0},
		{"subscribe", "-5", 0},
		{"subscribe", "soon", 0},
		{"subscribe", "9223372036854775807", 9223372036 * time.Second},
		{"unsubscribe", "3600", 0},
	} {
		f := newFollower()
		f.expect("tok", c.mode, testTopic, "")
		serve(&websub.Subscriber{Callbacks: f}, "GET", verification("tok", "hub.mode", c.mode, "hub.topic", testTopic, "hub.challenge", "abc", "hub.lease_seconds", c.lease), "")
		want := []websub.Confirmation{{Token: "tok", Mode: c.mode, Topic: testTopic, Lease: c.want}}
		if d := cmp.Diff(want, f.confirmed); d != "" {
			t.Errorf("%+v\n%s", c, d)
		}
	}
}

func TestSubscriberReportsDeniedSubscription(t *testing.T) {
	t.Parallel()
	f := newFollower()
	r := serve(&websub.Subscriber{Callbacks: f}, "GET", verification("tok", "hub.mode", "denied", "hub.topic", testTopic, "hub.reason", "no\r\nmore \xff"+strings.Repeat("ü", 600)), "")
	if r.StatusCode != 200 || len(f.denied) != 1 {
		t.Fatalf("%d %+v", r.StatusCode, f.denied)
	}
	if d := f.denied[0]; d.Token != "tok" || d.Topic != testTopic || !strings.HasPrefix(d.Reason, "no??more \uFFFDü") || len(d.Reason) > 1010 {
		t.Errorf("%+v", d)
	}
}

func TestBackendErrorReturnsStatus503(t *testing.T) {
	t.Parallel()
	f := newFollower()
	f.expect("tok", "subscribe", testTopic, "")
	f.failing = errors.New("the disk is full")
	var log strings.Builder
	s := &websub.Subscriber{Callbacks: f, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if r := serve(s, "GET", verification("tok", "hub.mode", "subscribe", "hub.topic", testTopic, "hub.challenge", "abc"), ""); r.StatusCode != 503 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := serve(s, "POST", "/cb/tok", "x"); r.StatusCode != 503 || strings.Contains(bodyOf(t, r), "disk") {
		t.Errorf("%d", r.StatusCode)
	}
	f.failing, f.lost = nil, errors.New("the disk is away")
	if r := serve(s, "POST", "/cb/tok", "x"); r.StatusCode != 503 || len(f.delivered) > 0 {
		t.Errorf("%d, %d delivered without the secret", r.StatusCode, len(f.delivered))
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 3 || strings.Contains(text, "tok") {
		t.Errorf("want three lines without the token: %s", text)
	}
	f.failing, f.lost = websub.ErrNotWanted, nil
	if r := serve(s, "POST", "/cb/tok", "x"); r.StatusCode != 410 {
		t.Errorf("%d for a delivery after the end", r.StatusCode)
	}
	for _, method := range []string{"HEAD", "PUT", "OPTIONS"} {
		if r := serve(s, method, "/cb/tok", ""); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, POST" {
			t.Errorf("%s: %d %s", method, r.StatusCode, r.Header)
		}
	}
}

func TestDeliveryRequiresAValidSignature(t *testing.T) {
	t.Parallel()
	const body = "<rss>\x00ü</rss>"
	sign := func(method, secret, body string) string {
		s, err := websub.Sign(method, secret, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	links := websub.LinkHeader("http://hub.example/", "http://self.example/feed")
	right := &websub.Delivery{Token: "tok", Topic: testTopic, Self: testTopic, ContentType: "application/rss+xml; x=y", Body: []byte(body)}
	verified := *right
	verified.Verified = true
	linked := *right
	linked.Hub, linked.Self = "http://hub.example/", "http://self.example/feed"
	empty := *right
	empty.Body = []byte{}
	for _, c := range []struct {
		name, secret, token, body string
		header                    []string
		status                    int
		want                      *websub.Delivery
	}{
		{"without a secret", "", "tok", body, nil, 202, right},
		{"with an unexpected signature", "", "tok", body, []string{"X-Hub-Signature", "sha1=00"}, 202, right},
		{"with links", "", "tok", body, []string{"Link", links}, 202, &linked},
		{"thin", "", "tok", "", nil, 202, &empty},
		{"signed", "s", "tok", body, []string{"X-Hub-Signature", sign("sha256", "s", body)}, 202, &verified},
		{"signed with sha1", "s", "tok", body, []string{"X-Hub-Signature", sign("sha1", "s", body)}, 202, &verified},
		{"signed with sha384", "s", "tok", body, []string{"X-Hub-Signature", sign("sha384", "s", body)}, 202, &verified},
		{"signed with sha512 in capitals", "s", "tok", body, []string{"X-Hub-Signature", strings.ToUpper(sign("sha512", "s", body))}, 202, &verified},
		{"not signed, with a secret", "s", "tok", body, nil, 202, nil},
		{"signed with another secret", "s", "tok", body, []string{"X-Hub-Signature", sign("sha256", "t", body)}, 202, nil},
		{"signed for another body", "s", "tok", body, []string{"X-Hub-Signature", sign("sha256", "s", body+" ")}, 202, nil},
		{"signed in a method of their own", "s", "tok", body, []string{"X-Hub-Signature", "md5=00"}, 202, nil},
		{"not wanted", "", "tik", body, nil, 410, nil},
		{"encoded", "", "tok", body, []string{"Content-Encoding", "gzip"}, 415, nil},
		{"the largest", "", "tok", strings.Repeat("x", 20), nil, 202, &websub.Delivery{Token: "tok", Topic: testTopic, Self: testTopic, ContentType: "application/rss+xml; x=y", Body: []byte(strings.Repeat("x", 20))}},
		{"too large", "", "tok", strings.Repeat("x", 21), nil, 413, nil},
	} {
		f := newFollower()
		f.expect("tok", "subscribe", testTopic, c.secret)
		s := &websub.Subscriber{Callbacks: f, MaxBody: 20, Log: quiet(t)}
		r := serve(s, "POST", "/deep/cb/"+c.token, c.body, append(c.header, "Content-Type", "application/rss+xml; x=y")...)
		if r.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, bodyOf(t, r))
		}
		want := []websub.Delivery(nil)
		if c.want != nil {
			want = append(want, *c.want)
		}
		if d := cmp.Diff(want, f.delivered); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if (len(f.rejected) > 0) != (c.status == 202 && c.want == nil) {
			t.Errorf("%s: rejected %v", c.name, f.rejected)
		}
	}
}

func TestDeliveryWithoutContentLengthIsLimitedAndAccepted(t *testing.T) {
	t.Parallel()
	f := newFollower()
	f.expect("tok", "subscribe", testTopic, "")
	s := &websub.Subscriber{Callbacks: f, MaxBody: 20}
	for _, c := range []struct {
		body   io.Reader
		status int
	}{
		{io.MultiReader(strings.NewReader(strings.Repeat("x", 20))), 202},
		{io.MultiReader(strings.NewReader(strings.Repeat("x", 21))), 413},
		{io.MultiReader(strings.NewReader("x"), broken{}), 400},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/cb/tok", c.body))
		if w.Code != c.status {
			t.Errorf("%d, want %d", w.Code, c.status)
		}
	}
	if len(f.delivered) != 1 {
		t.Errorf("%d deliveries", len(f.delivered))
	}
}
