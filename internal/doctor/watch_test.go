package doctor_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/doctor"
	"cloudburst/internal/nettest"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// watched is a feed that changes at a given time, with a hub that notifies.
type watched struct {
	changes  time.Duration // time from the start of the watch to the change; 0: never
	notifies time.Duration // time from the start of the watch to the notification; 0: never
	refuses  bool
	odd      bool // each response has another XML comment

	site
	begun time.Time
	mu    sync.Mutex
	on    map[string]bool // subscribed callbacks
	http  *http.Client
}

func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/rss.xml":
		text := w.text(w.body)
		if now := time.Now(); w.changes > 0 && !now.Before(w.begun.Add(w.changes)) {
			text = strings.ReplaceAll(text, "<title>Two</title>", "<title>Two!</title>")
			text = strings.ReplaceAll(text, "/2</guid>", "/two</guid>")
		}
		if w.odd {
			text += fmt.Sprintf("<!-- %d -->", w.site.read())
		}
		rw.Header().Set("Content-Type", "application/rss+xml")
		rw.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(text)))
		if r.Header.Get("If-None-Match") == rw.Header().Get("ETag") && !w.odd {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(rw, text)
	case "/":
		fmt.Fprint(rw, goodPage)
	case "/websub":
		(&websub.Handler{Backend: &webSubSide{w: w}}).ServeHTTP(rw, r)
	default:
		(&rsscloud.Handler{Backend: w}).ServeHTTP(rw, r)
	}
}

// webSubSide is the WebSub hub of a watched feed. It verifies each subscription immediately.
type webSubSide struct {
	hub
	w *watched
}

func (h *webSubSide) Subscribe(ctx context.Context, s websub.Subscription) error {
	return h.ask(ctx, websub.ModeSubscribe, s)
}

func (h *webSubSide) Unsubscribe(ctx context.Context, s websub.Subscription) error {
	return h.ask(ctx, websub.ModeUnsubscribe, s)
}

func (h *webSubSide) ask(ctx context.Context, mode string, s websub.Subscription) error {
	if h.w.refuses {
		return &websub.Error{Status: 403, Msg: "No."}
	}
	challenge := websub.NewChallenge()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, websub.VerifyURL(s.Callback, websub.Verification{Mode: mode, Topic: s.Topic, Challenge: challenge, Lease: s.Lease}), nil)
	if err != nil {
		return err
	}
	res, err := h.w.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if err := websub.CheckChallenge(res.StatusCode, text, challenge); err != nil {
		return err
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if mode == websub.ModeUnsubscribe {
		delete(h.w.on, s.Callback)
		return nil
	}
	h.w.on[s.Callback] = true
	if h.w.notifies > 0 {
		time.AfterFunc(time.Until(h.w.begun.Add(h.w.notifies)), func() {
			res, err := h.w.http.Post(s.Callback, "application/rss+xml", strings.NewReader("<rss/>"))
			if err == nil {
				res.Body.Close()
			}
		})
	}
	return nil
}

func (w *watched) Ping(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
	return rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}, nil
}

// PleaseNotify makes the test call, and notifies at the given time.
func (w *watched) PleaseNotify(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	if w.refuses {
		return rsscloud.Result{Msg: "No."}, nil
	}
	callback := fmt.Sprintf("http://127.0.0.1:%d%s", g.Port, g.Path)
	client := &rsscloud.Client{HTTP: w.http}
	notify := func() error {
		return client.Notify(context.WithoutCancel(ctx), rsscloud.HTTPPost, callback, "", g.URLs[0], 0)
	}
	if err := notify(); err != nil {
		return rsscloud.Result{}, err
	}
	w.mu.Lock()
	w.on[callback] = true
	w.mu.Unlock()
	if w.notifies > 0 {
		time.AfterFunc(time.Until(w.begun.Add(w.notifies)), func() { _ = notify() })
	}
	return rsscloud.Result{Success: true}, nil
}

func (w *watched) Cancel(_ context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.on, fmt.Sprintf("http://127.0.0.1:%d%s", g.Port, g.Path))
	return rsscloud.Result{Success: true}, nil
}

// watch examines with a watch of two minutes of simulated time.
func (w *watched) watch(t *testing.T, d *doctor.Doctor) doctor.Report {
	t.Helper()
	var internet nettest.Internet
	ln, err := internet.Listen("127.0.0.1:5337")
	if err != nil {
		t.Fatal(err)
	}
	w.http = &http.Client{Transport: &http.Transport{DialContext: internet.Dial, DisableKeepAlives: true}}
	w.url, w.on, w.begun = "http://127.0.0.1:5337", map[string]bool{}, time.Now()
	if w.body == "" {
		w.body = rss(cloudElement+selfLink, goodItems)
	}
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: w}}
	srv.Start()
	defer srv.Close()
	d.HTTP, d.NoPing, d.Watch = w.http, true, 2*time.Minute
	d.Listen = func(_ context.Context, address string) (net.Listener, error) {
		return internet.Listen("127.0.0.1" + address)
	}
	r, err := d.Examine(t.Context(), w.url+"/rss.xml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.on) > 0 {
		t.Errorf("still registered: %v", w.on)
	}
	return r
}

func TestWatchReportsChangeAndNotification(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w    *watched
		d    doctor.Doctor
		want []string // findings of the watch
		says string   // part of the text of the last finding
	}{
		"changed and notified":                   {w: &watched{changes: 30 * time.Second, notifies: 31 * time.Second}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told ok"}, says: "hub notified after 31 seconds"},
		"notified before the change was visible": {w: &watched{changes: 31 * time.Second, notifies: 32 * time.Second}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told ok"}, says: "hub notified after 32 seconds"},
		"changed, not notified":                  {w: &watched{changes: 30 * time.Second}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told problem"}, says: "it got no ping"},
		"notified, not changed":                  {w: &watched{notifies: 30 * time.Second}, want: []string{"watch-hub ok", "watch ok", "watch-change warning", "watch-told ok"}, says: "hub notified after 30 seconds"},
		"nothing":                                {w: &watched{}, want: []string{"watch-hub ok", "watch ok", "watch-change note"}, says: "No change of the feed was visible from here within 2 minutes"},
		"a hub that refuses":                     {w: &watched{changes: time.Minute, refuses: true}, want: []string{"watch-hub warning", "watch ok", "watch-change ok"}, says: "No subscription at a hub was tried"},
		"an unstable feed":                       {w: &watched{odd: true}, want: []string{"watch-hub ok", "watch ok", "watch-change note"}, says: "No change"},
		"a change of an unstable feed":           {w: &watched{odd: true, changes: time.Minute, notifies: time.Minute}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told ok"}, says: "hub notified"},
		"with a named host":                      {w: &watched{changes: 30 * time.Second, notifies: 31 * time.Second}, d: doctor.Doctor{Callback: "127.0.0.1:7000"}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told ok"}, says: "hub notified"},
		"by both":                                {w: &watched{site: site{body: goodFeed()}, changes: 30 * time.Second, notifies: 31 * time.Second}, want: []string{"watch-hub ok", "watch-hub ok", "watch ok", "watch-change ok", "watch-told ok", "watch-told ok"}, says: "The WebSub hub notified after 31 seconds"},
		"by WebSub alone, without notification":  {w: &watched{site: site{body: rss(hubLink+selfLink, goodItems)}, changes: 30 * time.Second}, want: []string{"watch-hub ok", "watch ok", "watch-change ok", "watch-told problem"}, says: "WebSub hub sent no notification"},
		"a WebSub hub that refuses":              {w: &watched{site: site{body: rss(hubLink+selfLink, goodItems)}, refuses: true}, want: []string{"watch-hub warning", "watch ok", "watch-change note"}},
		"no cloud":                               {w: &watched{site: site{body: rss(selfLink, goodItems)}, changes: time.Minute}, want: []string{"watch-hub note", "watch ok", "watch-change ok"}, says: "No subscription at a hub was tried"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := c.d
				r := c.w.watch(t, &d)
				var got []string
				last := ""
				for _, f := range r.Checks {
					if f.Subject == doctor.SubjectWatch {
						got = append(got, f.ID+" "+string(f.Level))
						last = f.Text
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(last, c.says) {
					t.Errorf("(-want +got):\n%s%s", diff, last)
				}
			})
		})
	}
}

func TestWatchDoesNotSubscribeAtHubsThatCannotReachTheCallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{site: site{body: rss(strings.ReplaceAll(cloudElement, "HOST", "hub.example"), goodItems)}}
		r := w.watch(t, &doctor.Doctor{})
		if text := textOf(r, "watch-hub"); !strings.Contains(text, "The watch subscribes to no hub") {
			t.Error(text)
		}
	})
}

// FuzzExamine checks that an examination ends with a report for any response.
func FuzzExamine(f *testing.F) {
	for _, seed := range []struct{ body, header string }{
		{goodFeed(), "ETag: \"x\"\nLink: </websub>; rel=hub"},
		{goodPage, "Content-Type: text/html"},
		{`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1}],"hubs":[{"type":"WebSub","url":"/hub"}]}`, "Cache-Control: max-age=99999999999999"},
		{`<rss><cloud/><cloud port="x" protocol="xml-rpc" path="/"/>`, "Content-Encoding: gzip"},
		{"", "Location: /rss.xml"},
	} {
		f.Add(200, seed.body, seed.header)
	}
	f.Fuzz(func(t *testing.T, status int, body, header string) {
		n := 0
		d := doctor.Doctor{HTTP: clientFunc(func(r *http.Request) (*http.Response, error) {
			n++
			h := http.Header{}
			for line := range strings.SplitSeq(header, "\n") {
				name, value, _ := strings.Cut(line, ":")
				h.Add(name, strings.TrimSpace(value))
			}
			text := body
			if n%3 == 0 {
				text += "<!-- x -->"
			}
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})}
		r, err := d.Examine(t.Context(), "http://feed.example/rss.xml", nil)
		if err != nil || len(r.Checks) == 0 {
			t.Fatalf("%v %+v", err, r)
		}
		if n > 24 {
			t.Errorf("%d requests", n)
		}
		for _, c := range r.Checks {
			if c.ID == "" || c.Text == "" || c.Subject == "" {
				t.Errorf("%+v", c)
			}
			if _, err := url.Parse(r.URL); err != nil {
				t.Error(err)
			}
		}
	})
}

type clientFunc func(*http.Request) (*http.Response, error)

func (c clientFunc) Do(r *http.Request) (*http.Response, error) { return c(r) }
