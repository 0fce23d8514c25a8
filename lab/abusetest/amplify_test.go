package abusetest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// victim is a host without subscriptions or pings of its own. It answers as a plain web
// server does, and counts the requests.
type victim struct {
	asked, read, posted atomic.Int64
}

func (v *victim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet:
		v.posted.Add(1)
		w.WriteHeader(http.StatusMethodNotAllowed)
	case strings.HasPrefix(r.URL.Path, "/feed"):
		v.read.Add(1)
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprintf(w, `<rss version="2.0"><channel><title>%s</title></channel></rss>`, strings.Repeat("x", 1<<16))
	default:
		v.asked.Add(1)
		http.NotFound(w, r)
	}
}

// The program sends about one request to a third party for each request of an attacker. After
// several failed verifications, the program pauses its requests to that host.
func TestVerificationsDoNotAmplifyRequests(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	visitor := visit(t, p)
	v := &victim{}
	at := serve(t, victims, v)
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(at, "http://"))
	own := serve(t, feedHosts+"1", newFeeds())
	attacker := from(source(1), true)
	fifty := func(base, mark string) url.Values {
		form := url.Values{"notifyProcedure": {""}, "port": {port}, "domain": {host}, "protocol": {"http-post"}}
		for i := range 50 {
			form.Set(fmt.Sprintf("url%d", i+1), fmt.Sprintf("%s/feed%s-%d.xml", base, mark, i))
		}
		return form
	}
	for _, way := range []struct {
		name string
		n    int
		most int64 // maximum number of requests to the victim
		do   func(i int) outside.Answer
	}{
		{"registrations of the victim's callback", 200, 60, func(i int) outside.Answer {
			return outside.Post(t.Context(), attacker, p.Base+"/pleaseNotify", url.Values{"notifyProcedure": {""}, "port": {port}, "domain": {host}, "protocol": {"http-post"}, "path": {fmt.Sprintf("/callback%d", i)}, "url1": {own + "/a.xml"}})
		}},
		{"the same, of fifty feeds each", 20, 60, func(i int) outside.Answer {
			form := fifty(own, fmt.Sprint(i))
			form.Set("path", fmt.Sprintf("/many%d", i))
			return outside.Post(t.Context(), from(source(2), true), p.Base+"/pleaseNotify", form)
		}},
		{"subscriptions over WebSub", 200, 210, func(i int) outside.Answer {
			return outside.Post(t.Context(), from(source(4), true), p.Base+"/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {own + "/b.xml"}, "hub.callback": {fmt.Sprintf("%s/websub%d", at, i)}})
		}},
		{"pings of the victim's feeds", 2000, 20, func(i int) outside.Answer {
			return outside.Post(t.Context(), attacker, p.Base+"/ping", url.Values{"url": {fmt.Sprintf("%s/feed.xml?%d", at, i)}})
		}},
		{"pings with thousands of addresses", 20, 20, func(i int) outside.Answer {
			form := url.Values{}
			for j := range 2000 {
				form.Add("hub.url", fmt.Sprintf("%s/feed%d.xml", at, j))
			}
			form.Set("hub.mode", "publish")
			return outside.Post(t.Context(), attacker, p.Base+"/websub", form)
		}},
		{"registrations for fifty of the victim's feeds", 20, 200, func(i int) outside.Answer {
			form := fifty(at, fmt.Sprint("f", i))
			form.Set("path", "/fifty")
			return outside.Post(t.Context(), from(source(3), true), p.Base+"/pleaseNotify", form)
		}},
	} {
		before := v.asked.Load() + v.read.Load() + v.posted.Load()
		begun, refused := time.Now(), 0
		for i := range way.n {
			if a := way.do(i); a.Limited() {
				refused++
			}
		}
		outside.Until(t, "all requests are decided", func() bool {
			s, err := p.operator().Status(t.Context())
			return err == nil && s.Counts.Requests == 0
		})
		got := v.asked.Load() + v.read.Load() + v.posted.Load() - before
		t.Logf("%d %s in %s: %d refused, %d requests reached the victim, %.2f for each", way.n, way.name, time.Since(begun).Round(time.Millisecond), refused, got, float64(got)/float64(way.n))
		if got == 0 && way.n == 200 {
			t.Errorf("%d %s made no request to the victim, so the test proves nothing", way.n, way.name)
		}
		if got > way.most {
			t.Errorf("%d %s made %d requests to the victim, want at most %d", way.n, way.name, got, way.most)
		}
	}
	if n := v.posted.Load(); n > 0 {
		t.Errorf("a host without a verified subscription received %d notifications", n)
	}
	visitor.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}

// In this test, one client address registers as many callbacks and feeds as it can.
func TestRequestsOfOneClientCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	e := newCallbackServer(t, source(1))
	feed := serve(t, feedHosts+"2", newFeeds())
	var accepted, refused, next atomic.Int64
	attacker := from(source(1), true)
	before, begun := size(t, p.data), time.Now()
	v.during(t, "endless registrations", func() {
		each(8, lasts(3*time.Second), func(ctx ctx, i int) {
			n := next.Add(1)
			switch a := outside.Post(ctx, attacker, p.Base+"/pleaseNotify", e.registration(fmt.Sprintf("/c%d", n), fmt.Sprintf("%s/%d.xml", feed, n%1000))); {
			case a.OK():
				accepted.Add(1)
			case a.Err == nil:
				refused.Add(1)
			}
		})
	})
	took := time.Since(begun)
	grown := size(t, p.data) - before
	t.Logf("%d registrations in %s: %d accepted, %d refused; %s on disk, %.0f bytes for each accepted", next.Load(), took.Round(time.Millisecond), accepted.Load(), refused.Load(), mega(grown), float64(grown)/float64(max(accepted.Load(), 1)))
	if most := int64(450 + 25*took.Seconds()); accepted.Load() > most {
		t.Errorf("one address registered %d callbacks, want at most %d", accepted.Load(), most)
	}
	if accepted.Load() > 0 && grown > 64<<20+accepted.Load()*4096 {
		t.Errorf("the data folder grew by %d bytes", grown)
	}
	v.served(t)
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}
