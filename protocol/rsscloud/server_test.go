package rsscloud_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

// backend implements Backend by functions.
type backend struct {
	ping   func(context.Context, rsscloud.PingRequest) (rsscloud.Result, error)
	please func(context.Context, rsscloud.Registration) (rsscloud.Result, error)
	cancel func(context.Context, rsscloud.Registration) (rsscloud.Result, error)
}

func (b backend) Ping(ctx context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
	return b.ping(ctx, p)
}

func (b backend) PleaseNotify(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	return b.please(ctx, g)
}

func (b backend) Cancel(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	return b.cancel(ctx, g)
}

// friendly accepts every request.
func friendly() backend {
	return backend{
		ping: func(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
			return rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}, nil
		},
		please: func(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
			return rsscloud.Result{Success: true, Msg: "Registered."}, nil
		},
		cancel: func(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
			return rsscloud.Result{Success: true, Msg: "Cancelled."}, nil
		},
	}
}

func quiet(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func ask(t *testing.T, b rsscloud.Backend, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://cloud.example:5337"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	(&rsscloud.Handler{Backend: b, Log: quiet(t)}).ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	pingBody   = "url=http%3A%2F%2Ff.example%2Frss.xml"
	pleaseBody = "notifyProcedure=&port=80&path=/a&protocol=http-post&url1=http%3A%2F%2Ff.example%2Frss.xml"
)

func TestAcceptedPingIsAnsweredWithSuccessDocument(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/rsscloud/ping", "/ping"} {
		r := ask(t, friendly(), "POST", path, pingBody)
		want := "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<result success=\"true\" msg=\"Thanks for the ping.\"/>\n"
		if got := bodyOf(t, r); got != want || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/xml; charset=utf-8" {
			t.Errorf("%s: %d %s %s", path, r.StatusCode, r.Header, got)
		}
	}
}

func TestRegistrationResponseIsNotifyResult(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/rsscloud/pleaseNotify", "/pleaseNotify", "/rsscloud/cancel"} {
		if got := bodyOf(t, ask(t, friendly(), "POST", path, pleaseBody)); !strings.Contains(got, `<notifyResult success="true" msg="`) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestResponseFormatFollowsAccept(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                                      "text/xml; charset=utf-8",
		"*/*":                                   "text/xml; charset=utf-8",
		"text/xml":                              "text/xml; charset=utf-8",
		"application/xml":                       "text/xml; charset=utf-8",
		"text/*":                                "text/xml; charset=utf-8",
		"application/*":                         "text/xml; charset=utf-8",
		"application/json":                      "application/json; charset=utf-8",
		"APPLICATION/JSON; charset=utf-8":       "application/json; charset=utf-8",
		"application/json, text/plain, */*":     "application/json; charset=utf-8",
		"application/json;q=0.5, text/xml":      "text/xml; charset=utf-8",
		"application/json;q=0.5, */*;q=0.1":     "application/json; charset=utf-8",
		"application/json, text/xml":            "text/xml; charset=utf-8",
		"application/json, text/xml;q=0":        "application/json; charset=utf-8",
		"application/json;q=0, */*":             "text/xml; charset=utf-8",
		"text/xml;q=0, application/xml;q=0,*/*": "application/json; charset=utf-8",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "text/xml; charset=utf-8",
		"text/html":             "406",
		"image/*, text/plain":   "406",
		"*/*;q=0":               "406",
		"application/json; q=0": "406",
		"text/xml;q=nonsense":   "text/xml; charset=utf-8",
	} {
		done := false
		b := friendly()
		b.ping = func(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
			done = true
			return rsscloud.Result{Success: true}, nil
		}
		r := ask(t, b, "POST", "/ping", pingBody, "Accept", accept)
		if want == "406" {
			if r.StatusCode != 406 || done {
				t.Errorf("%q: %d, done %t", accept, r.StatusCode, done)
			}
			continue
		}
		if got := r.Header.Get("Content-Type"); got != want || r.StatusCode != 200 || !done || r.Header.Get("Vary") != "Accept" {
			t.Errorf("%q: %d %s", accept, r.StatusCode, got)
		}
		if (want[0] == 'a') != strings.HasPrefix(bodyOf(t, r), "{") {
			t.Errorf("%q: the body does not match its type", accept)
		}
	}
}

func TestRefusedRequestReturnsStatus200WithReason(t *testing.T) {
	t.Parallel()
	b := friendly()
	b.ping = func(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
		return rsscloud.Result{Msg: "The feed could not be read."}, nil
	}
	for _, c := range []struct{ path, body, want string }{
		{"/ping", pingBody, "could not be read"},
		{"/ping", "", "No feed is named"},
		{"/ping", "url=%zz", "percent sign"},
		{"/pleaseNotify", "url1=http://a/", "port is missing; pleaseNotify needs"},
		{"/rsscloud/cancel", "url1=http://a/", "port is missing; cancel needs"},
		{"/pleaseNotify", strings.Replace(pleaseBody, "http-post", "smtp", 1), "smtp"},
	} {
		r := ask(t, b, "POST", c.path, c.body)
		if got := bodyOf(t, r); r.StatusCode != 200 || !strings.Contains(got, `success="false"`) || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.StatusCode, got)
		}
	}
}

func TestBackendErrorDeterminesStatusAndMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err        error
		status     int
		retry, msg string
	}{
		{&rsscloud.Error{Status: 429, Msg: "Too many.", RetryAfter: 1500 * time.Millisecond}, 429, "2", "Too many."},
		{&rsscloud.Error{Status: 503, Msg: "Not now.", Err: errors.New("secret")}, 503, "", "Not now."},
		{&rsscloud.Error{Msg: "No."}, 200, "", "No."},
		{&rsscloud.FieldError{Field: "url", Msg: "No url."}, 200, "", "No url."},
		{errors.New("secret"), 500, "", "Something went wrong"},
	} {
		b := friendly()
		b.ping = func(context.Context, rsscloud.PingRequest) (rsscloud.Result, error) {
			return rsscloud.Result{Success: true}, c.err
		}
		r := ask(t, b, "POST", "/ping", pingBody)
		got := bodyOf(t, r)
		if r.StatusCode != c.status || r.Header.Get("Retry-After") != c.retry || !strings.Contains(got, c.msg) || !strings.Contains(got, `success="false"`) || strings.Contains(got, "secret") {
			t.Errorf("%v: %d %q %s", c.err, r.StatusCode, r.Header.Get("Retry-After"), got)
		}
	}
}

func TestUnsupportedBodyIsRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header []string
		body   string
		status int
	}{
		{nil, pingBody + strings.Repeat("a", 64<<10), 413},
		{[]string{"Content-Type", "multipart/form-data; boundary=b"}, pingBody, 415},
		{[]string{"Content-Encoding", "gzip"}, pingBody, 415},
	} {
		r := ask(t, friendly(), "POST", "/ping", c.body, c.header...)
		if got := bodyOf(t, r); r.StatusCode != c.status || !strings.Contains(got, `<result success="false"`) || (r.Header.Get("Connection") == "close") != (c.status == 413) {
			t.Errorf("%v: %d %s %s", c.header, r.StatusCode, r.Header, got)
		}
	}
}

func TestUnsupportedHTTPMethodReturnsUsageText(t *testing.T) {
	t.Parallel()
	for _, path := range rsscloud.Endpoints() {
		for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
			r := ask(t, friendly(), method, path, "")
			allow := "POST, OPTIONS"
			if path == "/ping" {
				allow = "GET, POST, OPTIONS"
			}
			if got := bodyOf(t, r); r.StatusCode != 405 || r.Header.Get("Allow") != allow || !strings.Contains(got, "http://cloud.example:5337"+path) {
				t.Errorf("%s %s: %d %s %s", method, path, r.StatusCode, r.Header, got)
			}
		}
	}
	if r := ask(t, friendly(), "POST", "/elsewhere", pingBody); r.StatusCode != 404 {
		t.Errorf("/elsewhere: %d", r.StatusCode)
	}
}

func TestCORSAllowsAnyOrigin(t *testing.T) {
	t.Parallel()
	r := ask(t, friendly(), "OPTIONS", "/rsscloud/ping", "", "Origin", "http://page.example", "Access-Control-Request-Method", "POST")
	if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(r.Header.Get("Access-Control-Allow-Methods"), "POST") ||
		!strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "Content-Type") || r.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight: %d %s", r.StatusCode, r.Header)
	}
	for _, method := range []string{"POST", "GET"} {
		if r := ask(t, friendly(), method, "/ping", pingBody); r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s", method, r.Header)
		}
	}
}

func TestWebPagesMayRequestAndReadTheOutcomeOfAPing(t *testing.T) {
	t.Parallel()
	if r := ask(t, friendly(), "OPTIONS", "/rsscloud/ping", "", "Access-Control-Request-Headers", "prefer"); !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "Prefer") {
		t.Errorf("preflight: %s", r.Header)
	}
	if r := ask(t, friendly(), "POST", "/rsscloud/ping", pingBody); r.Header.Get("Access-Control-Expose-Headers") != "Retry-After, X-Hub-Outcome" {
		t.Errorf("ping: %s", r.Header)
	}
}

func TestShortPingEndpointAcceptsFormInQuery(t *testing.T) {
	t.Parallel()
	chunked := func(body string) *http.Request {
		r := httptest.NewRequest("POST", "/ping?"+pingBody, strings.NewReader(body))
		r.ContentLength = -1
		return r
	}
	other := strings.Replace(pingBody, "f.example", "other.example", 1)
	for name, c := range map[string]struct {
		r    *http.Request
		want string
	}{
		"GET":                   {httptest.NewRequest("GET", "/ping?"+pingBody, nil), "http://f.example/rss.xml"},
		"POST without a body":   {httptest.NewRequest("POST", "/ping?"+pingBody, nil), "http://f.example/rss.xml"},
		"POST, empty chunked":   {chunked(""), "http://f.example/rss.xml"},
		"POST, chunked form":    {chunked(other), "http://other.example/rss.xml"},
		"POST with a form":      {httptest.NewRequest("POST", "/ping?"+pingBody, strings.NewReader(other)), "http://other.example/rss.xml"},
		"POST to the long path": {httptest.NewRequest("POST", "/rsscloud/ping?"+pingBody, nil), ""},
		"HEAD":                  {httptest.NewRequest("HEAD", "/ping?"+pingBody, nil), ""},
	} {
		got := ""
		b := friendly()
		b.ping = func(_ context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
			got = p.URL
			return rsscloud.Result{Success: true}, nil
		}
		(&rsscloud.Handler{Backend: b, Log: quiet(t)}).ServeHTTP(httptest.NewRecorder(), c.r)
		if got != c.want {
			t.Errorf("%s: the feed is %q, want %q", name, got, c.want)
		}
	}
	if r := ask(t, friendly(), "OPTIONS", "/ping", ""); r.Header.Get("Allow") != "GET, POST, OPTIONS" || r.Header.Get("Access-Control-Allow-Methods") != "GET, POST, OPTIONS" {
		t.Errorf("OPTIONS: %s", r.Header)
	}
}

func TestHopCountIsReadFromHeaderAndLimited(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]int{"": 0, "0": 0, "2": 2, " 3 ": 3, "4": 4, "999999": 4, "-1": 4, "x": 4, "99999999999999999999": 4} {
		got := -1
		b := friendly()
		b.ping = func(_ context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
			got = p.Hops
			return rsscloud.Result{}, nil
		}
		ask(t, b, "POST", "/ping", pingBody, rsscloud.HopsHeader, header)
		if got != want {
			t.Errorf("%q: %d, want %d", header, got, want)
		}
	}
}

func TestBackendReceivesParametersAndHTTPRequest(t *testing.T) {
	t.Parallel()
	var got rsscloud.Registration
	var from string
	b := friendly()
	b.cancel = func(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
		got, from = g, rsscloud.RequestFrom(ctx).RemoteAddr
		return rsscloud.Result{}, nil
	}
	ask(t, b, "POST", "/rsscloud/cancel", pleaseBody)
	want := rsscloud.Registration{Port: 80, Path: "/a", Protocol: "http-post", URLs: []string{"http://f.example/rss.xml"}}
	if d := cmp.Diff(want, got); d != "" || from != "192.0.2.1:1234" {
		t.Errorf("from %s\n%s", from, d)
	}
	if rsscloud.RequestFrom(context.Background()) != nil {
		t.Error("RequestFrom is not nil outside of a request")
	}
}
