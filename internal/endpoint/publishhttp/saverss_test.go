package publishhttp

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/protocol/xmlrpc"
)

// rpc returns the XML-RPC endpoint with the methods of hosted feeds.
func (d *harness) rpc() http.Handler { return rpcWith(d.Methods(), d.LargeMethods()) }

// rpcWith returns the XML-RPC endpoint with publishing methods. large maps the names of methods to
// the maximum size of a call in bytes.
func rpcWith(methods []xmlrpc.Method, large map[string]int64) http.Handler {
	mux := http.NewServeMux()
	route.Mount(mux, (&hubhttp.Endpoints{Methods: methods, LargeMethods: large}).Routes(), nil)
	return mux
}

func TestPythonClientSavesFeedsByXMLRPC(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	mux := http.NewServeMux()
	mux.Handle("/RPC2", d.rpc())
	mux.Handle("/", d)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	endpointtest.Run(t, "python3", "testdata/clients/saverss_client.py", srv.URL, goodPassword)
}

// call calls saveRss and returns the result or the fault.
func (d *harness) call(t *testing.T, params ...any) (any, error) {
	t.Helper()
	body, err := xmlrpc.Call{Method: methodSaveRSS, Params: params}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/RPC2", bytes.NewReader(body))
	r.Header.Set("Content-Type", "text/xml")
	w := httptest.NewRecorder()
	d.rpc().ServeHTTP(w, r)
	return xmlrpc.Decoder{MaxBytes: 1 << 20}.Response(w.Body)
}

func TestSaveRssReturnsURLOrFault4(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	got, err := d.call(t, "alice", goodPassword, hostedRSS(1))
	if err != nil || got != "https://hub.example/alice/rss.xml" {
		t.Errorf("answered %v, %v", got, err)
	}
	if got, err := d.call(t, "alice", tokenAll, hostedRSS(2)); err != nil || got != "https://hub.example/alice/rss.xml" {
		t.Errorf("answered to a token %v, %v", got, err)
	}
	for what, params := range map[string][]any{
		"a wrong password": {"alice", "x", hostedRSS(3)}, "no credentials": {"", "", hostedRSS(3)}, "token of another user": {"alice", tokenOther, hostedRSS(3)},
		"token without permission": {"alice", tokenDelete, hostedRSS(3)}, "no feed": {"alice", goodPassword, "x"}, "JSON": {"alice", goodPassword, `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`},
		"nothing": {}, "a struct": {"alice", goodPassword, map[string]any{}}, "a list for a name": {[]any{}, goodPassword, hostedRSS(3)},
	} {
		got, err := d.call(t, params...)
		f, ok := err.(*xmlrpc.Fault)
		if !ok || f.Code != 4 || f.String == "" || got != nil {
			t.Errorf("%s: answered %v, %v", what, got, err)
		}
	}
	d.accounts.fail = fault.New(fault.Unavailable, "The store is away.")
	if _, err := d.call(t, "alice", goodPassword, hostedRSS(3)); err == nil || !strings.Contains(err.Error(), "store is away") {
		t.Errorf("answered %v", err)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 2")
	if d.accounts.tried[0] != "saveRss alice 192.0.2.1" {
		t.Errorf("tried were %q", d.accounts.tried)
	}
	if strings.Contains(d.logged.String(), goodPassword) {
		t.Errorf("the log has a password: %s", d.logged)
	}
}

func TestFeedIsSavedInItsDeclaredEncoding(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	feed := func(encoding, title string) string {
		return `<?xml version="1.0" encoding="` + encoding + `"?><rss version="2.0"><channel><title>` + title + `</title></channel></rss>`
	}
	for _, c := range []struct{ doc, want, kind string }{
		{feed("utf-8", "日本"), feed("utf-8", "日本"), "utf-8"},
		{feed("ISO-8859-1", "é"), feed("ISO-8859-1", "\xe9"), "iso-8859-1"},
		{feed("ISO-8859-1", "日本"), feed("ISO-8859-1", "日本"), "utf-8"}, // the declared encoding cannot represent this text
	} {
		if _, err := d.call(t, "alice", goodPassword, c.doc); err != nil {
			t.Fatal(err)
		}
		a := d.do(t, "GET", "/alice/rss.xml", "")
		a.has(t, "GET", "Content-Type", "application/rss+xml; charset="+c.kind)
		if a.body != c.want {
			t.Errorf("served is %q", a.body)
		}
		title := "日本"
		if strings.Contains(c.doc, "é") {
			title = "é"
		}
		d.do(t, "GET", "/alice/feed.json", "").is(t, "in another format", http.StatusOK, title)
		d.now = d.now.Add(time.Second)
	}
}

func TestInvalidCallIsRejectedBeforeLogin(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	r := httptest.NewRequest("POST", "/RPC2", strings.NewReader("<methodCall><methodName>"+methodSaveRSS+"</methodName><params><param><value>alice</value></param>"))
	r.Header.Set("Content-Type", "text/xml")
	w := httptest.NewRecorder()
	d.rpc().ServeHTTP(w, r)
	if _, err := xmlrpc.ParseResponse(w.Body); err == nil {
		t.Error("half a call was answered")
	}
	if len(d.accounts.tried) != 0 {
		t.Errorf("tried were %q", d.accounts.tried)
	}
}
