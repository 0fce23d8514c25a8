package hubhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// following is a Follows with a fixed result.
type following struct {
	wanted   bool
	err      error
	received []received
}

type received struct {
	topic, protocol string
	source          netip.Addr
	hops            int
}

func (f *following) Receive(_ context.Context, topic, protocol string, source netip.Addr, hops int) (bool, error) {
	f.received = append(f.received, received{topic, protocol, source, hops})
	return f.wanted, f.err
}

// cnwsEndpoint mounts all endpoints and returns the URL of the CNWS endpoint.
func cnwsEndpoint(t *testing.T, h Hub, up Follows) string {
	t.Helper()
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: h, Upstream: up, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Log: logTo(t)}).Routes(), nil)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL + "/cnws"
}

func cnwsResult(t *testing.T, r cnws.Result) []byte {
	t.Helper()
	b, err := r.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCNWSSubscribeRequestRegistersTheCallback(t *testing.T) {
	t.Parallel()
	ask := cnws.Subscribe{ResourceID: "http://feeds.example/a.xml", NotificationURL: "http://agg.example:5337/cb?x=%2f"}
	about := hub.About{Title: "A feed", Description: "Of things", ItemTitle: "One thing"}
	for _, c := range []struct {
		name   string
		answer hub.Registered
		err    error
		want   cnws.Result
		status int
		wait   time.Duration
	}{
		{"accepted", hub.Registered{Accepted: []string{ask.ResourceID}, About: about}, nil, cnws.Result{Status: true, Title: "A feed", Description: "Of things"}, 0, 0},
		{"accepted, and no feed", hub.Registered{Accepted: []string{ask.ResourceID}}, nil, cnws.Result{Status: true}, 0, 0},
		{"refused", hub.Registered{Refused: []hub.Refusal{{Feed: ask.ResourceID, Reason: "The feed could not be read."}}}, nil, cnws.Result{Description: "The feed could not be read."}, 0, 0},
		{"all feeds refused", hub.Registered{}, fault.New(fault.Refused, "That would be a loop."), cnws.Result{Description: "That would be a loop."}, 0, 0},
		{"neither", hub.Registered{}, nil, cnws.Result{Description: "Nothing was subscribed to."}, 0, 0},
		{"too many", hub.Registered{}, &fault.Error{Code: fault.TooMany, Msg: "Wait.", RetryAfter: 3 * time.Second}, cnws.Result{}, 429, 3 * time.Second},
		{"away", hub.Registered{}, fault.New(fault.Unavailable, "Not now."), cnws.Result{}, 503, 10 * time.Second},
		{"internal error", hub.Registered{}, errors.New("secret"), cnws.Result{}, 500, 0},
	} {
		h := &fakeHub{register: func(hub.Registration) (hub.Registered, error) { return c.answer, c.err }}
		client := &cnws.Client{Header: http.Header{"X-Forwarded-For": {"192.0.2.9"}}}
		got, err := client.Subscribe(t.Context(), cnwsEndpoint(t, h, nil), ask)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		e, ok := errors.AsType[*cnws.Error](err)
		if ok != (c.status != 0) || ok && (e.Status != c.status || e.RetryAfter != c.wait || strings.Contains(e.Msg, "secret")) || !ok && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		want := hub.Registration{
			Protocol: hub.CNWS, Callback: ask.NotificationURL, Feeds: []string{ask.ResourceID},
			Source: netip.MustParseAddr("192.0.2.9"), Via: "cnws",
		}
		if d := cmp.Diff(want, h.lastRegistration(t), cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreUnexported(hub.Registration{})); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
	}
}

func TestReceivedCNWSNotificationIsPassedToSubscriptions(t *testing.T) {
	t.Parallel()
	change := cnws.Change{ResourceID: "http://feeds.example/a.xml"}
	for _, c := range []struct {
		name   string
		wanted bool
		err    error
		want   bool
		status int
	}{
		{"wanted", true, nil, true, 0},
		{"unknown subscription", false, nil, false, 0},
		{"loop, and still subscribed", true, fault.New(fault.Refused, "The news has passed too many hubs."), true, 0},
		{"refused", false, fault.New(fault.Invalid, "No."), false, 0},
		{"too many", true, fault.New(fault.TooMany, "Wait."), false, 429},
		{"away", true, fault.New(fault.Unavailable, "Not now."), false, 503},
		{"internal error", true, errors.New("secret"), false, 503},
	} {
		up := &following{wanted: c.wanted, err: c.err}
		client := &cnws.Client{Header: http.Header{rsscloud.HopsHeader: {"2"}, "X-Forwarded-For": {"192.0.2.9"}}}
		h := &fakeHub{}
		got, err := client.Notify(t.Context(), cnwsEndpoint(t, h, up), change)
		e, ok := errors.AsType[*cnws.Error](err)
		if got != c.want || ok != (c.status != 0) || ok && e.Status != c.status || !ok && err != nil {
			t.Errorf("%s: %t, %v", c.name, got, err)
		}
		want := []received{{"http://feeds.example/a.xml", "cnws", netip.MustParseAddr("192.0.2.9"), 2}}
		if d := cmp.Diff(want, up.received, cmp.AllowUnexported(received{}), cmpopts.EquateComparable(netip.Addr{})); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if len(h.pings)+len(h.registrations) > 0 {
			t.Errorf("%s: the hub received the call: %+v", c.name, h)
		}
	}
	if wanted, err := (&cnws.Client{}).Notify(t.Context(), cnwsEndpoint(t, &fakeHub{}, nil), change); wanted || err != nil {
		t.Errorf("a server that follows nothing answered %t, %v", wanted, err)
	}
}

func TestCNWSEndpointReturnsDescriptionAndAllowsOtherOrigins(t *testing.T) {
	t.Parallel()
	target := cnwsEndpoint(t, &fakeHub{}, nil)
	for _, c := range []struct {
		method, body string
		status       int
		want         string
	}{
		{http.MethodGet, "", 405, "change notification web service"},
		{http.MethodOptions, "", 204, ""},
		{http.MethodPost, "<rss/>", 400, "This is not a document"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, target, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(b), c.want) || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %s %v", c.method, resp.StatusCode, b, err)
		}
	}
}

func changed(about hub.About) hub.Topic {
	to := topic(feed)
	to.ChangedAt, to.About = time.Date(2009, 10, 16, 14, 0, 0, 1500, time.FixedZone("", 7200)), about
	return to
}

func TestCNWSNotificationContainsTheChange(t *testing.T) {
	t.Parallel()
	yes := cnwsResult(t, cnws.Result{Status: true})
	for _, c := range []struct {
		about       hub.About
		title, text string
	}{
		{hub.About{Title: "Feed", Description: "About it", ItemTitle: "Item", ItemText: "Its text"}, "Item", "Its text"},
		{hub.About{Title: "Feed", Description: "About it", ItemText: "Its text"}, "", "Its text"},
		{hub.About{Title: "Feed", Description: "About it"}, "Feed", ""},
		{hub.About{ItemTitle: strings.Repeat("word ", 60)}, strings.TrimSpace(strings.Repeat("word ", 50)) + "…", ""},
		{hub.About{}, "", ""},
	} {
		s := answering(fetch.Reply{Status: 200, Body: yes, Took: 7})
		r := (&Notifier{Sender: s}).Notify(t.Context(), new(subscription(hub.CNWS)), new(changed(c.about)), nil, 1)
		if d := cmp.Diff(hub.Reply{OK: true, Took: 7}, r); d != "" {
			t.Error(d)
		}
		m := s.sent[0]
		got, err := cnws.Parse(strings.NewReader(string(m.Body)))
		want := cnws.Document{Change: &cnws.Change{
			ResourceID: feed, ChangeTime: time.Date(2009, 10, 16, 12, 0, 0, 0, time.UTC), Title: c.title, Description: c.text,
		}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
		if !strings.Contains(string(m.Body), "<changeTime>Fri, 16 Oct 2009 12:00:00 GMT</changeTime>") {
			t.Errorf("%s", m.Body)
		}
		m.Body = nil
		wantSent := fetch.Message{
			URL: "http://agg.example:5337/secret/cb?x=1", ContentType: "text/xml; charset=utf-8", WantBody: true,
			Header: []string{"X-Hub-Hops", "2", "X-Hub-Changed-At", "2009-10-16T12:00:00.0000015Z"},
		}
		if d := cmp.Diff(wantSent, m); d != "" || len(s.sent) != 1 {
			t.Errorf("%d sent\n%s", len(s.sent), d)
		}
	}
}

func TestCNWSSubscribersOfATopicReceiveTheSameMessage(t *testing.T) {
	t.Parallel()
	s := answering(fetch.Reply{Status: 200, Body: cnwsResult(t, cnws.Result{Status: true})})
	n := &Notifier{Sender: s, Now: func() time.Time { return time.Date(2003, 4, 8, 0, 0, 0, 0, time.UTC) }}
	first := changed(hub.About{ItemTitle: "One"})
	later := first
	later.ChangedAt = later.ChangedAt.Add(time.Minute)
	never := first
	never.ChangedAt = time.Time{}
	for _, c := range []struct {
		topic  hub.Topic
		hops   int
		shared bool
		want   string
	}{
		{first, 0, false, "One"}, {first, 0, true, "One"}, {first, 1, false, "One"}, {later, 1, false, "12:01:00"},
		{changed(hub.About{ItemTitle: "Two"}), 1, false, "Two"}, {never, 0, false, "Tue, 08 Apr 2003 00:00:00 GMT"}, {never, 0, false, "2003"},
	} {
		n.Notify(t.Context(), new(subscription(hub.CNWS)), &c.topic, nil, c.hops)
		sent := s.sent[len(s.sent)-1]
		shared := len(s.sent) > 1 && &sent.Body[0] == &s.sent[len(s.sent)-2].Body[0]
		if shared != c.shared || !strings.Contains(string(sent.Body), c.want) {
			t.Errorf("%q: shared %t\n%s", c.want, shared, sent.Body)
		}
	}
	bad := topic("gopher://feeds.example/")
	if r := n.Notify(t.Context(), new(subscription(hub.CNWS)), &bad, nil, 0); r.OK || r.Gone || r.Text == "" || len(s.sent) != 7 {
		t.Errorf("a topic that cannot be encoded: %+v", r)
	}
}

func TestResponseToCNWSNotificationDecidesRetryOrRemoval(t *testing.T) {
	t.Parallel()
	yes, no := cnwsResult(t, cnws.Result{Status: true}), cnwsResult(t, cnws.Result{Description: "Enough"})
	broken := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("connection refused by 10.0.0.7")}
	const ends = " In CNWS an HTTP error ends the subscription."
	const odd = "The subscriber's URL responded, but not like a CNWS subscriber."
	for _, c := range []struct {
		name  string
		reply fetch.Reply
		want  hub.Reply // expected reply, without Exchange
	}{
		{"true", fetch.Reply{Status: 200, Body: yes}, hub.Reply{OK: true}},
		{"true, with another status", fetch.Reply{Status: 202, ContentType: "text/plain", Body: yes}, hub.Reply{OK: true}},
		{"false", fetch.Reply{Status: 200, Body: no, Took: 3}, hub.Reply{Gone: true, Took: 3, Text: "The subscriber answered false: it wants no more notifications."}},
		{"404", fetch.Reply{Status: 404}, hub.Reply{Gone: true, Text: "The callback answered 404 Not Found." + ends}},
		{"410", fetch.Reply{Status: 410}, hub.Reply{Gone: true, Text: "The callback answered 410 Gone: it wants no more notifications."}},
		{"500 with true", fetch.Reply{Status: 500, Body: yes}, hub.Reply{Gone: true, Text: "The callback answered 500 Internal Server Error." + ends}},
		{"redirect", fetch.Reply{Status: 301, Location: "https://agg.example:5337/"}, hub.Reply{Gone: true, Text: "The callback answered 301 Moved Permanently, and this redirect was not followed: register the URL that it leads to." + ends}},
		{"busy", fetch.Reply{Status: 503, RetryAfter: "120"}, hub.Reply{RetryAfter: 2 * time.Minute, Text: "The callback answered 503 Service Unavailable."}},
		{"slowly", fetch.Reply{Status: 429}, hub.Reply{Text: "The callback answered 429 Too Many Requests."}},
		{"nothing", fetch.Reply{Status: 204}, hub.Reply{Text: odd}},
		{"a page", fetch.Reply{Status: 200, ContentType: "text/html", Body: []byte("<html>Please log in</html>")}, hub.Reply{Text: odd}},
		{"incomplete response", fetch.Reply{Status: 200, Body: yes[:len(yes)-9], Partial: true}, hub.Reply{Text: odd}},
		{"an echo", fetch.Reply{Status: 200, Body: []byte(`<notification xmlns="` + cnws.Namespace + `"><resourceChange><resourceID>http://a/</resourceID></resourceChange></notification>`)}, hub.Reply{Text: odd}},
		{"refused connection", fetch.Reply{Err: broken}, hub.Reply{Text: unanswered}},
		{"time-out", fetch.Reply{Err: broken, Timeout: true}, hub.Reply{Timeout: true, Text: unanswered}},
		{"ours", fetch.Reply{Err: broken, NotTried: true}, hub.Reply{NotTried: true, Text: "The notification could not be sent now because of a problem on this server."}},
	} {
		s := answering(c.reply)
		got := (&Notifier{Sender: s}).Notify(t.Context(), new(subscription(hub.CNWS)), new(changed(hub.About{})), nil, 0)
		x := got.Exchange
		if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(hub.Reply{}, "Exchange")); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if len(s.sent) != 1 {
			t.Errorf("%s: %d were sent", c.name, len(s.sent))
		}
		if strings.Contains(got.Text, "10.0.0.7") || strings.Contains(got.Text, "secret") {
			t.Errorf("%s: the public message is %q", c.name, got.Text)
		}
		if (x.Request == "") != c.want.OK || !c.want.OK && (x.Error == "") != (c.reply.Err == nil) {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
}

func TestCNWSSubscriberConsentsOnlyByResultDocument(t *testing.T) {
	t.Parallel()
	yes, no := cnwsResult(t, cnws.Result{Status: true}), cnwsResult(t, cnws.Result{})
	unreachable := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("10.0.0.7")}
	for _, c := range []struct {
		name  string
		reply fetch.Reply
		ok    bool
		code  fault.Code
		msg   string
	}{
		{"true", fetch.Reply{Status: 200, Body: yes}, true, 0, ""},
		{"false", fetch.Reply{Status: 200, Body: no}, false, fault.Refused, "with false"},
		{"200 and nothing", fetch.Reply{Status: 200}, false, fault.Refused, "result document"},
		{"a page", fetch.Reply{Status: 200, Body: []byte("<html>hello</html>")}, false, fault.Refused, "result document"},
		{"incomplete response", fetch.Reply{Status: 200, Body: yes[:len(yes)-2], Partial: true}, false, fault.Refused, "result document"},
		{"an error with status true", fetch.Reply{Status: 500, Body: yes}, false, fault.Unreadable, "500"},
		{"503", fetch.Reply{Status: 503}, false, fault.Unreadable, "503"},
		{"redirect", fetch.Reply{Status: 307, Location: "https://agg.example:5337/"}, false, fault.Unreadable, "307"},
		{"unreachable", fetch.Reply{Err: unreachable}, false, fault.Unreadable, "no valid response"},
		{"time-out", fetch.Reply{Err: unreachable, Timeout: true}, false, fault.Unreadable, "no valid response"},
		{"ours", fetch.Reply{Err: unreachable, NotTried: true}, false, fault.Unavailable, "a minute"},
		{"a cloud's ping endpoint", fetch.Reply{Status: 200, Body: []byte(`<result success="true" msg="Thanks for the ping."/>`)}, false, fault.Refused, "loop"},
	} {
		s := answering(c.reply)
		v := &Verifier{Sender: s, Now: func() time.Time { return time.Date(2003, 4, 8, 0, 0, 0, 0, time.UTC) }}
		x, err := v.Verify(t.Context(), subscription(hub.CNWS), hub.Topic{URL: feed, About: hub.About{Title: "Feed", ItemTitle: "Item"}}, false)
		if (err == nil) != c.ok || err != nil && (fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.msg) || strings.Contains(fault.Message(err), "10.0.0.7")) {
			t.Errorf("%s: %v", c.name, err)
		}
		m := s.sent[0]
		d, parseErr := cnws.Parse(strings.NewReader(string(m.Body)))
		if len(s.sent) != 1 || !m.Padded || !m.WantBody || parseErr != nil || d.Change == nil || d.Change.Title != "Item" || d.Change.ChangeTime.Year() != 2003 {
			t.Errorf("%s: sent %+v, %v", c.name, s.sent, parseErr)
		}
		if x.Request == "" || x.Answer == "" && c.reply.Err == nil {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
	x, err := (&Verifier{}).Verify(t.Context(), subscription(hub.CNWS), hub.Topic{URL: "gopher://a/"}, false)
	if fault.CodeOf(err) != fault.Invalid || x.Callback == "" {
		t.Errorf("a topic that cannot be encoded: %+v, %v", x, err)
	}
}

// TestHubNotifiesSubscriberOfCNWSPackage connects both sides by sockets.
func TestHubNotifiesSubscriberOfCNWSPackage(t *testing.T) {
	t.Parallel()
	var got []cnws.Change
	var hops []int
	wanted := true
	srv := httptest.NewServer(&cnws.Handler{Subscriber: cnws.SubscriberFunc(func(ctx context.Context, c cnws.Change) (bool, error) {
		got = append(got, c)
		hops = append(hops, rsscloud.Hops(cnws.RequestFrom(ctx).Header))
		return wanted, nil
	})})
	defer srv.Close()
	sub := hub.Subscription{Protocol: hub.CNWS, Callback: srv.URL}
	if _, err := (&Verifier{Sender: plainSender{}}).Verify(t.Context(), sub, topic(feed), false); err != nil {
		t.Error(err)
	}
	n := &Notifier{Sender: plainSender{}}
	if r := n.Notify(t.Context(), &sub, new(changed(hub.About{ItemTitle: "é & <b>"})), nil, 1); !r.OK {
		t.Errorf("%+v", r)
	}
	wanted = false
	if r := n.Notify(t.Context(), &sub, new(changed(hub.About{})), nil, 0); !r.Gone {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]int{1, 2, 1}, hops); d != "" || got[1].Title != "é & <b>" || got[1].ResourceID != feed {
		t.Errorf("%+v\n%s", got, d)
	}
}

// plainSender sends with the client of the standard library.
type plainSender struct{}

func (plainSender) Send(ctx context.Context, m *fetch.Message) fetch.Reply {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, strings.NewReader(string(m.Body)))
	if err != nil {
		return fetch.Reply{Err: &fetch.Error{Err: err}}
	}
	r.Header.Set("Content-Type", m.ContentType)
	for i := 0; i+1 < len(m.Header); i += 2 {
		r.Header.Set(m.Header[i], m.Header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fetch.Reply{Err: &fetch.Error{Err: err}}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return fetch.Reply{Err: &fetch.Error{Err: err}}
	}
	return fetch.Reply{Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Body: body}
}
