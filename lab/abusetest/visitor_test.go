package abusetest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// visitor is a well-behaved client. It pings, receives notifications and opens pages in sequence,
// each on a new connection.
type visitor struct {
	p        *running
	client   *http.Client
	feeds    *feeds
	feed     string
	callback *callbackServer
	calm     time.Duration // longest response time before the attack

	mu       sync.Mutex
	pings    []time.Duration // times from a ping to its response
	notified []time.Duration // times from a ping to its notification
	pages    []time.Duration
	refused  []string
	failed   []string
}

const visitorPath = "/visitor"

// visit registers a visitor, runs one round of its requests without an attack, and returns the
// visitor.
func visit(t *testing.T, p *running) *visitor {
	t.Helper()
	v := &visitor{p: p, client: from(visitorHost, false), feeds: newFeeds(), callback: newCallbackServer(t, visitorHost)}
	v.client.Timeout = time.Minute
	v.feed = serve(t, visitorHost, v.feeds) + "/feed.xml"
	if a := outside.Post(t.Context(), v.client, p.Base+"/pleaseNotify", v.callback.registration(visitorPath, v.feed)); !a.OK() {
		t.Fatalf("the visitor is not registered: %s", a)
	}
	v.once(t.Context())
	v.calm = slices.Max(slices.Concat(v.pings, v.notified, v.pages, []time.Duration{0}))
	return v
}

// once runs one round of requests: a ping, its notification and two pages.
func (v *visitor) once(ctx context.Context) {
	begun := time.Now()
	version, _ := v.feeds.Raise(v.feed)
	a := outside.Post(ctx, v.client, v.p.Base+"/ping", map[string][]string{"url": {v.feed}})
	if v.took(&v.pings, begun, "ping", a, a.OK()) {
		for v.feeds.readSince(v.feed, version).IsZero() || !v.callback.received(visitorPath, v.feed, v.feeds.readSince(v.feed, version)) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
		v.mu.Lock()
		v.notified = append(v.notified, time.Since(begun))
		v.mu.Unlock()
	}
	for _, page := range []string{"/", "/healthz"} {
		begun := time.Now()
		a := outside.Send(ctx, v.client, http.MethodGet, v.p.Base+page, "", "")
		v.took(&v.pages, begun, page, a, a.Err == nil && a.Status == http.StatusOK)
	}
}

// took records the result of a request, and reports whether it succeeded.
func (v *visitor) took(list *[]time.Duration, begun time.Time, what string, a outside.Answer, callback bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case callback:
		*list = append(*list, time.Since(begun))
	case a.Err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable):
		v.refused = append(v.refused, what+": "+a.String())
	default:
		v.failed = append(v.failed, what+": "+a.String())
	}
	return callback
}

// during repeats the visitor's rounds while attack runs, and logs the results.
func (v *visitor) during(t *testing.T, what string, attack func()) {
	t.Helper()
	v.pings, v.notified, v.pages, v.refused, v.failed = nil, nil, nil, nil, nil
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			v.once(context.Background())
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	attack()
	close(over)
	group.Wait()
	t.Logf("%s: the visitor's pings %s; notifications %s; pages %s; %d refused, %d failed", what, spread(v.pings), spread(v.notified), spread(v.pages), len(v.refused), len(v.failed))
}

// served fails the test unless the server answered every request of the visitor during the attack
// within 10 seconds, or within ten times the response time before the attack if that is longer.
func (v *visitor) served(t *testing.T) {
	t.Helper()
	for _, list := range [][]string{v.refused, v.failed} {
		if len(list) > 0 {
			t.Errorf("%d requests of the visitor failed or were rejected, first: %s", len(list), list[0])
		}
	}
	if len(v.notified) == 0 || len(v.pages) == 0 {
		t.Errorf("the visitor got %d notifications and %d pages, want both", len(v.notified), len(v.pages))
	}
	most := max(10*time.Second, 10*v.calm)
	for _, list := range [][]time.Duration{v.pings, v.notified, v.pages} {
		if len(list) > 0 && slices.Max(list) > most {
			t.Errorf("the visitor waited %s, more than %s", slices.Max(list), most)
		}
	}
}

// well checks that the server recovers from an attack: one round of the visitor's requests
// succeeds.
func (v *visitor) well(t *testing.T) {
	t.Helper()
	begun := time.Now()
	outside.Until(t, "a ping is answered and its subscriber notified", func() bool {
		v.pings, v.notified, v.pages, v.refused, v.failed = nil, nil, nil, nil, nil
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		v.once(ctx)
		return len(v.notified) == 1 && len(v.pages) == 2
	})
	t.Logf("recovered after %s: ping %s, notification %s", time.Since(begun).Round(time.Millisecond), spread(v.pings), spread(v.notified))
}

// spread formats the median, the 99th percentile and the maximum of a list of times.
func spread(list []time.Duration) string {
	if len(list) == 0 {
		return "never"
	}
	s := slices.Sorted(slices.Values(list))
	at := func(q int) time.Duration { return s[min(len(s)*q/100, len(s)-1)].Round(100 * time.Microsecond) }
	return fmt.Sprintf("p50 %s p99 %s max %s of %d", at(50), at(99), at(100), len(s))
}
