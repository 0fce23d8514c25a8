package hubcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

// fakeCloudHub is an HTTP client that serves a feed and its rssCloud hub.
type fakeCloudHub struct {
	mu        sync.Mutex
	down      bool
	refuse    bool
	refusal   string // message with which the hub rejects requests; "": "No room."
	unread    error  // network error of requests for the feed; nil: the server responds
	status    int    // status of the response with the feed; 0: 200
	reads     []time.Time
	registers []time.Time
	cancels   int
}

const fakeFeed = `<rss version="2.0"><channel><cloud domain="hub.example" port="80" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/></channel></rss>`

func (c *fakeCloudHub) Do(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Host == "feed.example" || r.URL.Host == "feed.example" {
		c.reads = append(c.reads, time.Now())
		res := answer(fakeFeed)
		if c.status != 0 {
			res.StatusCode = c.status
		}
		return res, c.unread
	}
	if c.down {
		return nil, errors.New("connection refused")
	}
	if strings.HasSuffix(r.URL.Path, "cancel") {
		c.cancels++
		return answer(`<notifyResult success="true" msg="Cancelled."/>`), nil
	}
	c.registers = append(c.registers, time.Now())
	if c.refuse || c.refusal != "" {
		return answer(`<notifyResult success="false" msg="` + cmp.Or(c.refusal, "No room.") + `"/>`), nil
	}
	return answer(`<notifyResult success="true" msg="Registered."/>`), nil
}

func answer(body string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}
}

func (c *fakeCloudHub) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *fakeCloudHub) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.registers)
}

// locked is a buffer that goroutines may use concurrently.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func cloudListener(w *fakeCloudHub) (*listener, *followed, *locked) {
	out := &locked{}
	p := inShell(shell.Shell{Out: out, Err: out, HTTP: w, Version: "test"})
	f := &followed{url: "http://feed.example/rss.xml"}
	l := &listener{p: p, json: true, via: rsscloud.HTTPPost, port: 5339, path: "/notify", feeds: map[string]*followed{f.url: f}}
	l.way = newCloudWay(l)
	return l, f, out
}

func TestRegistrationIsRenewedWithin24Hours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{}
		l, f, _ := cloudListener(w)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.follow(ctx, f) }()
		<-time.After(10*24*time.Hour + 4*time.Hour)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(w.registers); n != 11 {
			t.Errorf("registered %d times in ten days", n)
		}
		for i := 1; i < len(w.registers); i++ {
			if gap := w.registers[i].Sub(w.registers[i-1]); gap > 24*time.Hour+time.Minute || gap < 23*time.Hour {
				t.Errorf("renewed after %s", gap)
			}
		}
		l.cancelAll()
		if w.cancels != 1 {
			t.Errorf("%d cancellations", w.cancels)
		}
	})
}

func TestRegistrationIsRetriedWithBackoffAfterOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{}
		l, f, out := cloudListener(w)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.follow(ctx, f) }()
		<-time.After(time.Hour)
		w.set(func() { w.down = true })
		<-time.After(47 * time.Hour)
		if n := strings.Count(out.String(), "trying again"); n < 50 || n > 250 {
			t.Errorf("%d attempts in a day", n)
		}
		w.set(func() { w.down = false })
		<-time.After(15 * time.Minute)
		if n := w.count(); n != 2 {
			t.Errorf("registered %d times", n)
		}
		// A later rejection does not end the attempts, because the hub may be full only for some
		// time.
		w.set(func() { w.refuse = true })
		<-time.After(25 * time.Hour)
		w.set(func() { w.refuse = false })
		<-time.After(15 * time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), `"event":"renewed"`); n != 2 {
			t.Errorf("renewed %d times:\n%s", n, out.String())
		}
	})
}

func TestRefusalOfFirstRegistrationIsFinal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{refuse: true}
		l, f, out := cloudListener(w)
		if err := l.follow(t.Context(), f); err == nil || !strings.Contains(out.String(), "refuses http://feed.example/rss.xml: No room.") {
			t.Errorf("%v\n%s", err, out.String())
		}
	})
}

func TestUnreachableHubIsRetriedAtStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{down: true}
		l, f, _ := cloudListener(w)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.follow(ctx, f) }()
		<-time.After(time.Minute)
		w.set(func() { w.down = false })
		<-time.After(15 * time.Minute)
		cancel()
		if err := <-done; err != nil || w.count() != 1 {
			t.Error(err, w.count())
		}
	})
}

// refused returns the error of a connection to a port on which no server listens.
func refused() error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000}, Err: syscall.ECONNREFUSED}
}

func TestUnreachableFeedIsRetriedAtStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{unread: refused()}
		l, f, out := cloudListener(w)
		l.json = false
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.follow(ctx, f) }()
		<-time.After(time.Minute)
		w.set(func() {
			if n := len(w.reads); n < 10 || n > 30 {
				t.Errorf("the feed was requested %d times in a minute", n)
			}
			w.unread = nil
		})
		<-time.After(maxWait)
		cancel()
		if err := <-done; err != nil || w.count() != 1 {
			t.Errorf("registered %d times: %v", w.count(), err)
		}
		text := out.String()
		if want := "waiting for http://feed.example/rss.xml: no connection to 127.0.0.1:8000: connection refused\n"; strings.Count(text, want) != 1 || !strings.Contains(text, "registered") {
			t.Errorf("printed %s, want once %s", text, want)
		}
	})
}

func TestCancelledContextEndsTheWaitForAFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCloudHub{unread: refused()}
		l, f, out := cloudListener(w)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := l.follow(ctx, f); err != nil || w.count() > 0 {
			t.Errorf("registered %d times: %v", w.count(), err)
		}
		if text := out.String(); !strings.Contains(text, `"event":"waiting"`) || strings.Contains(text, `"event":"error"`) {
			t.Error(text)
		}
	})
}

func TestFeedIsReadAgainOnlyAfterTemporaryErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w     *fakeCloudHub
		waits bool
	}{
		"no such host":   {&fakeCloudHub{unread: &net.DNSError{Name: "feed.example", IsNotFound: true}}, false},
		"another scheme": {&fakeCloudHub{unread: errors.New("unsupported protocol scheme")}, false},
		"closed":         {&fakeCloudHub{unread: io.EOF}, true},
		"404":            {&fakeCloudHub{status: 404}, false},
		"410":            {&fakeCloudHub{status: 410}, false},
		"503":            {&fakeCloudHub{status: 503}, true},
		"429":            {&fakeCloudHub{status: 429}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, f, out := cloudListener(c.w)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := l.follow(ctx, f)
				if waited := err == nil; waited != c.waits || strings.Contains(out.String(), `"event":"waiting"`) != c.waits {
					t.Errorf("waited %v: %v\n%s", waited, err, out)
				}
			})
		})
	}
}

func TestNotificationDelayIsMeasuredFromPingTimeOrLastModified(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, int(5*time.Millisecond), time.UTC)
	for _, tt := range []struct {
		header   string
		modified string
		after    float64
		since    string
	}{
		{"2026-05-04T03:02:01.0018Z", "", 3.2, "ping"},
		{"1777863721001", "Mon, 04 May 2026 03:02:00 GMT", 4, "ping"},
		{"nonsense", "Mon, 04 May 2026 03:02:00 GMT", 1005, "modified"},
		{"", "", 61005, "date"},
	} {
		out := &locked{}
		res := answer(`<rss><channel><item><title>A &lt;b&gt;title&lt;/b&gt;</title><pubDate>Mon, 04 May 2026 03:01:00 GMT</pubDate></item></channel></rss>`)
		res.Header.Set("Last-Modified", tt.modified)
		l := &listener{p: inShell(shell.Shell{Out: out, Err: out, HTTP: always{res}}), json: true}
		l.report(t.Context(), notice{feed: "http://feed.example/", at: at, changedAt: parseChangedAt(tt.header)})
		var r record
		if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if r.AfterMS == nil || *r.AfterMS != tt.after || r.Since != tt.since {
			t.Errorf("%q: %s", tt.header, out.String())
		}
	}
}

type always struct{ res *http.Response }

func (a always) Do(*http.Request) (*http.Response, error) { return a.res, nil }

func TestNotificationDelayIsPrintedBeforeFeedIsRead(t *testing.T) {
	t.Parallel()
	out := &locked{}
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out, HTTP: always{answer(`<feed><entry><title>New</title></entry></feed>`)}})}
	l.report(t.Context(), notice{feed: "http://feed.example/\x1b[2J", at: at, changedAt: at.Add(-3200 * time.Microsecond)})
	want := "03:02:01.000  changed     http://feed.example/[2J  notified after 3.2 ms\n"
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%q\n%q", got, want)
	}
}
