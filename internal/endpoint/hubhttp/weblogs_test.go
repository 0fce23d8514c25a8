package hubhttp

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	siteURL  = "http://site.example/"
	siteFeed = "http://site.example/rss.xml"
)

// lastAnnounced returns the last announcement to the hub.
func (f *fakeHub) lastAnnounced(t *testing.T) hub.Announcement {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.announced) == 0 {
		t.Fatal("the hub got no announcement")
	}
	return f.announced[len(f.announced)-1]
}

// get requests a page and returns status, body and headers.
func get(t *testing.T, method, address string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func TestPythonClientPingsByWeblogsXMLRPC(t *testing.T) {
	t.Parallel()
	h := &fakeHub{announce: func(a hub.Announcement) (hub.Announced, error) {
		switch a.Name {
		case "limit":
			return hub.Announced{}, fault.New(fault.TooMany, "Too many pings from your network.")
		case "away":
			return hub.Announced{}, fault.New(fault.Unavailable, "The store is away.")
		case "bug":
			return hub.Announced{}, fmt.Errorf("secret")
		}
		return hub.Announced{}, nil
	}}
	endpointtest.Run(t, "python3", "testdata/clients/weblogs_client.py", listen(t, h).URL)
	here := netip.MustParseAddr("127.0.0.1")
	want := []hub.Announcement{
		{Name: "The Site", URL: siteURL, Via: "weblogs", Source: here},
		{Name: "Grün & <Co>", URL: siteURL, Page: siteURL + "new", Tags: []string{"a", "b"}, Via: "weblogs", Source: here},
		{Name: "The Site", URL: siteURL, Feed: siteFeed, Via: "weblogs-extended", Source: here},
		{Name: "The Site", URL: siteURL, Page: siteURL + "new", Feed: siteFeed, Via: "weblogs-extended", Source: here},
		{Name: "The Site", URL: siteURL, Page: siteURL + "new", Feed: siteFeed, Tags: []string{"rss", "opml"}, Via: "weblogs-extended", Source: here},
	}
	for range 2 { // first at /RPC2, then at /weblogUpdates
		if d := cmp.Diff(want, h.announced[:5], cmpopts.EquateComparable(netip.Addr{})); d != "" {
			t.Error(d)
		}
		h.announced = h.announced[len(h.announced)/2:]
	}
}

func TestSitePingIsPassedToTheHub(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	form := url.Values{"name": {"Site"}, "url": {siteURL + "#top"}, "changesURL": {siteURL + "new#42"}, "rssUrl": {siteFeed}}
	status, body, head := get(t, "GET", srv.URL+"/pingSiteForm?"+form.Encode(), "X-Forwarded-For", "198.51.100.1", "X-Hub-Hops", "2")
	if status != 200 || !strings.Contains(body, "Thanks for the ping.") || head.Get("Access-Control-Allow-Origin") != "*" || head.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s\n%s", status, head, body)
	}
	want := hub.Announcement{Name: "Site", URL: siteURL, Page: siteURL + "new", Feed: siteFeed, Via: "pingsite", Source: netip.MustParseAddr("198.51.100.1"), Hops: 2}
	if d := cmp.Diff(want, h.lastAnnounced(t), cmpopts.EquateComparable(netip.Addr{})); d != "" {
		t.Error(d)
	}
	if status, _, head := get(t, "OPTIONS", srv.URL+"/pingSiteForm"); status != 204 || !strings.Contains(head.Get("Allow"), "GET") {
		t.Errorf("%d %s", status, head)
	}
}

func TestRefusedSitePingReturnsStatusForTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		after  string
		says   string
	}{
		{fault.New(fault.Invalid, "No URL."), 400, "", "No URL."},
		{fault.New(fault.Refused, "Gone round."), 400, "", "Gone round."},
		{&fault.Error{Code: fault.TooMany, Msg: "Too many.", RetryAfter: 7 * time.Second}, 429, "7", "Too many."},
		{fault.New(fault.TooMany, "Too many."), 429, "1", "Too many."},
		{fault.New(fault.Unavailable, "Away."), 503, "10", "Away."},
		{fmt.Errorf("secret"), 500, "", fault.Neutral},
	} {
		h := &fakeHub{announce: func(hub.Announcement) (hub.Announced, error) { return hub.Announced{}, c.err }}
		srv := listen(t, h)
		status, body, head := get(t, "GET", srv.URL+"/pingSiteForm?url="+siteURL)
		if status != c.status || head.Get("Retry-After") != c.after || !strings.Contains(body, c.says) || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s\n%s", c.err, status, head, body)
		}
		client := &weblogs.Client{}
		r, err := client.Ping(t.Context(), srv.URL+"/RPC2", weblogs.Ping{URL: siteURL})
		if err != nil || !r.Err || r.Message != c.says {
			t.Errorf("%v: %+v, %v", c.err, r, err)
		}
	}
}

func TestSOAPPingWithTwoParametersIsASitePing(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	pair := func(a, b string) []soap.Param {
		return []soap.Param{{Name: a, Value: "Site"}, {Name: b, Value: siteURL}}
	}
	lastAgeChange := []soap.Param{{Name: "url", Value: siteURL}, {Name: "name", Value: "Site"}}
	for _, target := range []string{"/soap", "/rsscloud/soap", "/weblogUpdates"} {
		for _, params := range [][]soap.Param{pair("weblogname", "weblogurl"), pair("WeblogName", "WeblogURL"), pair("name", "url"), lastAgeChange, pair("a", "b"), pair("weblogname", "url"), pair("name", "weblogurl")} {
			c := &soap.Client{URL: srv.URL + target, Namespace: weblogsNamespace}
			v, err := c.Call(t.Context(), "ping", params...)
			if err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			if d := cmp.Diff(map[string]any{"flerror": false, "message": "Thanks for the ping."}, v); d != "" {
				t.Errorf("%s: %s", target, d)
			}
			if a := h.lastAnnounced(t); a.Name != "Site" || a.URL != siteURL || a.Via != "weblogs" {
				t.Errorf("%s %v: %+v", target, params, a)
			}
		}
	}
	if len(h.pings) != 0 {
		t.Errorf("%+v", h.pings)
	}
	c := &soap.Client{URL: srv.URL + "/soap"}
	if v, err := c.Call(t.Context(), "ping", soap.Param{Name: "url", Value: siteFeed}); err != nil || v != true || len(h.pings) != 1 {
		t.Errorf("rssCloud's ping: %v, %v, %d", v, err, len(h.pings))
	}
	v, err := c.Call(t.Context(), "ping", soap.Param{Name: "weblogname", Value: "x"}, soap.Param{Name: "weblogurl", Value: "javascript:x"})
	if m, _ := v.(map[string]any); err != nil || m["flerror"] != true || !strings.Contains(fmt.Sprint(m["message"]), "must begin with http") {
		t.Errorf("%v, %v", v, err)
	}
}

func TestSitePingEndpointAcceptsXMLRPCAndSOAP(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	rpc := &xmlrpc.Client{URL: srv.URL + "/weblogUpdates"}
	v, err := rpc.Call(t.Context(), weblogs.MethodPing, "Site", siteURL)
	if r, perr := weblogs.ParseResult(v); err != nil || perr != nil || r.Err {
		t.Errorf("%v, %v, %v", v, err, perr)
	}
	status, wsdl, _ := get(t, "GET", srv.URL+"/weblogUpdates?wsdl")
	if status != 200 || xml.Unmarshal([]byte(wsdl), new(struct{ XMLName xml.Name })) != nil {
		t.Errorf("%d %s", status, wsdl)
	}
	for _, part := range []string{`<part name="weblogname" type="xsd:string"/>`, `<part name="weblogurl" type="xsd:string"/>`, `name="flerror" type="xsd:boolean"`, srv.URL + "/weblogUpdates"} {
		if !strings.Contains(wsdl, part) {
			t.Errorf("no %s in\n%s", part, wsdl)
		}
	}
	if status, _, _ := get(t, "GET", srv.URL+"/weblogUpdates"); status != 405 {
		t.Errorf("%d", status)
	}
}

func TestPingEndpointAcceptsURLInQuery(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	query := "?name=Site&url=" + url.QueryEscape(siteFeed+"?a=1&b=ü")
	for _, method := range []string{"GET", "POST"} {
		status, body, _ := get(t, method, srv.URL+"/ping"+query)
		if r, err := rsscloud.ParseResult([]byte(body)); status != 200 || err != nil || !r.Success || r.Msg != "Thanks for the ping." {
			t.Errorf("%s: %d %s", method, status, body)
		}
	}
	if _, body, _ := get(t, "GET", srv.URL+"/ping"+query, "Accept", "application/json"); body != `{"success":true,"msg":"Thanks for the ping."}`+"\n" {
		t.Error(body)
	}
	if len(h.pings) != 3 || h.pings[0].URL != siteFeed+"?a=1&b=ü" || h.pings[0].Via != "rest" {
		t.Errorf("%+v", h.pings)
	}
	for _, c := range []struct {
		method, path string
		want         int
		says         string
	}{
		{"GET", "/ping", 405, "POST"},
		{"HEAD", "/ping" + query, 405, ""},
		{"GET", "/rsscloud/ping" + query, 405, "POST"},
		{"GET", "/ping?url=%zz", 200, `success="false"`},
		{"POST", "/ping", 200, `success="false"`},
		{"OPTIONS", "/ping" + query, 204, ""},
	} {
		if status, body, _ := get(t, c.method, srv.URL+c.path); status != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	// The body takes precedence over the query.
	resp, err := http.PostForm(srv.URL+"/ping?url=http://other.example/", url.Values{"url": {siteFeed}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if last := h.pings[len(h.pings)-1]; len(h.pings) != 4 || last.URL != siteFeed {
		t.Errorf("%+v", h.pings)
	}
}

func TestPingEndpointAcceptsXMLRPC(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	r, err := (&weblogs.Client{}).Ping(t.Context(), srv.URL+"/ping", weblogs.Ping{Name: "Site", URL: "http://site.example/"})
	if err != nil || r.Err || len(h.announced) != 1 {
		t.Errorf("%+v, %v, %+v", r, err, h.announced)
	}
}

func TestPingFormReturnsAPage(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: &fakeHub{}, PingPage: func(w http.ResponseWriter, _ *http.Request, status int, title, _ string, form url.Values) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "our page: %s %s", title, form.Get("url"))
	}}).Routes(), nil)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/pingSiteForm?url="+siteURL, nil))
	if w.Code != 200 || w.Body.String() != "our page: Thanks "+siteURL {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPingThatABrowserOpensReturnsAPage(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: h, PingPage: func(w http.ResponseWriter, _ *http.Request, status int, title, text string, form url.Values) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "our page: %s; %s; %s", title, text, form.Get("rssUrl"))
	}}).Routes(), nil)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	get := "/ping?url=" + url.QueryEscape(siteFeed)
	for name, c := range map[string]struct {
		method, path, accept string
		status               int
		want                 string
	}{
		"browser":           {"GET", get, browser, 200, "our page: Thanks; Thanks for the ping.; " + siteFeed},
		"only HTML":         {"GET", get, "text/html", 200, "our page: Thanks; "},
		"refused":           {"GET", "/ping?url=ftp://x.example/", browser, 400, "our page: Ping refused; "},
		"with a slash":      {"GET", strings.Replace(get, "?", "/?", 1), browser, 200, "our page: Thanks; "},
		"any type":          {"GET", get, "*/*", 200, "<?xml"},
		"JSON first":        {"GET", get, "application/json, text/html;q=0.9", 200, "{"},
		"POST of a browser": {"POST", get, browser, 200, "<?xml"},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != c.status || !strings.HasPrefix(w.Body.String(), c.want) || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%s: %d %s %s", name, w.Code, w.Header(), w.Body)
		}
	}
}
