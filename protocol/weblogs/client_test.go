package weblogs_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

func TestResultsOfExistingServersAreParsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer any
		want   weblogs.Result
		bad    bool
	}{
		{map[string]any{"flerror": false, "message": "Your ping succeeded!"}, weblogs.Result{Message: "Your ping succeeded!"}, false},
		{map[string]any{"flerror": true, "message": " No. \n"}, weblogs.Result{Err: true, Message: "No."}, false},
		{map[string]any{"flerror": int64(0)}, weblogs.Result{}, false},
		{map[string]any{"flerror": int64(7)}, weblogs.Result{Err: true}, false},
		{map[string]any{"flError": "0", "Message": "ok"}, weblogs.Result{Message: "ok"}, false},
		{map[string]any{"flerror": "true"}, weblogs.Result{Err: true}, false},
		{map[string]any{"flerror": "no"}, weblogs.Result{}, false},
		{true, weblogs.Result{}, false},
		{map[string]any{"flerror": "perhaps"}, weblogs.Result{}, true},
		{map[string]any{"message": "ok"}, weblogs.Result{}, true},
		{"ok", weblogs.Result{}, true},
		{nil, weblogs.Result{}, true},
	} {
		got, err := weblogs.ParseResult(c.answer)
		if d := cmp.Diff(c.want, got); d != "" || (err != nil) != c.bad || c.bad && !errors.Is(err, weblogs.ErrInvalidResponse) {
			t.Errorf("%v: %v\n%s", c.answer, err, d)
		}
	}
}

func TestFaultResponseIsReportedAsRefusedPing(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(&xmlrpc.Handler{}) // the server has no such method
	defer srv.Close()
	c := &weblogs.Client{}
	r, err := c.Ping(t.Context(), srv.URL, weblogs.Ping{URL: site})
	if err != nil || !r.Err || !strings.Contains(r.Message, "no method") {
		t.Errorf("%+v, %v", r, err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	if _, err := c.Ping(t.Context(), gone.URL, weblogs.Ping{URL: site}); err == nil {
		t.Error("a missing page accepted a ping")
	} else if e, ok := errors.AsType[*xmlrpc.HTTPError](err); !ok || e.Status != 404 {
		t.Error(err)
	}
}

func TestPingURLIsBuiltFromItsTemplate(t *testing.T) {
	t.Parallel()
	p := weblogs.Ping{Name: "A & B=ü", URL: "http://site.example/?a=1&b={0}"}
	name, address := "A+%26+B%3D%C3%BC", "http%3A%2F%2Fsite.example%2F%3Fa%3D1%26b%3D%7B0%7D"
	for template, want := range map[string]string{
		"http://rpc.example/pingSiteForm?name={0}&url={1}": "http://rpc.example/pingSiteForm?name=" + name + "&url=" + address,
		"http://rpc.example/ping?u={1}":                    "http://rpc.example/ping?u=" + address,
		"http://rpc.example/pingSiteForm":                  "http://rpc.example/pingSiteForm?name=" + name + "&url=" + address,
		"http://rpc.example/p?c=ping":                      "http://rpc.example/p?c=ping&name=" + name + "&url=" + address,
		"http://rpc.example/p?#top":                        "http://rpc.example/p?name=" + name + "&url=" + address,
		"http://rpc.example/p??":                           "http://rpc.example/p??&name=" + name + "&url=" + address,
		"ftp://rpc.example/":                               "",
		"{1}":                                              "",
		"http://{1}/":                                      "",
	} {
		got, err := weblogs.PingURL(template, p)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s\n got %s, %v\nwant %s", template, got, err, want)
		}
	}
	if _, err := weblogs.PingURL("http://rpc.example/", weblogs.Ping{}); err == nil {
		t.Error("an empty ping was accepted")
	}
}

func TestPingByGETSucceedsWithStatus200(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.FormValue("name") {
		case "plain":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "Taken.\nMore.")
		case "no":
			w.WriteHeader(400)
			fmt.Fprint(w, "<title>x</title><script>var p='<p>no'</script><p> </p><p>Sorry, <b>you</b> may\nnot.</p>")
		case "title":
			fmt.Fprint(w, "<title>Taken &amp; listed</title>")
		case "created":
			w.WriteHeader(201)
		default:
			http.Redirect(w, r, "/?name=title", http.StatusFound)
		}
	}))
	defer srv.Close()
	c := &weblogs.Client{}
	for name, want := range map[string]weblogs.Result{
		"plain": {Message: "Taken."}, "no": {Err: true, Message: "Sorry, you may not."}, "title": {Message: "Taken & listed"},
		"created": {Err: true, Message: "HTTP status 201 Created."}, "other": {Message: "Taken & listed"},
	} {
		got, err := c.PingByGET(t.Context(), srv.URL, weblogs.Ping{Name: name, URL: site})
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestClientPingsFormHandler(t *testing.T) {
	t.Parallel()
	b := &backend{}
	srv := httptest.NewServer(&weblogs.FormHandler{Backend: b})
	defer srv.Close()
	c := &weblogs.Client{}
	p := weblogs.Ping{Name: "A & <B>", URL: "http://site.example/?a=1&b=2"}
	r, err := c.PingByGET(t.Context(), srv.URL+"/pingSiteForm", p)
	if err != nil || r.Err || r.Message != "Thanks for the ping. A & <B> is listed among the changes." {
		t.Errorf("%+v, %v", r, err)
	}
	if len(b.pings) != 1 || !cmp.Equal(b.pings[0], p) {
		t.Errorf("%+v", b.pings)
	}
}

func TestFormHandlerAcceptsPingsByGETAndPOST(t *testing.T) {
	t.Parallel()
	ok := url.Values{"name": {"Site"}, "url": {site}}.Encode()
	for _, c := range []struct {
		name                string
		method, query, body string
		contentType         string
		status              int
		want                weblogs.Ping
		says                string
	}{
		{"get", "GET", ok, "", "", 200, weblogs.Ping{Name: "Site", URL: site}, "Thanks for the ping."},
		{"post", "POST", "", ok, "application/x-www-form-urlencoded", 200, weblogs.Ping{Name: "Site", URL: site}, "Thanks"},
		{"post without a type", "POST", "", ok + "\r\n", "", 200, weblogs.Ping{Name: "Site", URL: site}, "Thanks"},
		{"post with a query", "POST", ok, "", "", 200, weblogs.Ping{Name: "Site", URL: site}, "Thanks"},
		{"any case", "GET", "NAME=Site&Url=" + url.QueryEscape(site) + "&CHANGESurl=" + url.QueryEscape(page) + "&feed=" + url.QueryEscape(rss), "", "", 200,
			weblogs.Ping{Name: "Site", URL: site, ChangesURL: page, FeedURL: rss}, "Thanks"},
		{"without a name", "GET", "url=" + site, "", "", 200, weblogs.Ping{URL: site}, "site.example is listed"},
		{"a name in Latin-1", "GET", "name=Caf%E9&url=" + site, "", "", 200, weblogs.Ping{Name: "Café", URL: site}, "Café is listed"},
		{"nothing", "GET", "", "", "", 200, weblogs.Ping{}, "<form"},
		{"nothing posted", "POST", "", "", "", 400, weblogs.Ping{}, "url is missing"},
		{"other fields only", "GET", "utm=1", "", "", 200, weblogs.Ping{}, "<form"},
		{"a HEAD request", "HEAD", ok, "", "", 200, weblogs.Ping{}, ""},
		{"no url", "GET", "name=x", "", "", 400, weblogs.Ping{}, "url is missing"},
		{"script", "GET", "name=%3Cscript%3E&url=javascript:alert(1)", "", "", 400, weblogs.Ping{}, "must begin with http"},
		{"twice", "GET", ok + "&url=" + page, "", "", 400, weblogs.Ping{}, "twice"},
		{"twice the same", "GET", ok + "&" + ok, "", "", 200, weblogs.Ping{Name: "Site", URL: site}, "Thanks"},
		{"half an escape", "GET", ok + "&x=%zz", "", "", 400, weblogs.Ping{}, "cannot be read"},
		{"a semicolon", "GET", ok + ";x=1", "", "", 400, weblogs.Ping{}, "cannot be read"},
		{"many fields", "GET", ok + strings.Repeat("&x=1", 200), "", "", 400, weblogs.Ping{}, "more than 200 fields"},
		{"multipart", "POST", "", ok, "multipart/form-data; boundary=x", 415, weblogs.Ping{}, "urlencoded"},
		{"too large", "POST", "", ok + "&x=" + strings.Repeat("x", 64<<10), "", 413, weblogs.Ping{}, "larger than 64 KiB"},
		{"too large a query", "GET", ok + "&x=" + strings.Repeat("x", 64<<10), "", "", 413, weblogs.Ping{}, "larger than 64 KiB"},
		{"delete", "DELETE", ok, "", "", 405, weblogs.Ping{}, "GET or POST"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &backend{}
			r := httptest.NewRequest(c.method, "/pingSiteForm?"+c.query, strings.NewReader(c.body))
			if c.contentType != "" {
				r.Header.Set("Content-Type", c.contentType)
			}
			w := httptest.NewRecorder()
			(&weblogs.FormHandler{Backend: b}).ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			var got weblogs.Ping
			if len(b.pings) > 0 {
				got = b.pings[0]
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if body := w.Body.String(); strings.Contains(body, "<script") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s\n%s", w.Header(), body)
			}
		})
	}
}

func TestRefusedFormHasStatusAndRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		after  string
		says   string
	}{
		{&weblogs.Error{Status: 429, Msg: "Too many.", RetryAfter: 1500e6}, 429, "2", "Too many."},
		{&weblogs.Error{Status: 503, Msg: "Away.", RetryAfter: 10e9}, 503, "10", "Away."},
		{&weblogs.Error{Msg: "No."}, 400, "", "No."},
		{errors.New("secret"), 500, "", "Something went wrong"},
	} {
		var got string
		h := &weblogs.FormHandler{Backend: &backend{answer: func(weblogs.Ping) error { return c.err }}}
		h.Page = func(w http.ResponseWriter, _ *http.Request, status int, title, text string, form url.Values) {
			got = title + "|" + text + "|" + form.Encode()
			w.WriteHeader(status)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/?NAME=n&url="+site, nil))
		if w.Code != c.status || w.Header().Get("Retry-After") != c.after || !strings.Contains(got, c.says) || !strings.Contains(got, "name=n&url=http") {
			t.Errorf("%v: %d %s %s", c.err, w.Code, w.Header(), got)
		}
	}
}
