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

// fakeLists is a CNWS hub without a network.
type fakeLists struct {
	mu     sync.Mutex
	result cnws.Result
	page   bool // answers like a web page
	status int  // answers so
	asked  []cnws.Subscribe
	during func(cnws.Subscribe) // before it answers
}

func (w *fakeLists) Do(r *http.Request) (*http.Response, error) {
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

func (w *fakeLists) Subscribe(_ context.Context, s cnws.Subscribe) (cnws.Result, error) {
	w.asked = append(w.asked, s)
	if w.during != nil {
		w.during(s)
	}
	return w.result, nil
}

func (w *fakeLists) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func listListener(w *fakeLists) (*listener, *followed, *locked) {
	out := &locked{}
	f := &followed{url: "http://feed.example/rss.xml"}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out, HTTP: w, Version: "test"}), json: true, via: viaCNWS, hub: "http://hub.example", domain: "reader.example", port: 5339,
		path: "/notify/run", feeds: map[string]*followed{f.url: f}, notices: make(chan notice, noticeRoom)}
	l.way = newCNWSWay(l)
	return l, f, out
}

// change notifies l's callback of a change, and returns its response.
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

func TestCNWSIsConfirmedAfter30SilentDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeLists{result: cnws.Result{Status: true, Title: "Harbour"}}
		l, f, out := listListener(w)
		stop := listening(t, l, f)
		const day = 24 * time.Hour
		pass(20 * day)
		if !change(t, l, cnws.Change{ResourceID: f.url}, time.Time{}) {
			t.Error("a notification that is wanted was answered false")
		}
		pass(20 * day)
		if n := w.count(); n != 1 {
			t.Errorf("asked %d times, 20 days after a notification", n)
		}
		pass(11 * day)
		if n := w.count(); n != 2 {
			t.Errorf("asked %d times, 31 days after a notification", n)
		}
		stop()
		l.cancelAll()
		list := records(t, out)
		if want := (cnws.Subscribe{ResourceID: f.url, NotificationURL: "http://reader.example:5339/notify/run"}); w.asked[0] != want {
			t.Errorf("asked for %+v", w.asked[0])
		}
		if len(list) != 4 || list[0].Message != "at http://hub.example/cnws: Harbour" || list[0].Protocol != "cnws" || list[2].Event != "renewed" ||
			list[3].Event != "stopped" || !strings.Contains(list[3].Message, "no call to cancel") {
			t.Errorf("%s", out)
		}
	})
}

func TestACNWSNotificationIsPrintedAsItCame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeLists{result: cnws.Result{Status: true}}
		l, f, out := listListener(w)
		w.during = func(s cnws.Subscribe) {
			if !change(t, l, cnws.Change{ResourceID: s.ResourceID}, time.Time{}) {
				t.Error("the test call was answered false")
			}
		}
		stop := listening(t, l, f)
		pass(time.Minute)
		now := time.Now().UTC()
		news := cnws.Change{ResourceID: f.url, ChangeTime: now.Add(-5 * time.Second), Title: "High water", Description: "At noon.\nStay away."}
		change(t, l, news, now.Add(-2*time.Second))
		change(t, l, news, time.Time{})
		if change(t, l, cnws.Change{ResourceID: "http://feed.example/other"}, time.Time{}) {
			t.Error("a notification that nobody wants was answered true")
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

func TestForPeopleACNWSNotificationHasTitleAndDescription(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)
	out := &locked{}
	l := &listener{p: inShell(shell.Shell{Out: out, Err: out})}
	l.say(*changeRecord(cnws.Change{ResourceID: "http://feed.example/", ChangeTime: at.Add(-3 * time.Second), Title: "High water", Description: "At noon."}, at, time.Time{}))
	l.say(*changeRecord(cnws.Change{ResourceID: "http://feed.example/", Description: "At noon."}, at, at.Add(-time.Second)))
	want := "03:02:01.000  changed     http://feed.example/  notified 3.0 s after the time in the notification\n" +
		"                          High water\n                          At noon.\n" +
		"03:02:01.000  changed     http://feed.example/  notified after 1.0 s\n                          At noon.\n"
	if got := out.String(); got != want {
		t.Errorf("%q\n%q", got, want)
	}
}

func TestRefusalOfACNWSHubIsReported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hub  *fakeLists
		want string
	}{
		{&fakeLists{result: cnws.Result{Description: "No room."}}, `^the hub at http://hub.example/cnws refuses http://feed.example/rss.xml: No room\.$`},
		{&fakeLists{}, `^the hub at http://hub.example/cnws refuses http://feed.example/rss.xml without a reason$`},
		{&fakeLists{page: true}, `^invalid CNWS response from http://hub.example/cnws: --hub must be the hub, such as`},
		{&fakeLists{status: 404}, `^the hub at http://hub.example/cnws did not take it: The response was 404 Not Found$`},
	} {
		l, f, out := listListener(tt.hub)
		if err := l.follow(t.Context(), f); err == nil || !matches(tt.want, err.Error()) || len(records(t, out)) != 1 {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestCNWSHubIsNamedWithOrWithoutPath(t *testing.T) {
	t.Parallel()
	for hub, want := range map[string]string{
		"http://hub.example": "http://hub.example/cnws", "http://hub.example:8080/": "http://hub.example:8080/cnws", "http://hub.example/rpc/cnws.cgi": "http://hub.example/rpc/cnws.cgi",
	} {
		if got := cnwsEndpoint(hub); got != want {
			t.Errorf("%s: %s, want %s", hub, got, want)
		}
	}
}

func TestProtocolsTakeOnlyTheirOwnFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--lease", "1h"}, "belong to --via websub"},
		{[]string{"--via", "cnws", "--hub", "http://a.example", "--no-secret"}, "belong to --via websub"},
		{[]string{"--via", "cnws"}, "--via cnws needs --hub URL"},
		{[]string{"--via", "websub", "--lease", "soon"}, `--lease is "soon"`},
		{[]string{"--via", "post"}, "it needs one of rsscloud, websub, cnws, http-post, xml-rpc, soap"},
	} {
		out := &locked{}
		p := inShell(shell.Shell{Out: out, Err: out})
		if code := p.Run(t.Context(), append([]string{"listen", "http://feed.example/"}, tt.args...)); code != shell.ExitUsage || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v: %d %s", tt.args, code, out)
		}
	}
}
