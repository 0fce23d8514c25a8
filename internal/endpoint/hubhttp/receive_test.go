package hubhttp

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
)

func TestNotificationsOfAPythonHubAreReceived(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	endpointtest.Run(t, "python3", "testdata/clients/xmlrpc_notify.py", srv.URL+"/notify/RPC2", feed)
	one := "received " + feed + " rsscloud 127.0.0.1 0"
	want := strings.Join([]string{one, one, one, "received http://other.example/ rsscloud 127.0.0.1 0"}, "\n")
	if got := e.take(); got != want {
		t.Errorf("received\n%s", got)
	}
}

// posted sends a body to an endpoint by POST and returns the response.
func posted(t *testing.T, target, kind string, header http.Header, body io.Reader) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestEachCloudEndpointAcceptsEveryProtocol(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	for _, path := range []string{"/notify/rsscloud", "/notify/RPC2", "/notify/soap"} {
		for _, protocol := range []string{rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP} {
			c := &rsscloud.Client{}
			if err := c.Notify(t.Context(), protocol, srv.URL+path, "notify", feed, 3); err != nil {
				t.Errorf("%s, %s: %v", path, protocol, err)
			}
			if got := e.take(); got != "received "+feed+" rsscloud 127.0.0.1 3" {
				t.Errorf("%s, %s: %s", path, protocol, got)
			}
		}
		if err := (&rsscloud.Client{}).Challenge(t.Context(), srv.URL+path, feed); err != nil {
			t.Errorf("%s, a challenge: %v", path, err)
		}
	}
	soap12 := `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><n:rssUpdated xmlns:n="urn:x"><url>` + feed + `</url></n:rssUpdated></e:Body></e:Envelope>`
	status, answer := posted(t, srv.URL+"/notify/soap", "application/soap+xml", nil, strings.NewReader(soap12))
	if status != 200 || !strings.Contains(answer, "http://www.w3.org/2003/05/soap-envelope") || !strings.Contains(answer, "true") {
		t.Errorf("SOAP 1.2: %d %s", status, answer)
	}
	if got := e.take(); got != "received "+feed+" rsscloud 127.0.0.1 0" {
		t.Errorf("SOAP 1.2: %s", got)
	}
}

func TestHostileNotificationsAreRejected(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	call := func(inner string) string {
		return `<methodCall><methodName>n</methodName><params>` + inner + `</params></methodCall>`
	}
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, call(`<param><value>`+feed+`</value></param>`))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kind, body string
		header     http.Header
		statuses   []int
	}{
		"nothing":                   {"text/xml", "", nil, []int{400}},
		"entity in XML":             {"text/xml", `<!DOCTYPE x [<!ENTITY a "b">]>` + call(`<param><value>&a;</value></param>`), nil, []int{200, 400}},
		"endless":                   {"text/xml", call(`<param><value>` + strings.Repeat("x", 1<<20) + `</value></param>`), nil, []int{413}},
		"deep":                      {"text/xml", call(strings.Repeat("<param>", 1_000)), nil, []int{200, 400}},
		"truncated XML":             {"text/xml", call("<param>")[:40], nil, []int{200, 400}},
		"two documents in one body": {"text/xml", call(`<param><value>`+feed+`</value></param>`) + call(""), nil, []int{200, 400}},
		"packed":                    {"text/xml", packed.String(), http.Header{"Content-Encoding": {"gzip"}}, []int{415}},
		"feed is missing":           {"text/xml", call(""), nil, []int{200}},
		"array instead of a string": {"text/xml", call(`<param><value><array><data><value>` + feed + `</value></data></array></value></param>`), nil, []int{200}},
		"form with two URLs":        {"application/x-www-form-urlencoded", url.Values{"url": {feed, feed + "2"}}.Encode(), nil, []int{400}},
		"multipart form":            {"multipart/form-data; boundary=x", "--x\r\n", nil, []int{400, 415}},
		"empty SOAP body":           {"text/xml", `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"/>`, nil, []int{500}},
		"bytes":                     {"", "\x00\xff\xfe", nil, []int{400}},
	} {
		for _, path := range []string{"/notify/rsscloud", "/notify/RPC2", "/notify/soap"} {
			status, answer := posted(t, srv.URL+path, c.kind, c.header, strings.NewReader(c.body))
			ok := false
			for _, s := range c.statuses {
				ok = ok || s == status
			}
			if !ok || status == 200 && !strings.Contains(answer, "<fault>") {
				t.Errorf("%s, %s: %d %s", path, name, status, answer)
			}
		}
	}
	if got := e.take(); got != "" {
		t.Errorf("received %s", got)
	}
}

func TestCNWSNotificationsAreReceivedAtTheirEndpoint(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	srv := notified(t, e)
	c := &cnws.Client{}
	send := func(resource string) (bool, error) {
		return c.Notify(t.Context(), srv.URL+"/notify/cnws", cnws.Change{ResourceID: resource, ChangeTime: expires()})
	}
	if r, err := send(feed); err != nil || !r {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := send("http://other.example/"); err != nil || r {
		t.Errorf("unwanted notification: %+v, %v", r, err)
	}
	e.err = fault.New(fault.Unavailable, "The store is away.")
	if _, err := send(feed); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("while the store is away: %v", err)
	}
	if r, err := c.Subscribe(t.Context(), srv.URL+"/notify/cnws", cnws.Subscribe{ResourceID: feed, NotificationURL: "http://x.example/"}); err != nil || r.Status {
		t.Errorf("a subscription here: %+v, %v", r, err)
	}
}

func TestTooLargeContentIsRejected(t *testing.T) {
	t.Parallel()
	e := &playedEngine{}
	mux := http.NewServeMux()
	route.Mount(mux, (&NotifyEndpoints{Engine: e, Log: logTo(t)}).Routes(), nil)
	for size, want := range map[int]int{5<<20 + 1: http.StatusRequestEntityTooLarge, 5 << 20: http.StatusAccepted} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/notify/websub/token", strings.NewReader(strings.Repeat("x", size)))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d bytes are answered %d", size, w.Code)
		}
	}
	if got := e.take(); got != "rejected token" {
		t.Errorf("received %s", got)
	}
}

func TestNotificationEndpointsAreRecognizedAsOwnEndpoints(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/notify/rsscloud", "/notify/RPC2", "/notify/soap", "/notify/cnws", "/notify/websub/token"} {
		if !IsOwnEndpoint("http://me.example"+path, "http://me.example") {
			t.Errorf("%s is not", path)
		}
	}
}
