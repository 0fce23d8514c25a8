package app_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/web/docsui"
	"cloudburst/protocol/wsse"
)

// arrived is a request received by the subscriber, with its body.
type arrived struct {
	*http.Request
	body []byte
}

// wanted is the answer of a CNWS subscriber to a notification that it accepts.
const wanted = `<notification version="1.0" xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html"><result><status>true</status></result></notification>`

// callback answers challenges and records complete requests.
func callback(t *testing.T) (*httptest.Server, chan arrived) {
	t.Helper()
	came := make(chan arrived, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch in := r.URL.Query(); {
		case in.Has("hub.challenge"):
			_, _ = io.WriteString(w, in.Get("hub.challenge"))
		case bytes.Contains(body, []byte("<resourceChange>")):
			w.Header().Set("Content-Type", "text/xml; charset=utf-8")
			_, _ = io.WriteString(w, wanted)
		default:
			_, _ = io.WriteString(w, in.Get("challenge"))
		}
		came <- arrived{r, body}
	}))
	t.Cleanup(server.Close)
	return server, came
}

// send writes the documented bytes to a connection unchanged.
func send(t *testing.T, host string, request []byte) (*http.Response, []byte) {
	t.Helper()
	c, err := net.DialTimeout("tcp", host, maxWait)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// exchanges runs the examples against the whole program.
type exchanges struct {
	*testing.T
	base     string
	admin    string
	examples map[string]docsui.Example // examples not tried yet
	place    docsui.Place
	came     chan arrived
	version  *atomic.Int64 // version of the feed
}

func (x *exchanges) take(id string) docsui.Example {
	x.Helper()
	e, ok := x.examples[id]
	if !ok {
		x.Fatalf("there is no example %s", id)
	}
	delete(x.examples, id)
	return e
}

// run sends one example to the program.
func (x *exchanges) run(id string) {
	x.Helper()
	e := x.take(id)
	res, body := send(x.T, x.place.Host, x.place.Wire(e.Request))
	if err := e.Compare(x.place, res.StatusCode, res.Header, body); err != nil {
		x.Error(err)
	}
}

// arrives waits until the program sends one example.
func (x *exchanges) arrives(id string) {
	x.Helper()
	e := x.take(id)
	if err := x.waitMatching(e, time.After(maxWait)); err != nil {
		x.Fatalf("no request matches the example %s; others: %v", id, err)
	}
}

// notified changes the feed until the subscriber receives the documented notification. A
// subscription becomes active a moment after its verification.
func (x *exchanges) notified(id string) {
	x.Helper()
	e := x.take(id)
	var err error
	for range 10 {
		x.change()
		if err = x.waitMatching(e, time.After(5*time.Second)); err == nil {
			return
		}
	}
	x.Fatalf("no request matches the example %s; others: %v", id, err)
}

// waitMatching returns nil when a request like e arrives, or lists the other requests until end.
func (x *exchanges) waitMatching(e docsui.Example, end <-chan time.Time) error {
	var others []error
	for {
		select {
		case a := <-x.came:
			in := a.URL.Query()
			x.place.Challenge = in.Get("challenge") + in.Get("hub.challenge")
			err := e.CompareRequest(x.place, a.Request, a.body)
			if err == nil {
				return nil
			}
			others = append(others, err)
		case <-end:
			return errors.Join(append(others, errors.New("that is all"))...)
		}
	}
}

// change publishes a new version of the feed and pings it.
func (x *exchanges) change() {
	x.Helper()
	x.place.Content = x.place.SampleFeed(x.version.Add(1))
	for len(x.came) > 0 {
		<-x.came // verification calls look like notifications
	}
	if status, body := post(x.T, x.base+"/ping", url.Values{"url": {x.place.Feed}}); status != http.StatusOK {
		x.Errorf("ping: %d %s", status, body)
	}
}

// documented starts the program, a feed and a subscriber.
func documented(t *testing.T) *exchanges {
	t.Helper()
	x := &exchanges{T: t, examples: map[string]docsui.Example{}, version: &atomic.Int64{}}
	var feeds *httptest.Server
	feeds = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = io.WriteString(w, docsui.Place{Site: feeds.URL + "/"}.SampleFeed(x.version.Load()))
	}))
	t.Cleanup(feeds.Close)
	cfg := conf(t, t.TempDir())
	cfg.Hub.PingInterval = time.Millisecond
	r := start(t, cfg)
	x.base, x.admin = r.base, r.admin
	var listens *httptest.Server
	listens, x.came = callback(t)
	at, err := url.Parse(listens.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	all, err := docsui.Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		x.examples[e.ID] = e
	}
	x.place = docsui.Place{
		Host: strings.TrimPrefix(x.base, "http://"), Base: x.base, Domain: "127.0.0.1", Caller: "127.0.0.1", Port: port, Path: "/feedupdated",
		Feed: feeds.URL + "/rss.xml?a=1&b=2", Site: feeds.URL + "/", Secret: "known-to-both-of-us",
	}
	x.place.Content = x.place.SampleFeed(0)
	return x
}

// TestDocumentedExchangesMatchTheServer sends each documented request byte for byte and compares
// the answer. It also causes each request that the program sends itself.
func TestDocumentedExchangesMatchTheServer(t *testing.T) {
	t.Parallel()
	x := documented(t)
	x.run("register-rest")
	x.run("register-domain")
	x.arrives("challenge")
	x.run("register-xml-rpc")
	x.run("register-soap")
	x.run("websub-subscribe")
	x.arrives("websub-verify")
	x.run("cnws-subscribe")
	for _, id := range []string{"notify-http-post", "notify-xml-rpc", "notify-soap", "websub-deliver", "cnws-notify"} {
		x.notified(id)
	}
	for _, id := range []string{
		"ping-rest", "ping-json", "ping-wrong", "ping-xml-rpc", "ping-soap", "websub-publish",
		"weblogs-ping", "pingsite", "weblogs-extended", "changes-xml",
		"cancel-rest", "websub-unsubscribe",
	} {
		x.run(id)
	}
	x.hostedExamples()
	for id := range x.examples {
		t.Errorf("the example %s was not tried", id)
	}
}

// hostedExamples runs the documented examples of hosted feeds.
func (x *exchanges) hostedExamples() {
	x.Helper()
	x.place.User, x.place.Password = "alice", "correct horse battery"
	admin := &client.Client{Base: x.admin}
	if _, err := admin.AddUser(x.Context(), x.place.User, x.place.Password); err != nil {
		x.Fatal(err)
	}
	secret, err := admin.NewSecret(x.Context(), x.place.User, "Anna")
	if err != nil {
		x.Fatal(err)
	}
	x.place.Reader, x.place.Key = secret.Selector, strings.TrimPrefix(secret.Access.Password, secret.Selector+".")
	x.run("save-put")
	res, err := http.Get(x.base + "/alice/rss.xml")
	if err != nil {
		x.Fatal(err)
	}
	_ = res.Body.Close()
	x.place.Tag = res.Header.Get("ETag")
	// The next version has one more item; known items are not sent again.
	_, items, _ := strings.Cut(x.place.Content, "<item>")
	x.place.Content = strings.Replace(x.place.SampleFeed(x.version.Add(1)), "</item>", "</item>\n<item>"+strings.TrimSuffix(items, "</channel></rss>"), 1)
	for _, id := range []string{"save-xml-rpc", "read-json", "read-new", "convert", "private-url", "private-basic"} {
		x.run(id)
	}
	x.place.WSSE = wsse.Header(x.place.Reader, x.place.Key, time.Now(), rand.Reader)
	x.run("private-wsse")
}
