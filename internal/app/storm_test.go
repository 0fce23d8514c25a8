package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloudburst/internal/nettest"
)

// TestNotificationsAreNotRepeatedAfterStopDuringDelivery stops the program during 2,000
// deliveries. While stopping, the program waits for callbacks that take seconds. After a restart,
// the program may repeat a notification only if its callback took longer than the stop.
func TestNotificationsAreNotRepeatedAfterStopDuringDelivery(t *testing.T) {
	t.Parallel()
	t.Run("all answer in time", func(t *testing.T) {
		t.Parallel()
		stopInTheMiddle(t, func(int) bool { return false })
	})
	t.Run("some do not", func(t *testing.T) {
		t.Parallel()
		stopInTheMiddle(t, func(id int) bool { return id%50 == 7 })
	})
}

// stopInTheMiddle stops and restarts the program during deliveries. hung selects the callbacks
// that take longer than the program waits while it stops.
func stopInTheMiddle(t *testing.T, hung func(id int) bool) {
	t.Helper()
	const all, some = 2000, 300
	dir := t.TempDir()
	p := spawn(t, dir)
	var calls, hanging atomic.Int64
	var again atomic.Bool
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	c := newCallbacks(t, 8, func(r *http.Request, path string, _ int) {
		if calls.Add(1) >= some && (hanging.Load() > 0 || !hung(7)) {
			begin()
		}
		id, _ := strconv.Atoi(strings.TrimPrefix(path, "/"))
		takes := 40 * time.Millisecond
		switch {
		case id%59 == 5 && !again.Load():
			takes = time.Second + time.Duration(id%20)*100*time.Millisecond
		case hung(id) && !again.Load():
			hanging.Add(1)
			takes = time.Minute
		}
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
		}
	})
	f := newFeed(t)
	feed := f.URL + "/rss.xml"
	c.follow(t, &p.running, feed, all)
	if !accepted(p.base, feed) {
		t.Fatal("the ping was refused")
	}
	select {
	case <-begun:
	case <-time.After(maxWait):
		t.Fatal("it does not begin")
	}
	began := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("stopped with exit status %d", code)
	}
	notified, _, _ := c.count()
	t.Logf("stopped within %s after %d notifications", time.Since(began).Round(10*time.Millisecond), notified)
	if notified == all {
		t.Fatal("all deliveries finished before the stop: the test is inconclusive")
	}
	again.Store(true)
	p = spawn(t, dir)
	since := time.Now()
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := c.count(); return notified == all })
	t.Logf("the other callbacks were notified within %s of the restart", time.Since(since).Round(10*time.Millisecond))
	wait(t, "no work is pending", p.idle)
	notified, sent, maxCalls := c.count()
	if notified != all || sent != all || maxCalls != 1 {
		t.Errorf("%d callbacks received %d notifications, one of them %d; twice: %.300s", notified, sent, maxCalls, strings.Join(c.notifiedTwice(), " "))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	broken := 0
	for path, n := range c.came {
		if id, _ := strconv.Atoi(strings.TrimPrefix(path, "/")); n > 1 && !hung(id) {
			broken++
		}
	}
	if broken > 0 {
		t.Errorf("%d that would have answered in time were called again", broken)
	}
}

func TestSecondSignalStopsServerImmediatelyWithoutDataLoss(t *testing.T) {
	t.Parallel()
	const all = 50
	dir := t.TempDir()
	p := spawn(t, dir)
	first := make(chan struct{}, all)
	var calm atomic.Bool
	c := newCallbacks(t, 2, func(r *http.Request, _ string, _ int) {
		if !calm.Load() {
			first <- struct{}{}
			<-r.Context().Done()
		}
	})
	f := newFeed(t)
	c.follow(t, &p.running, f.URL+"/rss.xml", all)
	if !accepted(p.base, f.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	<-first
	p.signal(syscall.SIGTERM)
	wait(t, "it takes nothing new", func() bool { code, _ := tryGet(p.base + "/readyz"); return code != http.StatusOK })
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code == 0 {
		t.Error("a stop that was cut short ended with exit status 0")
	}
	calm.Store(true)
	p = spawn(t, dir)
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := c.count(); return notified == all })
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("stopped with exit status %d", code)
	}
}

// silentCallbacks starts n servers that accept connections and never answer. It returns their
// base URLs.
func silentCallbacks(t *testing.T, n int) (bases []string) {
	t.Helper()
	for i := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.2.%d:0", i+1))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					_, _ = io.Copy(io.Discard, conn) // read until the client closes the connection
				}()
			}
		}()
		t.Cleanup(func() { l.Close() })
		bases = append(bases, "http://"+l.Addr().String())
	}
	return bases
}

// leave removes the subscriptions that the method follow added.
func (c *manyCallbacks) leave(t *testing.T, r *running, feed string, n int) {
	t.Helper()
	for i := range n {
		callback := fmt.Sprintf("%s/%d", c.bases[i%len(c.bases)], i)
		req, err := http.NewRequest(http.MethodDelete, r.admin+"/v1/subscriptions?"+url.Values{"topic": {feed}, "callback": {callback}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", callback, res.StatusCode)
		}
	}
}

// metric returns the value of one metric of the program.
func (r *running) metric(name string) float64 {
	r.t.Helper()
	_, body := get(r.t, r.admin+"/metrics")
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return v
		}
	}
	r.t.Fatalf("there is no %s in:\n%s", name, body)
	return 0
}

// TestFailingCallbacksDoNotDelayOthers notifies 1,200 callbacks. A third of the callbacks answers,
// a third refuses connections, and a third never answers.
func TestFailingCallbacksDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const each, rounds = 400, 4
	p := spawn(t, t.TempDir(), "--hub.callback-timeout", "1s", "--hub.retry", "1s,2s", "--hub.max-errors", "1000")
	c := newCallbacks(t, 20, func(*http.Request, string, int) {})
	dead := &manyCallbacks{}
	for range 20 {
		dead.bases = append(dead.bases, "http://"+nettest.RefusingAddr(t, "127.0.3.1"))
	}
	mute := &manyCallbacks{bases: silentCallbacks(t, 20)}
	f := &numbered{feed: newFeed(t)}
	feed := f.URL + "/rss.xml"
	for _, group := range []*manyCallbacks{mute, dead, c} {
		group.follow(t, &p.running, feed, each)
	}
	quiet := p.metric("go_goroutines")
	var busiest, memory float64
	for n := range rounds {
		f.raise()
		if !accepted(p.base, feed) {
			t.Fatal("the ping was refused")
		}
		wait(t, "the working callbacks are notified", func() bool {
			busiest, memory = max(busiest, p.metric("go_goroutines")), max(memory, p.metric("process_resident_memory_bytes"))
			notified, sent, _ := c.count()
			return notified == each && sent >= each*(n+1)
		})
	}
	if _, sent, maxCalls := c.count(); sent != each*rounds || maxCalls != rounds {
		t.Errorf("the working callbacks received %d notifications, one of them %d; want %d and %d", sent, maxCalls, each*rounds, rounds)
	}
	wait(t, "the dead count as failing, and some of the silent", func() bool {
		failing := p.failing()
		return dead.countIn(failing) == each && mute.countIn(failing) > 0
	})
	failing := p.failing()
	if n := c.countIn(failing); n > 0 {
		t.Errorf("%d working callbacks count as failing", n)
	}
	t.Logf("goroutines: %.0f before, at most %.0f; memory at most %.0f MiB; %d dead and %d silent ones count as failing",
		quiet, busiest, memory/(1<<20), dead.countIn(failing), mute.countIn(failing))
	if busiest > 3000 || memory > 256<<20 {
		t.Errorf("%.0f goroutines and %.0f MiB are too many", busiest, memory/(1<<20))
	}
	for _, group := range []*manyCallbacks{mute, dead} {
		group.leave(t, &p.running, feed, each)
	}
	wait(t, "no work and few goroutines remain", func() bool { return p.idle() && p.metric("go_goroutines") < quiet+50 })
}

// failing returns the callbacks whose last notification failed, as the program reports them.
func (r *running) failing() (callbacks []string) {
	r.t.Helper()
	for after := ""; ; {
		_, body := get(r.t, r.admin+"/v1/subscriptions?"+url.Values{"limit": {"1000"}, "after": {after}}.Encode())
		var page struct {
			Subscriptions []struct {
				Callback string
				Failures int
			}
			Next string
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			r.t.Fatalf("%v: %.500s", err, body)
		}
		for _, s := range page.Subscriptions {
			if s.Failures > 0 {
				callbacks = append(callbacks, s.Callback)
			}
		}
		if after = page.Next; after == "" {
			return callbacks
		}
	}
}

// countIn returns how many of the given callbacks belong to c.
func (c *manyCallbacks) countIn(callbacks []string) (n int) {
	for _, callback := range callbacks {
		for _, base := range c.bases {
			if strings.HasPrefix(callback, base+"/") {
				n++
			}
		}
	}
	return n
}

// TestSubscribersAreNotifiedOfChangeFoundDuringShutdown sends a ping that is acknowledged before
// the stop. The server of the feed answers only during the stop.
func TestSubscribersAreNotifiedOfChangeFoundDuringShutdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := spawn(t, dir)
	called, answer := make(chan struct{}, 10), make(chan struct{})
	slowly := newCallbacks(t, 1, func(r *http.Request, _ string, _ int) {
		called <- struct{}{}
		select { // a slow callback delays the stop
		case <-time.After(4 * time.Second):
		case <-r.Context().Done():
		}
	})
	c := newCallbacks(t, 1, func(*http.Request, string, int) {})
	other, feed := newFeed(t), httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "<rss><channel><title>new</title></channel></rss>")
	}))
	t.Cleanup(feed.Close)
	slowly.follow(t, &p.running, other.URL+"/rss.xml", 1)
	c.follow(t, &p.running, feed.URL+"/rss.xml", 10)
	if !accepted(p.base, feed.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	if !accepted(p.base, other.URL+"/rss.xml") {
		t.Fatal("the other ping was refused")
	}
	<-called
	p.signal(syscall.SIGTERM)
	wait(t, "it takes nothing new", func() bool { code, _ := tryGet(p.base + "/readyz"); return code == 0 })
	<-time.After(100 * time.Millisecond)
	close(answer)
	if code := p.exit(); code != 0 {
		t.Errorf("stopped with exit status %d", code)
	}
	p = spawn(t, dir)
	wait(t, "no work is pending", p.idle)
	if notified, sent, _ := c.count(); notified != 10 || sent != 10 {
		t.Errorf("%d of 10 callbacks received %d notifications", notified, sent)
	}
}
