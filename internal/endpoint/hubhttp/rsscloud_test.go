package hubhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const feed = "http://feeds.example/rss.xml"

// post sends a form and returns status, result and headers.
func post(t *testing.T, target string, form url.Values, header ...string) (int, rsscloud.Result, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader(form.Encode()))
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
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	result, err := rsscloud.ParseResult(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return resp.StatusCode, result, resp.Header
}

func registration(more ...string) url.Values {
	v := url.Values{"notifyProcedure": {""}, "port": {"5337"}, "path": {"/cb?x=1"}, "protocol": {"http-post"}, "url1": {feed}}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

func TestPingIsPassedToTheHubWithItsClientAddress(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	_, r, _ := post(t, srv.URL+"/ping", url.Values{"url": {feed}}, "X-Forwarded-For", "198.51.100.1", "X-Hub-Hops", "2")
	if !r.Success || r.Msg != "Thanks for the ping." {
		t.Errorf("%+v", r)
	}
	want := []hub.Ping{{URL: feed, Via: "rest", Source: netip.MustParseAddr("198.51.100.1"), Hops: 2}}
	if d := cmp.Diff(want, h.pings, cmpopts.EquateComparable(netip.Addr{}, hub.Ping{})); d != "" {
		t.Error(d)
	}
}

func TestRegistrationIsPassedToTheHub(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		form   url.Values
		header []string
		want   hub.Registration
	}{
		{"without domain", registration(), nil,
			hub.Registration{Protocol: "http-post", Callback: "http://127.0.0.1:5337/cb?x=1", Source: netip.MustParseAddr("127.0.0.1")}},
		{"behind a proxy", registration(), []string{"X-Forwarded-For", "2001:db8::9"},
			hub.Registration{Protocol: "http-post", Callback: "http://[2001:db8::9]:5337/cb?x=1", Source: netip.MustParseAddr("2001:db8::9")}},
		{"with domain", registration("domain", "Agg.Example", "port", "443"), nil,
			hub.Registration{Protocol: "http-post", Callback: "https://agg.example/cb?x=1", Challenge: true, Source: netip.MustParseAddr("127.0.0.1")}},
		{"procedure that is ignored", registration("notifyProcedure", "a b"), nil,
			hub.Registration{Protocol: "http-post", Callback: "http://127.0.0.1:5337/cb?x=1", Source: netip.MustParseAddr("127.0.0.1")}},
		{"procedure", registration("notifyProcedure", "a.b", "protocol", "xml-rpc"), nil,
			hub.Registration{Protocol: "xml-rpc", Callback: "http://127.0.0.1:5337/cb?x=1", Procedure: "a.b", Source: netip.MustParseAddr("127.0.0.1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &fakeHub{}
			_, r, _ := post(t, listen(t, h).URL+"/rsscloud/pleaseNotify", c.form, c.header...)
			if !r.Success || !strings.Contains(r.Msg, "12:47 UTC on 17 October 2009") {
				t.Errorf("%+v", r)
			}
			c.want.Feeds, c.want.Via = []string{feed}, "rest"
			if d := cmp.Diff(c.want, h.lastRegistration(t), cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreUnexported(hub.Registration{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEachFeedOfARegistrationIsAcceptedSeparately(t *testing.T) {
	t.Parallel()
	h := &fakeHub{register: func(r hub.Registration) (hub.Registered, error) {
		return hub.Registered{Accepted: r.Feeds[:1], Refused: []hub.Refusal{{Feed: r.Feeds[1], Reason: "It could not be read."}}, Expires: expires()}, nil
	}}
	srv := listen(t, h)
	_, r, _ := post(t, srv.URL+"/pleaseNotify", registration("url2", "http://dead.example/rss.xml", "url3", "ftp://wrong.example/"))
	if !r.Success {
		t.Errorf("one was accepted: %+v", r)
	}
	for _, want := range []string{"Refused http://dead.example/rss.xml: It could not be read.", "Refused ftp://wrong.example/: ", "must begin with http://"} {
		if !strings.Contains(r.Msg, want) {
			t.Errorf("%q is not in %q", want, r.Msg)
		}
	}
	if d := cmp.Diff([]string{feed, "http://dead.example/rss.xml"}, h.lastRegistration(t).Feeds); d != "" {
		t.Error(d)
	}
}

func TestRegistrationWithoutAcceptedFeedFails(t *testing.T) {
	t.Parallel()
	h := &fakeHub{register: func(r hub.Registration) (hub.Registered, error) {
		var out hub.Registered
		for _, f := range r.Feeds {
			out.Refused = append(out.Refused, hub.Refusal{Feed: f, Reason: "The test call failed."})
		}
		return out, nil
	}}
	srv := listen(t, h)
	form := registration()
	for i := range 20 {
		form.Set(fmt.Sprintf("url%d", i+1), fmt.Sprintf("http://feeds.example/%d", i))
	}
	status, r, _ := post(t, srv.URL+"/pleaseNotify", form)
	if r.Success || status != 200 || strings.Count(r.Msg, "The test call failed.") != 1 || !strings.Contains(r.Msg, "10 more were refused") {
		t.Errorf("%d %+v", status, r)
	}
	if status, r, _ := post(t, srv.URL+"/pleaseNotify", registration("url1", "nonsense")); r.Success || status != 200 || len(h.registrations) != 1 {
		t.Errorf("%d %+v: a feed that cannot be one reached the hub", status, r)
	}
}

func TestRegistrationIsCancelledByREST(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	if _, r, _ := post(t, srv.URL+"/rsscloud/cancel", registration("domain", "agg.example")); !r.Success {
		t.Errorf("%+v", r)
	}
	if len(h.cancels) != 1 || !h.cancels[0].Challenge || h.cancels[0].Callback != "http://agg.example:5337/cb?x=1" {
		t.Errorf("%+v", h.cancels)
	}
	h.cancel = func(r hub.Registration) (hub.Registered, error) {
		return hub.Registered{Refused: []hub.Refusal{{Feed: feed, Reason: "There is no such registration."}}}, nil
	}
	if _, r, _ := post(t, srv.URL+"/rsscloud/cancel", registration()); r.Success || !strings.Contains(r.Msg, "no such registration") {
		t.Errorf("%+v", r)
	}
}

// TestErrorsHaveTheFormatOfRESTXMLRPCAndSOAP returns the same error by REST, XML-RPC and SOAP.
func TestErrorsHaveTheFormatOfRESTXMLRPCAndSOAP(t *testing.T) {
	t.Parallel()
	limit := fault.New(fault.TooMany, "Too many pings.")
	limit.RetryAfter = 3500 * time.Millisecond
	secret := errors.New("secret")
	for _, c := range []struct {
		err    error
		status int // status by REST
		retry  string
		msg    string
		who    string // faultcode by SOAP, Client or Server
		legacy bool   // rssPleaseNotify returns false by XML-RPC
	}{
		{fault.Wrap(fault.Unreadable, secret, "The feed could not be read."), 200, "", "The feed could not be read.", "Client", true},
		{fault.Wrap(fault.Invalid, secret, "Wrong."), 200, "", "Wrong.", "Client", true},
		{fault.Wrap(fault.Refused, secret, "Loop."), 200, "", "Loop.", "Client", true},
		{limit, 429, "4", "Too many pings.", "Client", false},
		{fault.Wrap(fault.Unavailable, secret, "Stopping."), 503, "10", "Stopping.", "Server", false},
		{secret, 500, "", fault.Neutral, "Server", false},
	} {
		t.Run(c.msg, func(t *testing.T) {
			t.Parallel()
			h := &fakeHub{
				ping:     func(hub.Ping) (hub.PingResult, error) { return hub.PingResult{}, c.err },
				register: func(hub.Registration) (hub.Registered, error) { return hub.Registered{}, c.err },
			}
			srv := listen(t, h)
			for path, form := range map[string]url.Values{"/ping": {"url": {feed}}, "/pleaseNotify": registration()} {
				status, r, head := post(t, srv.URL+path, form)
				if status != c.status || r.Success || r.Msg != c.msg || head.Get("Retry-After") != c.retry {
					t.Errorf("%s: %d %+v %q", path, status, r, head.Get("Retry-After"))
				}
			}
			rpc := &xmlrpc.Client{URL: srv.URL + "/RPC2"}
			params := rsscloud.Registration{Procedure: "a.b", Port: 5337, Path: "/", Protocol: "xml-rpc", URLs: []string{feed}}.Params()
			for method, params := range map[string][]any{"rssCloud.ping": {feed}, "rssCloud.pleaseNotify": params} {
				_, err := rpc.Call(t.Context(), method, params...)
				if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || f.Code != 4 || f.String != c.msg {
					t.Errorf("%s: %v", method, err)
				}
			}
			v, err := rpc.Call(t.Context(), "xmlStorageSystem.rssPleaseNotify", params...)
			if c.legacy && (err != nil || v != false) || !c.legacy && err == nil {
				t.Errorf("rssPleaseNotify: %v, %v", v, err)
			}
			_, err = (&soap.Client{URL: srv.URL + "/soap", Namespace: soapNamespace}).Call(t.Context(), "ping", soap.Param{Name: "url", Value: feed})
			if f, ok := errors.AsType[*soap.Fault](err); !ok || !strings.HasSuffix(f.Code, c.who) || f.String != c.msg {
				t.Errorf("soap: %v", err)
			}
		})
	}
}

func TestXMLRPCEndpointAcceptsRegistrationsAndPings(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	good := []any{"river.updated", 5337, "/RPC2", "xml-rpc", []any{feed}}
	for _, path := range []string{"/RPC2", "/"} {
		rpc := &xmlrpc.Client{URL: srv.URL + path}
		for _, c := range []struct {
			method string
			params []any
			want   any
			fault  string
		}{
			{"rssCloud.hello", nil, true, ""},
			{"rssCloud.hello", []any{"me"}, true, ""},
			{"rssCloud.ping", []any{feed}, true, ""},
			{"rssCloud.ping", []any{" " + feed + "\n"}, true, ""},
			{"rssCloud.ping", nil, nil, "0 parameters"},
			{"rssCloud.ping", []any{feed, feed}, nil, "2 parameters"},
			{"rssCloud.ping", []any{7}, nil, "must be a string"},
			{"rssCloud.ping", []any{"rss.xml"}, nil, "http://"},
			{"rssCloud.pleaseNotify", good, true, ""},
			{"rssCloud.pleaseNotify", []any{"river.updated", "5337", "/RPC2", "xml-rpc", feed}, true, ""},
			{"rssCloud.pleaseNotify", append(good[:5:5], "agg.example"), true, ""},
			{"rssCloud.pleaseNotify", append(good[:5:5], ""), true, ""},
			{"rssCloud.pleaseNotify", good[:4], nil, "4 parameters"},
			{"rssCloud.pleaseNotify", []any{"rssCloud.ping", 5337, "/RPC2", "xml-rpc", feed}, nil, "own method"},
			{"rssCloud.pleaseNotify", []any{"a", 0, "/RPC2", "xml-rpc", feed}, nil, "port"},
			{"xmlStorageSystem.rssPleaseNotify", good, true, ""},
			{"xmlStorageSystem.rssPleaseNotify", good[:4], false, ""},
			{"xmlStorageSystem.rssPleaseNotify", []any{"a", 80, "/", "XML-RPC", feed}, false, ""},
		} {
			got, err := rpc.Call(t.Context(), c.method, c.params...)
			if f, ok := errors.AsType[*xmlrpc.Fault](err); c.fault != "" && (!ok || f.Code != 4 || !strings.Contains(f.String, c.fault)) || c.fault == "" && (err != nil || got != c.want) {
				t.Errorf("%s%v: %v, %v", c.method, c.params, got, err)
			}
		}
		list, err := rpc.Call(t.Context(), "system.listMethods")
		names, _ := xmlrpc.Strings(list)
		if err != nil || !strings.Contains(strings.Join(names, " "), "rssCloud.pleaseNotify") {
			t.Errorf("%v, %v", list, err)
		}
		_, err = rpc.Call(t.Context(), "rssCloud.nothing")
		if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || f.Code != xmlrpc.CodeNoMethod {
			t.Errorf("%v", err)
		}
	}
	if got := h.lastRegistration(t); got.Via != "xml-rpc" || got.Callback != "http://127.0.0.1:5337/RPC2" || got.Procedure != "river.updated" {
		t.Errorf("%+v", got)
	}
}

func TestXMLRPCEndpointServesAdditionalMethods(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: &fakeHub{}, Log: logTo(t), Methods: []xmlrpc.Method{
		{Name: "weather.now", Do: func(context.Context, []any) (any, error) { return "rain", nil }},
		{Name: "weather.bad", Do: func(context.Context, []any) (any, error) { return nil, fault.New(fault.Invalid, "No.") }},
		{Name: "weather.gone", Do: func(context.Context, []any) (any, error) { return nil, fault.New(fault.Gone, "Gone.") }},
		{Name: "weather.broken", Do: func(context.Context, []any) (any, error) { return nil, errors.New("secret") }},
	}}).Routes(), nil)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	rpc := &xmlrpc.Client{URL: srv.URL + "/RPC2"}
	if v, err := rpc.Call(t.Context(), "weather.now"); err != nil || v != "rain" {
		t.Errorf("%v, %v", v, err)
	}
	for method, want := range map[string]xmlrpc.Fault{"bad": {Code: xmlrpc.CodeParams, String: "No."}, "gone": {Code: xmlrpc.CodeApp, String: "Gone."}} {
		_, err := rpc.Call(t.Context(), "weather."+method)
		if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || *f != want {
			t.Errorf("%s: %v", method, err)
		}
	}
	_, err := rpc.Call(t.Context(), "weather.broken")
	if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || strings.Contains(f.String, "secret") {
		t.Errorf("broken: %v", err)
	}
}

func TestSOAPEndpointAcceptsRegistrationsAndPings(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	cloud := func(path string) rsscloud.Cloud {
		u, err := url.Parse(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		var port int
		if _, err := fmt.Sscan(u.Port(), &port); err != nil {
			t.Fatal(err)
		}
		return rsscloud.Cloud{Domain: u.Hostname(), Port: port, Path: path, RegisterProcedure: "xmlStorageSystem.rssPleaseNotify", Protocol: "soap"}
	}
	g := rsscloud.Registration{Procedure: "updated", Port: 5337, Path: "/soap", Protocol: "soap", URLs: []string{feed, feed + "?2"}, Domain: "agg.example"}
	for _, path := range []string{"/soap", "/rsscloud/soap"} {
		r, err := (&rsscloud.Client{}).PleaseNotify(t.Context(), cloud(path), g)
		if err != nil || !r.Success {
			t.Fatalf("%+v, %v", r, err)
		}
		want := hub.Registration{Protocol: "soap", Callback: "http://agg.example:5337/soap", Procedure: "updated", Feeds: g.URLs, Challenge: true, Source: netip.MustParseAddr("127.0.0.1"), Via: "soap"}
		if d := cmp.Diff(want, h.lastRegistration(t), cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreUnexported(hub.Registration{})); d != "" {
			t.Error(d)
		}
	}
	client := &soap.Client{URL: srv.URL + "/soap", Namespace: soapNamespace}
	for _, names := range []string{"notifyProcedure port path protocol urls", "notifyProcedure tcpPort path protocol urlList", "procedure port path protocol urlList domain", "param1 param2 param3 param4 param5"} {
		var params []soap.Param
		for i, name := range strings.Fields(names) {
			params = append(params, soap.Param{Name: name, Value: []any{"updated", 5337, "/soap", "soap", []any{feed}, "agg.example"}[i]})
		}
		v, err := client.Call(t.Context(), "pleaseNotify", params...)
		if got := h.lastRegistration(t); err != nil || v != true || got.Procedure != "updated" || len(got.Feeds) != 1 || got.Challenge != strings.Contains(names, "domain") {
			t.Errorf("%s: %v, %v, %+v", names, v, err, got)
		}
	}
	for name, want := range map[string]bool{"xmlStorageSystem.rssPleaseNotify": true, "rssCloud.pleaseNotify": true, "RSSCLOUD.PLEASENOTIFY": true, "rssCloud.ping": true, "rssCloud.": false, "ping.rssCloud": false} {
		params := []soap.Param{{Name: "a", Value: "updated"}, {Name: "b", Value: 5337}, {Name: "c", Value: "/soap"}, {Name: "d", Value: "soap"}, {Name: "e", Value: []any{feed}}}
		if strings.HasSuffix(name, "ping") {
			params = []soap.Param{{Name: "url", Value: feed}}
		}
		if v, err := client.Call(t.Context(), name, params...); (v == true && err == nil) != want {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	resp, err := http.Get(srv.URL + "/soap?wsdl")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	for _, want := range []string{"definitions", `"pleaseNotify"`, `"rssPleaseNotify"`, `"ping"`, srv.URL + "/soap"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is not in the WSDL %s", want, body)
		}
	}
}
