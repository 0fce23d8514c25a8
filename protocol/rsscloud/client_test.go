package rsscloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

const testFeed = "http://feeds.example/rss.xml?a=1&b=ü"

// cloud is a small but complete cloud: it verifies, stores and notifies with the package's
// own functions.
type cloud struct {
	*httptest.Server
	client *rsscloud.Client

	mu   sync.Mutex
	subs map[string]rsscloud.Registration // key: callback
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{client: &rsscloud.Client{UserAgent: "cloud/1"}, subs: map[string]rsscloud.Registration{}}
	mux := http.NewServeMux()
	rest := &rsscloud.Handler{Log: quiet(t), Backend: backend{
		ping: func(ctx context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
			if err := c.notify(ctx, p.URL); err != nil {
				return rsscloud.Result{Msg: err.Error()}, nil
			}
			return rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}, nil
		},
		please: func(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
			if err := c.register(ctx, rsscloud.RequestFrom(ctx), g); err != nil {
				return rsscloud.Result{Msg: err.Error()}, nil
			}
			return rsscloud.Result{Success: true, Msg: "Registered."}, nil
		},
		cancel: func(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
			callback, err := g.Callback(remote(rsscloud.RequestFrom(ctx)))
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.subs, callback)
			return rsscloud.Result{Success: err == nil}, err
		},
	}}
	for _, endpoint := range rsscloud.Endpoints() {
		mux.Handle(endpoint, rest)
	}
	mux.Handle("/RPC2", c.xmlrpc(t))
	mux.Handle("/soap", c.soap(t))
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) xmlrpc(t *testing.T) http.Handler {
	please := func(ctx context.Context, params []any) (any, error) {
		g, err := rsscloud.RegistrationFromParams(params)
		if err == nil {
			err = c.register(ctx, xmlrpc.RequestFrom(ctx), g)
		}
		if err != nil {
			return nil, &xmlrpc.Fault{Code: 4, String: err.Error()}
		}
		return true, nil
	}
	return &xmlrpc.Handler{Log: quiet(t), Methods: []xmlrpc.Method{
		{Name: rsscloud.MethodPleaseNotify, Do: please},
		{Name: rsscloud.MethodRSSPleaseNotify, Do: please},
		{Name: rsscloud.MethodPing, Do: func(ctx context.Context, params []any) (any, error) {
			u, _ := xmlrpc.String(params[0])
			if err := c.notify(ctx, u); err != nil {
				return nil, &xmlrpc.Fault{Code: 4, String: err.Error()}
			}
			return true, nil
		}},
	}}
}

func (c *cloud) soap(t *testing.T) http.Handler {
	var params []soap.Def
	for i, name := range rsscloud.ParamNames() {
		params = append(params, soap.Def{Name: name, Type: [...]string{"string", "int", "string", "string", "string[]", "string"}[i]})
	}
	result := soap.Def{Name: "result", Type: "boolean"}
	return &soap.Handler{Log: quiet(t), FaultOf: func(err error) *soap.Fault { return &soap.Fault{Code: "Client", String: err.Error()} }, Service: soap.Service{
		Name: "rssCloud", Namespace: "http://rsscloud.org/", Methods: []soap.Method{
			{Name: "pleaseNotify", Params: params, Result: result, Do: func(ctx context.Context, params []any) (any, error) {
				g, err := rsscloud.RegistrationFromParams(params)
				if err == nil {
					err = c.register(ctx, soap.RequestFrom(ctx), g)
				}
				return true, err
			}},
			{Name: "ping", Params: []soap.Def{{Name: "url", Type: "string"}}, Result: result, Do: func(ctx context.Context, params []any) (any, error) {
				u, _ := soap.String(params[0])
				return true, c.notify(ctx, u)
			}},
		},
	}}
}

func remote(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() }

func (c *cloud) register(ctx context.Context, r *http.Request, g rsscloud.Registration) error {
	callback, err := g.Callback(remote(r))
	if err != nil {
		return err
	}
	if g.Domain != "" {
		err = c.client.Challenge(ctx, callback, g.URLs[0])
	} else {
		err = c.client.Notify(ctx, g.Protocol, callback, g.Procedure, g.URLs[0], 1)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs[callback] = g
	return nil
}

func (c *cloud) notify(ctx context.Context, feed string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for callback, g := range c.subs {
		if err := c.client.Notify(ctx, g.Protocol, callback, g.Procedure, feed, 2); err != nil {
			return err
		}
	}
	return nil
}

// element returns the cloud's element for one protocol of registration.
func (c *cloud) element(protocol, path, procedure string) rsscloud.Cloud {
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(c.URL, "http://"))
	n, _ := strconv.Atoi(port)
	return rsscloud.Cloud{Domain: host, Port: n, Path: path, RegisterProcedure: procedure, Protocol: protocol}
}

// aggregator returns a Subscriber that records its notifications.
func aggregator(t *testing.T) (srv *httptest.Server, received func() []rsscloud.Received) {
	t.Helper()
	var mu sync.Mutex
	var got []rsscloud.Received
	srv = httptest.NewServer(&rsscloud.Subscriber{
		Wants: func(feed string) bool { return feed == testFeed },
		OnNotify: func(_ context.Context, n rsscloud.Received) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, n)
		},
	})
	t.Cleanup(srv.Close)
	return srv, func() []rsscloud.Received {
		mu.Lock()
		defer mu.Unlock()
		return append([]rsscloud.Received(nil), got...)
	}
}

// TestClientRegistersPingsAndCancelsInEveryProtocol runs the real client, handler and subscriber in
// every protocol of registration and of notification, with and without a domain.
func TestClientRegistersPingsAndCancelsInEveryProtocol(t *testing.T) {
	t.Parallel()
	for _, asked := range []struct{ protocol, path, procedure, ping string }{
		{"http-post", "/rsscloud/pleaseNotify", "", "/rsscloud/ping"},
		{"http-post", "/pleaseNotify", "", "/ping"},
		{"xml-rpc", "/RPC2", "rssCloud.pleaseNotify", "/RPC2"},
		{"xml-rpc", "/RPC2", "xmlStorageSystem.rssPleaseNotify", "/RPC2"},
		{"xml-rpc", "/RPC2", "", "/RPC2"},
		{"soap", "/soap", "pleaseNotify", "/soap"},
	} {
		for _, notified := range []string{"http-post", "xml-rpc", "soap"} {
			for _, domain := range []string{"", "127.0.0.1"} {
				name := fmt.Sprintf("%s%s,%s,%s,%s", asked.protocol, asked.path, asked.procedure, notified, domain)
				t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
					t.Parallel()
					runEveryStep(t, asked.protocol, asked.path, asked.procedure, notified, domain)
				})
			}
		}
	}
}

func runEveryStep(t *testing.T, protocol, path, procedure, notified, domain string) {
	hub := newCloud(t)
	agg, received := aggregator(t)
	ctx := t.Context()
	element := hub.element(protocol, path, procedure)
	g, err := rsscloud.RegistrationFor(notified, agg.URL+"/cb?x=1", "river.updated", testFeed)
	if err != nil {
		t.Fatal(err)
	}
	g.Domain = domain
	client := &rsscloud.Client{UserAgent: "aggregator/1"}
	if r, err := client.PleaseNotify(ctx, element, g); err != nil || !r.Success {
		t.Fatalf("pleaseNotify: %+v, %v", r, err)
	}
	endpoint, err := element.PingURL()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := client.Ping(ctx, protocol, endpoint, testFeed); err != nil || !r.Success {
		t.Fatalf("ping: %+v, %v", r, err)
	}
	type seen struct {
		URL, Protocol, Procedure string
		Hops                     int
	}
	var got []seen
	for _, n := range received() {
		got = append(got, seen{n.URL, n.Protocol, n.Procedure, n.Hops})
	}
	want := []seen{{testFeed, notified, "river.updated", 1}, {testFeed, notified, "river.updated", 2}}
	if notified == "http-post" {
		want[0].Procedure, want[1].Procedure = "", ""
	}
	if domain != "" { // the challenge does not count as a notification
		want = want[1:]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	other := g
	other.URLs = []string{"http://unwanted.example/"}
	if r, err := client.PleaseNotify(ctx, element, other); err == nil && r.Success {
		t.Errorf("an unwanted feed was registered: %+v", r)
	}
	if protocol == "http-post" && path == "/rsscloud/pleaseNotify" {
		if r, err := client.Cancel(ctx, element, g); err != nil || !r.Success || len(hub.subs) != 0 {
			t.Errorf("cancel: %+v, %v, %d left", r, err, len(hub.subs))
		}
	}
}

func TestClientDistinguishesLimitFromRefusal(t *testing.T) {
	t.Parallel()
	answer := func(status int, header, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	refusal := `<result success="false" msg="No."/>`
	client := &rsscloud.Client{}
	for _, c := range []struct {
		url    string
		status int
		msg    string
	}{
		{answer(429, "7", refusal), 429, "No."},
		{answer(503, "", ""), 503, "503"},
		{answer(404, "", "<html>not here</html>"), 404, "404"},
		{answer(302, "", ""), 302, "302"},
	} {
		_, err := client.Ping(t.Context(), "http-post", c.url, testFeed)
		e, ok := errors.AsType[*rsscloud.Error](err)
		if !ok || e.Status != c.status || !strings.Contains(e.Msg, c.msg) || c.status == 429 && e.RetryAfter.Seconds() != 7 {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	if r, err := client.Ping(t.Context(), "http-post", answer(400, "", `<result success="true" msg="No."/>`), testFeed); err != nil || r.Success || r.Msg != "No." {
		t.Errorf("400: %+v, %v", r, err)
	}
	if _, err := client.Ping(t.Context(), "http-post", answer(200, "", "hello"), testFeed); !errors.Is(err, rsscloud.ErrInvalidResponse) {
		t.Errorf("no answer: %v", err)
	}
	if _, err := client.Ping(t.Context(), "gopher", "http://127.0.0.1:1/", testFeed); !errors.Is(err, rsscloud.ErrProtocol) {
		t.Errorf("protocol: %v", err)
	}
	for _, protocol := range []string{"xml-rpc", "soap"} {
		for _, body := range []string{"hello", "<rss/>"} {
			if _, err := client.Ping(t.Context(), protocol, answer(200, "", body), testFeed); !errors.Is(err, rsscloud.ErrInvalidResponse) {
				t.Errorf("%s, answered by %q: %v", protocol, body, err)
			}
		}
		_, err := client.Ping(t.Context(), protocol, answer(502, "", "<html>"), testFeed)
		if e, ok := errors.AsType[*rsscloud.Error](err); !ok || e.Status != 502 {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

func TestNotificationToAPingEndpointIsRejectedAsLoop(t *testing.T) {
	t.Parallel()
	hub := newCloud(t)
	err := (&rsscloud.Client{}).Notify(t.Context(), "http-post", hub.URL+"/rsscloud/ping", "", testFeed, 1)
	if !errors.Is(err, rsscloud.ErrLoop) {
		t.Errorf("got %v", err)
	}
}

func TestPingEndpointIsDerivedFromHubURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ protocol, base, want string }{
		{"http-post", "http://hub.example:5337", "http://hub.example:5337/ping"},
		{"http-post", "https://hub.example/", "https://hub.example/ping"},
		{"xml-rpc", "http://[::1]:5337", "http://[::1]:5337/RPC2"},
		{"soap", "http://hub.example", "http://hub.example/soap"},
		{"http-post", "http://hub.example/own/endpoint", "http://hub.example/own/endpoint"},
	} {
		if got, err := rsscloud.PingEndpoint(c.protocol, c.base); err != nil || got != c.want {
			t.Errorf("%v: %s, %v", c, got, err)
		}
	}
	for _, base := range []string{"", "hub.example", "ftp://hub.example"} {
		if got, err := rsscloud.PingEndpoint("http-post", base); err == nil {
			t.Errorf("%q: %s", base, got)
		}
	}
}

func TestSubscriberAcceptsValidNotificationsAndRejectsInvalidOnes(t *testing.T) {
	t.Parallel()
	srv, received := aggregator(t)
	feed := url.QueryEscape(testFeed)
	call, err := xmlrpc.Call{Method: "a.b", Params: []any{testFeed}}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	two, err := xmlrpc.Call{Method: "a.b", Params: []any{testFeed, testFeed}}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		want                     string
		notified                 bool
	}{
		{"challenge", "GET", "/?x=1&url=" + feed + "&challenge=abc", "", 200, "abc", false},
		{"challenge for another feed", "GET", "/?url=http%3A%2F%2Fother&challenge=abc", "", 404, "does not want", false},
		{"challenge without url", "GET", "/?challenge=abc", "", 404, "does not want", false},
		{"long challenge", "GET", "/?url=" + feed + "&challenge=" + strings.Repeat("a", 1025), "", 404, "", false},
		{"no challenge", "GET", "/", "", 400, "challenge", false},
		{"form", "POST", "/", "url=" + feed, 200, "Thanks", true},
		{"form for another feed", "POST", "/", "url=http%3A%2F%2Fother", 410, "does not want", false},
		{"empty form", "POST", "/", "", 400, "one feed", false},
		{"two feeds", "POST", "/", "url1=a&url2=b", 400, "one feed", false},
		{"bad form", "POST", "/", "url=%zz", 400, "percent", false},
		{"large", "POST", "/", "url=" + strings.Repeat("a", 17000), 413, "", false},
		{"xml-rpc", "POST", "/", string(call), 200, "<boolean>1", true},
		{"xml-rpc with two", "POST", "/", string(two), 200, "faultCode", false},
		{"xml-rpc for another feed", "POST", "/", strings.Replace(string(call), "feeds.example", "other.example", 1), 410, "faultCode", false},
		{"broken xml-rpc", "POST", "/", "<?xml version='1.0'?><methodCall><methodName>a", 200, "faultCode", false},
		{"other method", "PUT", "/", "", 405, "GET and POST", false},
	} {
		before := len(received())
		r, err := http.NewRequestWithContext(t.Context(), c.method, srv.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got := bodyOf(t, resp)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.name, resp.StatusCode, got)
		}
		if notified := len(received()) > before; notified != c.notified {
			t.Errorf("%s: notified %t", c.name, notified)
		}
		if c.name == "challenge" && resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("the challenge came as %s", resp.Header.Get("Content-Type"))
		}
	}
}

func TestNotificationThatCannotBeStoredReturns503(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(&rsscloud.Subscriber{
		Wants: func(string) bool { return true },
		Take:  func(context.Context, rsscloud.Received) error { return &rsscloud.Error{Msg: "The disk is full."} },
	})
	t.Cleanup(srv.Close)
	for _, protocol := range []string{"http-post", "xml-rpc", "soap"} {
		err := (&rsscloud.Client{}).Notify(t.Context(), protocol, srv.URL, "river.updated", testFeed, 1)
		if e, ok := errors.AsType[*rsscloud.Error](err); !ok || e.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

func TestSubscriberRejectsUnknownProcedures(t *testing.T) {
	t.Parallel()
	notified := 0
	srv := httptest.NewServer(&rsscloud.Subscriber{
		Procedure: "river.updated", Wants: func(string) bool { return true },
		OnNotify: func(context.Context, rsscloud.Received) { notified++ },
	})
	t.Cleanup(srv.Close)
	for _, protocol := range []string{"xml-rpc", "soap"} {
		for _, procedure := range []string{"river.updated", "other"} {
			_ = (&rsscloud.Client{}).Notify(t.Context(), protocol, srv.URL, procedure, testFeed, 1)
		}
	}
	srv.Close()
	if notified != 2 {
		t.Errorf("notified %d times", notified)
	}
}
