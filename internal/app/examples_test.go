package app_test

import (
	"bufio"
	"errors"
	"fmt"
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

	"cloudburst/internal/web"
)

// arrived is a request that came to the subscriber, with its body.
type arrived struct {
	*http.Request
	body []byte
}

// callback answers challenges and keeps what it is sent, whole.
func callback(t *testing.T) (*httptest.Server, chan arrived) {
	t.Helper()
	came := make(chan arrived, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, r.FormValue("challenge"))
		came <- arrived{r, body}
	}))
	t.Cleanup(server.Close)
	return server, came
}

// send puts the documented bytes on a connection, as they are.
func send(t *testing.T, host string, request []byte) (*http.Response, []byte) {
	t.Helper()
	c, err := net.DialTimeout("tcp", host, 10*time.Second)
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

// TestEveryExchangeOfTheDocumentationIsAsItSays sends each documented request to
// the whole program, byte for byte, and compares what comes back; and makes the
// program send those that it sends itself.
func TestEveryExchangeOfTheDocumentationIsAsItSays(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<rss version=\"2.0\"><channel><title>%s, %d</title></channel></rss>", r.URL.Path, version.Load())
	}))
	defer feeds.Close()
	cfg := conf(t, t.TempDir())
	cfg.Hub.PingInterval = time.Millisecond
	r := start(t, cfg)
	listens, came := callback(t)
	at, err := url.Parse(listens.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	all, err := web.Examples()
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]web.Example{}
	for _, e := range all {
		examples[e.ID] = e
	}
	place := web.Place{Host: strings.TrimPrefix(r.base, "http://"), Domain: "127.0.0.1", Caller: "127.0.0.1", Port: port, Path: "/feedupdated", Feed: feeds.URL + "/rss.xml?a=1&b=2"}
	take := func(id string) web.Example {
		t.Helper()
		e, ok := examples[id]
		if !ok {
			t.Fatalf("there is no example %s", id)
		}
		delete(examples, id)
		return e
	}
	run := func(id string) {
		t.Helper()
		e := take(id)
		res, body := send(t, place.Host, place.Wire(e.Request))
		if err := e.Compare(place, res.StatusCode, res.Header, body); err != nil {
			t.Error(err)
		}
	}
	arrives := func(id string) {
		t.Helper()
		e := take(id)
		var others []error
		for {
			select {
			case a := <-came:
				place.Challenge = a.URL.Query().Get("challenge")
				err := e.CompareRequest(place, a.Request, a.body)
				if err == nil {
					return
				}
				others = append(others, err)
			case <-time.After(30 * time.Second):
				t.Fatalf("no request came like the example %s; others did: %v", id, errors.Join(others...))
			}
		}
	}
	ping := func() {
		t.Helper()
		version.Add(1)
		for len(came) > 0 {
			<-came // the test calls look the same as notifications
		}
		if status, body := post(t, r.base+"/ping", url.Values{"url": {place.Feed}}); status != http.StatusOK {
			t.Errorf("ping: %d %s", status, body)
		}
	}
	run("register-rest")
	run("register-domain")
	arrives("challenge")
	run("register-xml-rpc")
	run("register-soap")
	ping()
	arrives("notify-http-post")
	ping()
	arrives("notify-xml-rpc")
	ping()
	arrives("notify-soap")
	for _, id := range []string{"ping-rest", "ping-json", "ping-wrong", "ping-xml-rpc", "ping-soap", "cancel-rest"} {
		run(id)
	}
	for id := range examples {
		t.Errorf("the example %s was not tried", id)
	}
}
