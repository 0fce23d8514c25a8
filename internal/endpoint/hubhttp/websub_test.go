package hubhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"

	"github.com/google/go-cmp/cmp"
)

const (
	websubURL = "http://hub.example/websub"
	websubCB  = "http://agg.example:5337/secret/cb?x=1&hub.mode=mine"
)

// knock posts a form to the WebSub endpoint and returns status, text and headers.
func knock(t *testing.T, target, form string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

func websubForm(mode string, more ...string) string {
	v := url.Values{"hub.mode": {mode}, "hub.callback": {websubCB}, "hub.topic": {feed}}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v.Encode()
}

// TestHubAcceptsSubscriptionRequests makes the checks of the public test site for hubs that concern
// the hub's endpoint.
func TestHubAcceptsSubscriptionRequests(t *testing.T) {
	t.Parallel()
	plain := hub.Intent{Topic: feed, Callback: websubCB, Mode: hub.ModeSubscribe, Via: "websub"}
	with := func(f func(*hub.Intent)) hub.Intent {
		in := plain
		f(&in)
		return in
	}
	for name, c := range map[string]struct {
		form string
		want hub.Intent
	}{
		"a typical request":     {websubForm("subscribe"), plain},
		"request with a secret": {websubForm("subscribe", "hub.secret", "geheim&="), with(func(in *hub.Intent) { in.Secret = "geheim&=" })},
		"additional parameters": {websubForm("subscribe", "foo", "bar", "hub.foo", "hub.bar"), plain},
		"a lease":               {websubForm("subscribe", "hub.lease_seconds", "7200"), with(func(in *hub.Intent) { in.Lease = 2 * time.Hour })},
		"an unsubscription":     {websubForm("unsubscribe", "hub.lease_seconds", "7200", "hub.secret", "x"), with(func(in *hub.Intent) { in.Mode = hub.ModeUnsubscribe })},
		"a topic that is not a feed": {websubForm("subscribe", "hub.topic", "http://t.example/notes.txt"),
			with(func(in *hub.Intent) { in.Topic = "http://t.example/notes.txt" })},
	} {
		for _, path := range []string{"/websub", "/hub"} {
			h := &fakeHub{}
			srv := listen(t, h)
			for range 2 { // a request may be repeated
				if status, text, head := knock(t, srv.URL+path, c.form); status != 202 || head.Get("Access-Control-Allow-Origin") != "*" {
					t.Errorf("%s: %d %s %s", name, status, head, text)
				}
			}
			if d := cmp.Diff([]hub.Intent{c.want, c.want}, h.intents); d != "" {
				t.Errorf("%s\n%s", name, d)
			}
		}
	}
}

func TestHostileSubscriptionRequestsAreRejected(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	fiftyOne := url.Values{"hub.mode": {"publish"}}
	for i := range 51 {
		fiftyOne.Add("hub.url", fmt.Sprint("http://t.example/", i))
	}
	for name, c := range map[string]struct {
		form, want string
		status     int
	}{
		"a secret of 200 bytes":      {websubForm("subscribe", "hub.secret", strings.Repeat("x", 200)), "200 bytes", 400},
		"a lease of -1":              {websubForm("subscribe", "hub.lease_seconds", "-1"), "hub.lease_seconds", 400},
		"a callback with a fragment": {websubForm("subscribe", "hub.callback", websubCB+"#x"), "fragment", 400},
		"callback with a script URL": {websubForm("subscribe", "hub.callback", "javascript:alert(1)"), "hub.callback", 400},
		"a topic with a line end":    {websubForm("subscribe", "hub.topic", feed+"\r\nX-Evil: 1"), "hub.topic", 400},
		"two callbacks":              {websubForm("subscribe") + "&hub.callback=http://other.example/", "more than once", 400},
		"URLs too long together":     {websubForm("subscribe", "hub.callback", "http://s.example/"+strings.Repeat("c", 2000), "hub.topic", "http://t.example/"+strings.Repeat("ü", 1000)), "together too long", 400},
		"51 topics":                  {fiftyOne.Encode(), "More than 50", 400},
		"topics with script URLs":    {"hub.mode=publish&hub.url=javascript:alert(1)", "http://", 400},
		"no mode":                    {"url=" + feed, "hub.mode is missing", 400},
		"incomplete form":            {websubForm("subscribe") + "&x=%zz", "percent", 400},
		"a large body":               {websubForm("subscribe") + strings.Repeat("&", 64<<10), "64 KiB", 413},
	} {
		if status, text, _ := knock(t, srv.URL+"/websub", c.form); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for name, header := range map[string][]string{"multipart": {"Content-Type", "multipart/form-data; boundary=x"}, "gzip": {"Content-Encoding", "gzip"}} {
		if status, text, _ := knock(t, srv.URL+"/hub", websubForm("subscribe"), header...); status != 415 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if len(h.intents)+len(h.pings) > 0 {
		t.Errorf("%+v %+v", h.intents, h.pings)
	}
}

func TestHubErrorsAreMappedToHTTPStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		text   string
		retry  string
	}{
		{fault.New(fault.Invalid, "The topic is invalid."), 400, "The topic is invalid.\n", ""},
		{fault.New(fault.Refused, "The callback is one of this server's own endpoints."), 403, "The callback is one of this server's own endpoints.\n", ""},
		{&fault.Error{Code: fault.TooMany, Msg: "Too often.", RetryAfter: 7 * time.Second}, 429, "Too often.\n", "7"},
		{fault.New(fault.TooMany, "Too often."), 429, "Too often.\n", "1"},
		{fault.Wrap(fault.Unavailable, errors.New("disk /var full"), "Not now."), 503, "Not now.\n", "10"},
		{fault.New(fault.Unreadable, "It cannot be read."), 422, "It cannot be read.\n", ""},
		{fault.New(fault.NotFound, "Nothing there."), 404, "Nothing there.\n", ""},
		{fault.New(fault.Conflict, "In the way."), 409, "In the way.\n", ""},
		{fault.New(fault.Unsupported, "Not here."), 501, "Not here.\n", ""},
		{errors.New("disk /var full"), 500, fault.Neutral + "\n", ""},
	} {
		h := &fakeHub{
			request: func(hub.Intent) error { return c.err },
			ping:    func(hub.Ping) (hub.PingResult, error) { return hub.PingResult{}, c.err },
		}
		srv := listen(t, h)
		for _, form := range []string{websubForm("subscribe"), websubForm("unsubscribe"), "hub.mode=publish&hub.url=" + feed} {
			status, text, head := knock(t, srv.URL+"/websub", form)
			if status != c.status || !strings.HasSuffix(text, c.text) || head.Get("Retry-After") != c.retry || head.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%v, %.20s: %d %s %q", c.err, form, status, head, text)
			}
		}
	}
}

func TestPublishRequestPingsEachTopic(t *testing.T) {
	t.Parallel()
	h := &fakeHub{ping: func(p hub.Ping) (hub.PingResult, error) {
		if strings.Contains(p.URL, "dead") {
			return hub.PingResult{}, fault.New(fault.Unreadable, "The feed could not be read.")
		}
		return hub.PingResult{}, nil
	}}
	srv := listen(t, h)
	status, text, _ := knock(t, srv.URL+"/websub", "hub.mode=publish&hub.url="+feed+"&hub.topic="+feed, "X-Forwarded-For", "198.51.100.1", "X-Hub-Hops", "2")
	if status != 204 || text != "" || len(h.pings) != 1 {
		t.Fatalf("%d %s %+v", status, text, h.pings)
	}
	if p := h.pings[0]; p.URL != feed || p.Via != "websub" || p.Source != netip.MustParseAddr("198.51.100.1") || p.Hops != 2 {
		t.Errorf("%+v", p)
	}
	status, text, _ = knock(t, srv.URL+"/hub", "hub.mode=publish&hub.url="+feed+"&hub.url=http://dead.example/&hub.url=javascript:x")
	if status != 202 || !strings.Contains(text, "Accepted 1 of 3") || !strings.Contains(text, "http://dead.example/: The feed could not be read.") {
		t.Errorf("%d %s", status, text)
	}
}

func TestAtMostEightPublishedTopicsAreCheckedConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, limit atomic.Int32
		h := &fakeHub{}
		b := &WebSub{Hub: slowHub{h, func() {
			n := now.Add(1)
			for m := limit.Load(); n > m && !limit.CompareAndSwap(m, n); m = limit.Load() {
			}
			<-time.After(time.Second)
			now.Add(-1)
		}}}
		urls := make([]string, 50)
		for i := range urls {
			urls[i] = fmt.Sprint("http://t.example/", i)
		}
		start := time.Now()
		results := b.Publish(t.Context(), urls)
		if took := time.Since(start); limit.Load() != 8 || took != 7*time.Second || len(results) != 50 || len(h.pings) != 50 || slices.ContainsFunc(results, func(err error) bool { return err != nil }) {
			t.Errorf("%d at once, %s, %v", limit.Load(), took, results)
		}
	})
}

// slowHub calls a function before each ping.
type slowHub struct {
	*fakeHub
	before func()
}

func (h slowHub) Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error) {
	h.before()
	return h.fakeHub.Ping(ctx, p)
}

func TestWebSubEndpointReturnsItsDescription(t *testing.T) {
	t.Parallel()
	srv := listen(t, &fakeHub{})
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "PUT": 405} {
		for _, path := range []string{"/websub", "/hub"} {
			r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != status || resp.Header.Get("Access-Control-Allow-Origin") != "*" || status == 405 && !strings.Contains(resp.Header.Get("Allow"), "POST") {
				t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, resp.Header)
			}
		}
	}
}

// questioned returns a callback that responds to verification requests, which are GETs, with f.
func questioned(t *testing.T, f func(q url.Values) fetch.Reply) *fakeSender {
	t.Helper()
	return &fakeSender{answer: func(m *fetch.Message) fetch.Reply {
		tail, ok := strings.CutPrefix(m.URL, websubCB+"&")
		if !ok || m.Method != "GET" || !m.WantBody || !m.Padded || len(m.Body) > 0 {
			t.Errorf("the verification request is %+v", m)
		}
		q, err := url.ParseQuery(tail)
		if err != nil {
			t.Error(err)
		}
		return f(q)
	}}
}

func TestConfirmationRequiresTheExactChallenge(t *testing.T) {
	t.Parallel()
	echo := func(status int, before, after string) func(url.Values) fetch.Reply {
		return func(q url.Values) fetch.Reply {
			return fetch.Reply{Status: status, Body: []byte(before + q.Get("hub.challenge") + after), ContentType: "text/html"}
		}
	}
	always := func(r fetch.Reply) func(url.Values) fetch.Reply {
		return func(url.Values) fetch.Reply { return r }
	}
	unreachable := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("connection refused by 10.0.0.7")}
	for _, c := range []struct {
		name   string
		answer func(url.Values) fetch.Reply
		code   fault.Code // expected error code; Internal: consent is expected
		msg    string
	}{
		{"200", echo(200, "", ""), fault.Internal, ""},
		{"202", echo(202, "", ""), fault.Internal, ""},
		{"challenge with a line break", echo(200, "", "\n"), fault.Refused, "without a trailing line break"},
		{"page that echoes the request", echo(200, "You asked for ", ""), fault.Refused, "challenge alone"},
		{"other body", always(fetch.Reply{Status: 200, Body: []byte("ok")}), fault.Refused, "challenge alone"},
		{"no body", always(fetch.Reply{Status: 204}), fault.Refused, "204 No Content"},
		{"incomplete body", func(q url.Values) fetch.Reply {
			return fetch.Reply{Status: 200, Body: []byte(q.Get("hub.challenge")), Partial: true}
		}, fault.Refused, "challenge alone"},
		{"404", echo(404, "", ""), fault.Refused, "did not request"},
		{"410", echo(410, "", ""), fault.Refused, "410 Gone"},
		{"500", echo(500, "", ""), fault.Refused, "500"},
		{"a redirect", always(fetch.Reply{Status: 302, Location: "https://agg.example/"}), fault.Refused, "redirects are not followed"},
		{"a redirect to https on the same host", always(fetch.Reply{Status: 301, Location: "https://agg.example:5337/secret/cb"}), fault.Refused, "redirects are not followed"},
		{"a redirect with the challenge", echo(302, "", ""), fault.Refused, "302 Found"},
		{"unreachable", always(fetch.Reply{Err: unreachable}), fault.Unreadable, unanswered},
		{"time-out", always(fetch.Reply{Err: unreachable, Timeout: true}), fault.Unreadable, unanswered},
		{"own endpoint", always(fetch.Reply{Err: &fetch.Error{Kind: fetch.Refused, Err: fetch.ErrOwn}}), fault.Refused, "leads to this server itself"},
		{"ours", always(fetch.Reply{Err: unreachable, NotTried: true}), fault.Unavailable, "problem on this server"},
	} {
		for _, mode := range []string{hub.ModeSubscribe, hub.ModeUnsubscribe} {
			s := questioned(t, func(q url.Values) fetch.Reply {
				lease := "7200"
				if mode == hub.ModeUnsubscribe {
					lease = ""
				}
				if q.Get("hub.mode") != mode || q.Get("hub.topic") != feed || len(q.Get("hub.challenge")) < 26 || q.Get("hub.lease_seconds") != lease {
					t.Errorf("%s: request %v", c.name, q)
				}
				return c.answer(q)
			})
			x, err := (&Asker{Sender: s}).Confirm(t.Context(), hub.Intent{Topic: feed, Callback: websubCB, Mode: mode, Secret: "geheim", Lease: 2 * time.Hour})
			if (err == nil) != (c.code == fault.Internal) || err != nil && (fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.msg)) {
				t.Errorf("%s: %v", c.name, err)
			}
			if err != nil && strings.Contains(fault.Message(err), "10.0.0.7") {
				t.Errorf("%s: the public message is %q", c.name, fault.Message(err))
			}
			if len(s.sent) != 1 || x.Callback != websubCB || x.Request == "" || strings.Contains(x.Request, "geheim") || x.Answer == "" && x.Error == "" {
				t.Errorf("%s: %d requests, %+v", c.name, len(s.sent), x)
			}
		}
	}
}

func TestEachVerificationUsesANewChallenge(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	s := questioned(t, func(q url.Values) fetch.Reply {
		seen[q.Get("hub.challenge")] = true
		return fetch.Reply{Status: 404}
	})
	for range 100 {
		_, err := (&Asker{Sender: s}).Confirm(t.Context(), hub.Intent{Topic: feed, Callback: websubCB, Mode: hub.ModeSubscribe})
		if err == nil {
			t.Fatal("404 was consent")
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d challenges", len(seen))
	}
}

func TestDenialIsRepeatedOnlyIfTheSubscriberIsUnreachable(t *testing.T) {
	t.Parallel()
	broken := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("10.0.0.7")}
	for name, c := range map[string]struct {
		reply fetch.Reply
		code  fault.Code // expected error code; Internal: the content is delivered
	}{
		"200": {fetch.Reply{Status: 200}, fault.Internal}, "404": {fetch.Reply{Status: 404}, fault.Internal}, "302": {fetch.Reply{Status: 302}, fault.Internal},
		"no response": {fetch.Reply{Err: broken}, fault.Unreadable}, "ours": {fetch.Reply{Err: broken, NotTried: true}, fault.Unavailable},
	} {
		reason := "The topic could not be read & " + strings.Repeat("ü", 1000)
		s := questioned(t, func(q url.Values) fetch.Reply {
			if q.Get("hub.mode") != "denied" || q.Get("hub.topic") != feed || !strings.HasPrefix(q.Get("hub.reason"), "The topic could not be read & ü") ||
				len(q.Get("hub.reason")) > 500 || q.Has("hub.challenge") || q.Has("hub.lease_seconds") {
				t.Errorf("sent %v", q)
			}
			return c.reply
		})
		x, err := (&Asker{Sender: s}).Deny(t.Context(), hub.Intent{Topic: feed, Callback: websubCB, Mode: hub.ModeDenied, Reason: reason, Lease: time.Hour})
		if (err == nil) != (c.code == fault.Internal) || err != nil && fault.CodeOf(err) != c.code || x.Callback != websubCB {
			t.Errorf("%s: %v %+v", name, err, x)
		}
	}
}
