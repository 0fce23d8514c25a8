package hubcli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
)

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// fakeCNWSHub is an HTTP client that serves a CNWS hub.
type fakeCNWSHub struct {
	mu     sync.Mutex
	result cnws.Result
	page   bool // the hub responds with a web page
	status int  // status of each response; 0: 200
	asked  []cnws.Subscribe
	during func(cnws.Subscribe) // called before the hub responds
}

func (w *fakeCNWSHub) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	res := answer("<!DOCTYPE html><p>Welcome</p>")
	switch {
	case w.status != 0:
		res.StatusCode = w.status
		return res, nil
	case w.page:
		return res, nil
	}
	rec := httptest.NewRecorder()
	h := cnws.Handler{Publisher: w}
	h.ServeHTTP(rec, r)
	return rec.Result(), nil
}

func (w *fakeCNWSHub) Subscribe(_ context.Context, s cnws.Subscribe) (cnws.Result, error) {
	w.asked = append(w.asked, s)
	if w.during != nil {
		w.during(s)
	}
	return w.result, nil
}

func (w *fakeCNWSHub) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func cnwsListener(w *fakeCNWSHub) (*listener, *followed, *locked) {
	out := &locked{}
	f := &followed{url: "http://feed.example/rss.xml"}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out, HTTP: w, Version: "test"}), json: true, via: viaCNWS, hub: "http://hub.example", domain: "reader.example", port: 5339,
		path: "/notify/run", feeds: map[string]*followed{f.url: f}, notices: make(chan notice, noticeCapacity)}
	l.way = newCNWSWay(l)
	return l, f, out
}

// change sends a notification to the callback of l and returns the result in the response.
func change(t *testing.T, l *listener, c cnws.Change, changed time.Time) bool {
	t.Helper()
	body, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://reader.example:5339/notify/run", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", cnws.ContentType)
	if !changed.IsZero() {
		r.Header.Set(rsscloud.ChangedAtHeader, changed.Format(time.RFC3339Nano))
	}
	rec := httptest.NewRecorder()
	l.way.handler().ServeHTTP(rec, r)
	d, err := cnws.Parse(rec.Body)
	if err != nil || d.Result == nil {
		t.Fatalf("%v %+v", err, d)
	}
	return d.Result.Status
}

func TestCNWSSubscriptionIsRenewedAfter30DaysWithoutNotification(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCNWSHub{result: cnws.Result{Status: true, Title: "Harbour"}}
		l, f, out := cnwsListener(w)
		stop := listening(t, l, f)
		const day = 24 * time.Hour
		advance(20 * day)
		if !change(t, l, cnws.Change{ResourceID: f.url}, time.Time{}) {
			t.Error("the response to a notification of a subscribed feed is false")
		}
		advance(20 * day)
		if n := w.count(); n != 1 {
			t.Errorf("%d subscribe requests, 20 days after a notification", n)
		}
		advance(11 * day)
		if n := w.count(); n != 2 {
			t.Errorf("%d subscribe requests, 31 days after a notification", n)
		}
		stop()
		l.cancelAll()
		list := records(t, out)
		if want := (cnws.Subscribe{ResourceID: f.url, NotificationURL: "http://reader.example:5339/notify/run"}); w.asked[0] != want {
			t.Errorf("subscribe request %+v", w.asked[0])
		}
		if len(list) != 4 || list[0].Message != "at http://hub.example/cnws: Harbour" || list[0].Protocol != "cnws" || list[2].Event != "renewed" ||
			list[3].Event != "stopped" || !strings.Contains(list[3].Message, "no call to cancel") {
			t.Errorf("%s", out)
		}
	})
}

func TestCNWSNotificationIsPrintedWithoutReadingFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeCNWSHub{result: cnws.Result{Status: true}}
		l, f, out := cnwsListener(w)
		w.during = func(s cnws.Subscribe) {
			if !change(t, l, cnws.Change{ResourceID: s.ResourceID}, time.Time{}) {
				t.Error("the response to the test call is false")
			}
		}
		stop := listening(t, l, f)
		advance(time.Minute)
		now := time.Now().UTC()
		news := cnws.Change{ResourceID: f.url, ChangeTime: now.Add(-5 * time.Second), Title: "High water", Description: "At noon.\nStay away."}
		change(t, l, news, now.Add(-2*time.Second))
		change(t, l, news, time.Time{})
		if change(t, l, cnws.Change{ResourceID: "http://feed.example/other"}, time.Time{}) {
			t.Error("the response to a notification of an unknown feed is true")
		}
		synctest.Wait()
		stop()
		list := records(t, out)
		if len(list) != 4 || list[0].Event != "test" && list[1].Event != "test" {
			t.Fatalf("%s", out)
		}
		for i, want := range []struct {
			after float64
			since string
		}{{2000, "ping"}, {5000, "change_time"}} {
			r := list[2+i]
			if r.Event != "changed" || r.Title != "High water" || r.Text != "At noon. Stay away." || *r.AfterMS != want.after || r.Since != want.since {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestCNWSNotificationIsPrintedWithTitleAndDescription(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)
	out := &locked{}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out})}
	l.emit(*changeRecord(cnws.Change{ResourceID: "http://feed.example/", ChangeTime: at.Add(-3 * time.Second), Title: "High water", Description: "At noon."}, at, time.Time{}))
	l.emit(*changeRecord(cnws.Change{ResourceID: "http://feed.example/", Description: "At noon."}, at, at.Add(-time.Second)))
	want := "03:02:01.000  changed     http://feed.example/  notified 3.0 s after the time in the notification\n" +
		"                          High water\n                          At noon.\n" +
		"03:02:01.000  changed     http://feed.example/  notified after 1.0 s\n                          At noon.\n"
	if got := out.String(); got != want {
		t.Errorf("%q\n%q", got, want)
	}
}

func TestRefusalByCNWSHubIsReported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hub  *fakeCNWSHub
		want string
	}{
		{&fakeCNWSHub{result: cnws.Result{Description: "No room."}}, `^the hub at http://hub.example/cnws refuses http://feed.example/rss.xml: No room\.$`},
		{&fakeCNWSHub{}, `^the hub at http://hub.example/cnws refuses http://feed.example/rss.xml without a reason$`},
		{&fakeCNWSHub{page: true}, `^invalid CNWS response from http://hub.example/cnws: --hub must be the hub, such as`},
		{&fakeCNWSHub{status: 404}, `^the hub at http://hub.example/cnws rejected the request: The response was 404 Not Found$`},
	} {
		l, f, out := cnwsListener(tt.hub)
		if err := l.follow(t.Context(), f); err == nil || !matches(tt.want, err.Error()) || len(records(t, out)) != 1 {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestDefaultPathIsAddedToCNWSHubURL(t *testing.T) {
	t.Parallel()
	for hub, want := range map[string]string{
		"http://hub.example": "http://hub.example/cnws", "http://hub.example:8080/": "http://hub.example:8080/cnws", "http://hub.example/rpc/cnws.cgi": "http://hub.example/rpc/cnws.cgi",
	} {
		if got := cnwsEndpoint(hub); got != want {
			t.Errorf("%s: %s, want %s", hub, got, want)
		}
	}
}

func TestFlagsOfOtherProtocolsAreRejected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--lease", "1h"}, "--lease and --no-secret need --via websub"},
		{[]string{"--via", "cnws", "--hub", "http://a.example", "--no-secret"}, "--lease and --no-secret need --via websub"},
		{[]string{"--via", "cnws"}, "--via cnws needs --hub URL"},
		{[]string{"--via", "websub", "--lease", "soon"}, `--lease is "soon"`},
		{[]string{"--via", "post"}, "must be one of rsscloud, websub, cnws, http-post, xml-rpc, soap"},
	} {
		out := &locked{}
		p := inShell(shell.Shell{Out: out, Err: out})
		if code := p.Run(t.Context(), append([]string{"listen", "http://feed.example/"}, tt.args...)); code != shell.ExitUsage || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: %d %s", tt.args, code, out)
		}
	}
}
