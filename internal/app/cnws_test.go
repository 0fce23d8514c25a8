package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/protocol/cnws"
)

const cnwsHead = `<?xml version="1.0"?><notification version="1.0" xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html" xmlns:x="http://example.com/x">`

// cnwsAnswer writes a result that contains extension elements, as other programs add them.
func cnwsAnswer(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "text/xml")
	_, _ = io.WriteString(w, cnwsHead+`<x:more>1</x:more><result><status>`+status+`</status><x:more/></result></notification>`)
}

// newCNWSServer starts a CNWS subscriber or publisher. It answers true, unless answer is set. n
// counts the received messages from 1; the first message is the test notification.
func newCNWSServer(t *testing.T, answer func(w http.ResponseWriter, n int)) *recordingServer {
	t.Helper()
	return newRecordingServer(t, func(w http.ResponseWriter, _ arrived, n int) {
		if answer == nil || n == 1 {
			cnwsAnswer(w, "true")
			return
		}
		answer(w, n)
	})
}

// sendCNWS posts a message to the CNWS endpoint of the program and returns the result.
func (r *running) sendCNWS(t *testing.T, message string) (int, cnws.Result) {
	t.Helper()
	res, err := http.Post(r.base+"/cnws", "text/xml", strings.NewReader(cnwsHead+message+"</notification>"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, cnws.Result{Description: string(body)}
	}
	result, err := cnws.ParseResult(res.Header.Get("Content-Type"), body)
	if err != nil {
		t.Fatalf("the answer is no result: %v: %s", err, body)
	}
	return res.StatusCode, result
}

func subscribeTo(resource, at string) string {
	return "<subscribe><resourceID>" + resource + "</resourceID><x:why>because</x:why><notificationURL>" + at + "</notificationURL></subscribe>"
}

func changeOf(resource string) string {
	return "<resourceChange><x:content><x:p>all of it</x:p></x:content><resourceID>" + resource + "</resourceID><changeTime>Mon, 07 Apr 2003 22:59:33 BST</changeTime><title>t</title></resourceChange>"
}

func (r *running) cnwsSubscription(t *testing.T, topic, callback string) (hub.Subscription, bool) {
	t.Helper()
	s, err := r.app.Hub().Store.Subscription(t.Context(), hub.Key{TopicID: hub.TopicID(topic), ID: hub.SubscriptionID(hub.CNWS, callback)})
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		t.Fatal(err)
	}
	return s, err == nil
}

func rssWith(title string) page {
	return page{header: []string{"Content-Type", "text/xml"}, body: "<?xml version='1.0' encoding='ISO-8859-1'?><rss version='2.0'><channel><title>Caf\xe9 &amp; <![CDATA[<b>Co</b>]]></title><description>All of it</description>" +
		"<item><title>" + title + "</title><description>&lt;p&gt;An excerpt&lt;/p&gt;</description></item><item><title>old</title></item></channel></rss>"}
}

func TestCNWSSubscriberIsNotifiedOfAChange(t *testing.T) {
	t.Parallel()
	w, e := newWebSubHub(t, nil), newCNWSServer(t, nil)
	feed := w.put("/rss.xml", rssWith("one"))
	for range 2 { // a repeated subscription succeeds too
		code, got := w.sendCNWS(t, subscribeTo(feed, e.URL+"/n?a=1&amp;b=2"))
		if code != http.StatusOK || !got.Status || got.Title != "Café & Co" || got.Description != "All of it" {
			t.Fatalf("subscribe: %d %+v", code, got)
		}
	}
	if n := len(e.got("POST")); n != 1 {
		t.Errorf("%d verifications", n)
	}
	begun := time.Now()
	w.put("/rss.xml", rssWith("Zwei &amp; mehr"))
	w.publish(t, feed)
	notified := e.await(t, "POST", 2)
	m, err := cnws.Parse(bytes.NewReader(notified[1].body))
	if err != nil || m.Change == nil {
		t.Fatalf("received %s: %v", notified[1].body, err)
	}
	if c := m.Change; c.ResourceID != feed || c.Title != "Zwei & mehr" || c.Description != "An excerpt" || c.ChangeTime.Before(begun.Add(-time.Minute)) || notified[1].RequestURI != "/n?a=1&b=2" {
		t.Errorf("received at %s: %+v", notified[1].RequestURI, c)
	}
	for name, c := range map[string]struct{ resource, callback string }{
		"a resource that cannot be read": {w.URL + "/missing", e.URL + "/n"},
		"a page that answers 200 to all": {feed, w.text("/page", "hello")},
		"a callback that refuses":        {feed, newRecordingServer(t, func(w http.ResponseWriter, _ arrived, _ int) { cnwsAnswer(w, "false") }).URL},
		"the publisher itself":           {feed, w.base + "/cnws"},
		"nobody":                         {feed, "http://127.0.0.1:1/"},
	} {
		if code, got := w.sendCNWS(t, subscribeTo(c.resource, c.callback)); code != http.StatusOK || got.Status || got.Description == "" {
			t.Errorf("%s: %d %+v", name, code, got)
		}
	}
}

// TestCNWSResponseDecidesWhetherSubscriptionIsKept answers the notification of a change in
// several ways. It checks which subscribers receive the next notification.
func TestCNWSResponseDecidesWhetherSubscriptionIsKept(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	feed := w.put("/rss.xml", rssWith("one"))
	// once returns a server that answers the first notification with f and all later
	// notifications with true.
	once := func(f func(w http.ResponseWriter)) *recordingServer {
		return newCNWSServer(t, func(w http.ResponseWriter, n int) {
			if n == 2 {
				f(w)
				return
			}
			cnwsAnswer(w, "true")
		})
	}
	status := func(code int) *recordingServer { return once(func(w http.ResponseWriter) { w.WriteHeader(code) }) }
	for name, c := range map[string]struct {
		*recordingServer
		stays    bool
		notified int // number of notifications about the first change
	}{
		"true":                {once(func(w http.ResponseWriter) { cnwsAnswer(w, "true") }), true, 1},
		"false":               {once(func(w http.ResponseWriter) { cnwsAnswer(w, "false") }), false, 1},
		"404":                 {status(404), false, 1},
		"410":                 {status(410), false, 1},
		"500":                 {status(500), false, 1},
		"a redirect":          {status(302), false, 1},
		"too busy":            {status(503), true, 2},
		"too many":            {status(429), true, 2},
		"something else":      {once(func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }), true, 2},
		"a broken connection": {once(func(http.ResponseWriter) { panic(http.ErrAbortHandler) }), true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if code, got := w.sendCNWS(t, subscribeTo(feed, c.URL)); code != http.StatusOK || !got.Status {
				t.Fatalf("subscribe: %d %+v", code, got)
			}
			for i, want := range []int{c.notified, c.notified + map[bool]int{false: 0, true: 1}[c.stays]} {
				w.put("/rss.xml", rssWith(fmt.Sprint(name, i)))
				w.publish(t, feed)
				if n := len(c.got("POST")) - 1; n != want {
					t.Errorf("%d notifications after change %d, want %d", n, i+1, want)
				}
			}
			s, ok := w.cnwsSubscription(t, feed, c.URL)
			if ok != c.stays || ok && (s.Failures != 0 || !s.FailingSince.IsZero()) {
				t.Errorf("on the list: %v, with %d failures", ok, s.Failures)
			}
		})
	}
}

func TestCNWSSubscriberReceivesMissedChangeAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, func(c *config.Config) {
		c.Hub.Retry = []time.Duration{20 * time.Millisecond, 20 * time.Millisecond, time.Hour} // after two fast retries, the program waits an hour; a repeated subscription ends this wait
	})
	feed := w.put("/rss.xml", rssWith("one"))
	e := newCNWSServer(t, nil)
	if code, got := w.sendCNWS(t, subscribeTo(feed, e.URL)); code != http.StatusOK || !got.Status {
		t.Fatalf("subscribe: %d %+v", code, got)
	}
	addr := e.Listener.Addr().String()
	e.Close()
	w.put("/rss.xml", rssWith("two"))
	if code, body := post(t, w.base+"/ping", url.Values{"url": {feed}}); code != http.StatusOK {
		t.Fatalf("ping: %d %s", code, body)
	}
	wait(t, "it was tried three times", func() bool {
		s, ok := w.cnwsSubscription(t, feed, e.URL)
		if !ok {
			t.Fatal("it was removed at once")
		}
		return s.Tries >= 3
	})
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	again := newRecordingServer(t, func(w http.ResponseWriter, _ arrived, _ int) { cnwsAnswer(w, "true") })
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: again, ReadHeaderTimeout: time.Minute}}
	srv.Start()
	t.Cleanup(srv.Close)
	if code, got := w.sendCNWS(t, subscribeTo(feed, e.URL)); code != http.StatusOK || !got.Status {
		t.Fatalf("confirm after the outage: %d %+v", code, got)
	}
	notified := again.await(t, "POST", 1)
	if m, err := cnws.Parse(bytes.NewReader(notified[0].body)); err != nil || m.Change == nil || m.Change.Title != "two" {
		t.Errorf("received %s, %v", notified[0].body, err)
	}
}

// TestServerSubscribesToFeedOfACNWSPublisher makes the program follow a feed. The test acts as
// the publisher of the feed.
func TestServerSubscribesToFeedOfACNWSPublisher(t *testing.T) {
	t.Parallel()
	w, publisher, s := newWebSubHub(t, nil), newCNWSServer(t, nil), newSubscriber(t)
	feed := w.put("/rss.xml", rssWith("one"))
	if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	if code, got := w.sendCNWS(t, changeOf(feed)); code != http.StatusOK || got.Status {
		t.Errorf("a change without subscription: %d %+v", code, got)
	}
	w.relay(t, client.RelayRequest{Feed: feed, Via: "cnws", Hub: publisher.URL + "/endpoint"})
	asked := publisher.await(t, "POST", 1)[0]
	m, err := cnws.Parse(bytes.NewReader(asked.body))
	if err != nil || m.Subscribe == nil || m.Subscribe.ResourceID != feed || !strings.HasSuffix(m.Subscribe.NotificationURL, "/cnws") || asked.RequestURI != "/endpoint" {
		t.Fatalf("asked at %s with %s: %v", asked.RequestURI, asked.body, err)
	}
	w.put("/rss.xml", rssWith("two"))
	if code, got := w.sendCNWS(t, changeOf(feed)); code != http.StatusOK || !got.Status {
		t.Errorf("a change with elements of others: %d %+v", code, got)
	}
	if got := s.wait(t, "the change"); got != feed {
		t.Errorf("notified of %s", got)
	}
	if code, got := w.sendCNWS(t, changeOf(w.URL+"/other")); code != http.StatusOK || got.Status {
		t.Errorf("a change of something else: %d %+v", code, got)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, w.admin+"/v1/relays?feed="+url.QueryEscape(feed), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	wait(t, "it is not followed any more", func() bool {
		_, body := get(t, w.admin+"/v1/relays")
		return strings.Contains(body, `"relays":[]`)
	})
	if code, got := w.sendCNWS(t, changeOf(feed)); code != http.StatusOK || got.Status {
		t.Errorf("a change after that: %d %+v", code, got)
	}
	if n := len(publisher.got("POST")); n != 1 {
		t.Errorf("%d requests to the publisher", n)
	}
}
