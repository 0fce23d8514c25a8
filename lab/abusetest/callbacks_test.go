package abusetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// hostileCallback is a server that misbehaves. The last number of its IP address selects the
// kind.
type hostileCallback struct {
	called atomic.Int64
	inside string
}

func (h *hostileCallback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.called.Add(1)
	host, _, _ := net.SplitHostPort(r.Host)
	var a, b, c, d int
	_, _ = fmt.Sscanf(host, "%d.%d.%d.%d", &a, &b, &c, &d) // the test uses only valid addresses
	switch d % 8 {
	case 0: // sends no response
		<-r.Context().Done()
	case 1: // sends one byte per second
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "x"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush() // after an error, the next write also fails
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	case 2: // sends an endless response at full speed
		part := strings.Repeat("x", 64<<10)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
		}
	case 3:
		http.Redirect(w, r, h.inside, http.StatusTemporaryRedirect)
	case 4: // closes the connection without a response
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	case 5:
		w.WriteHeader(http.StatusGone)
	case 6: // sends an endless header
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			defer conn.Close()
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for err == nil {
				_, err = io.WriteString(conn, "X-More: "+strings.Repeat("x", 4000)+"\r\n")
			}
		}
	case 7:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// subscribe imports n subscriptions to a feed as the operator. The program does not verify
// imported subscriptions.
func subscribe(t *testing.T, p *running, feed string, n int, callback func(i int) string) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		line, err := json.Marshal(client.Subscription{Topic: feed, Protocol: "http-post", Callback: callback(i), CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if _, err := p.operator().Import(t.Context(), strings.NewReader(lines.String()), client.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
}

// notifyGood changes a feed and waits until the hundred correct callbacks are notified. The test
// fails if they wait longer than 30 seconds.
func notifyGood(t *testing.T, p *running, f *feeds, feed string, callback *callbackServer) {
	t.Helper()
	begun := time.Now()
	ver, _ := f.Raise(feed)
	outside.Until(t, "the feed can be pinged", func() bool {
		return outside.Post(t.Context(), impatient, p.Base+"/ping", map[string][]string{"url": {feed}}).OK()
	})
	var last time.Duration
	for i := range 100 {
		path := fmt.Sprintf("/good%d", i)
		outside.Until(t, path+" is notified", func() bool {
			at := f.readSince(feed, ver)
			return !at.IsZero() && callback.received(path, feed, at)
		})
		last = max(last, time.Since(begun))
	}
	t.Logf("the 100 good callbacks were notified of version %d within %s", ver, last.Round(time.Millisecond))
	if last > 30*time.Second {
		t.Errorf("the good callbacks waited %s", last)
	}
}

func TestHostileCallbacksDelayNoOtherSubscriber(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	f := newFeeds()
	feed := serve(t, feedHosts+"3", f) + "/feed.xml"
	var secret atomic.Int64
	h := &hostileCallback{inside: serve(t, inside, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { secret.Add(1) }))}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(serve(t, "0.0.0.0", h), "http://"))
	callback := newCallbackServer(t, "0.0.0.0")
	n := 2000 // more than the limit of open connections
	if *forFlag > 0 {
		n = 20_000
	}
	subscribe(t, p, feed, 100, func(i int) string { return fmt.Sprintf("http://127.40.%d.1:%s/good%d", i, callback.port, i) })
	notifyGood(t, p, f, feed, callback) // from now on, the hub knows these callbacks as reliable
	subscribe(t, p, feed, n, func(i int) string {
		return fmt.Sprintf("http://127.%d.%d.%d:%s/hostile", 100+i/50000, 1+i/200%250, 1+i%200, port)
	})
	v.during(t, fmt.Sprintf("%d hostile callbacks", n), func() {
		for end := time.Now().Add(lasts(4 * time.Second)); time.Now().Before(end); {
			notifyGood(t, p, f, feed, callback)
			time.Sleep(500 * time.Millisecond)
		}
	})
	failing := 0
	for s, err := range p.operator().Subscriptions(t.Context(), client.SubscriptionQuery{Topic: feed, Match: "/good"}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Failures > 0 || s.LastError != "" {
			failing++
		}
	}
	if failing > 0 {
		t.Errorf("%d good subscriptions have recorded errors, want 0", failing)
	}
	t.Logf("the hostile callbacks were called %d times", h.called.Load())
	if secret.Load() > 0 || h.called.Load() < int64(n)/4 {
		t.Errorf("hostile callbacks: %d calls; an internal address: %d calls, want 0", h.called.Load(), secret.Load())
	}
	v.served(t)
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}
