package websub_test

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

	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

// backend is a hub that accepts everything, unless one of its functions returns an error.
type backend struct {
	subscribe   func(context.Context, websub.Subscription) error
	unsubscribe func(context.Context, websub.Subscription) error
	publish     func(context.Context, []string) []error
}

func (b backend) Subscribe(ctx context.Context, s websub.Subscription) error {
	if b.subscribe == nil {
		return nil
	}
	return b.subscribe(ctx, s)
}

func (b backend) Unsubscribe(ctx context.Context, s websub.Subscription) error {
	if b.unsubscribe == nil {
		return nil
	}
	return b.unsubscribe(ctx, s)
}

func (b backend) Publish(ctx context.Context, urls []string) []error {
	if b.publish == nil {
		return make([]error, len(urls))
	}
	return b.publish(ctx, urls)
}

func quiet(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func serve(h http.Handler, method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
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

func TestAcceptedSubscriptionRequestIsPassedToBackend(t *testing.T) {
	t.Parallel()
	var got []any
	h := &websub.Handler{Log: quiet(t), Backend: backend{
		subscribe: func(ctx context.Context, s websub.Subscription) error {
			if websub.RequestFrom(ctx).Header.Get("X-Test") != "1" {
				t.Error("the backend does not get the request")
			}
			got = append(got, "subscribe", s)
			return nil
		},
		unsubscribe: func(_ context.Context, s websub.Subscription) error {
			got = append(got, "unsubscribe", s)
			return nil
		},
		publish: func(_ context.Context, urls []string) []error {
			got = append(got, "publish", urls)
			return make([]error, len(urls))
		},
	}}
	for _, c := range []struct {
		body   string
		status int
	}{
		{subscribe("hub.lease_seconds", "60", "hub.secret", "s"), 202},
		{form("hub.mode", "unsubscribe", "hub.callback", testCallback, "hub.topic", testTopic), 202},
		{form("hub.mode", "publish", "hub.url", testTopic, "hub.url", "http://other.example/", "hub.topic", testTopic), 204},
	} {
		r := serve(h, "POST", "/hub", c.body, "X-Test", "1")
		if r.StatusCode != c.status || c.status == 204 && bodyOf(t, r) != "" {
			t.Errorf("%s: %d", c.body, r.StatusCode)
		}
	}
	s := websub.Subscription{Callback: testCallback, Topic: testTopic}
	full := s
	full.Lease, full.Secret = time.Minute, "s"
	want := []any{"subscribe", full, "unsubscribe", s, "publish", []string{testTopic, "http://other.example/"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if websub.RequestFrom(t.Context()) != nil {
		t.Error("RequestFrom is not nil outside of a request")
	}
}

func TestRefusedRequestIsAnsweredInPlainText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		err        error
		status     int
		text       string
		retryAfter string
	}{
		{"not allowed", &websub.Error{Status: 403, Msg: "Not this topic."}, 403, "Not this topic.\n", ""},
		{"too many", &websub.Error{Status: 429, Msg: "Slowly.", RetryAfter: 1500 * time.Millisecond}, 429, "Slowly.\n", "2"},
		{"unavailable", &websub.Error{Status: 503, Msg: "Later.", RetryAfter: time.Minute, Err: errors.New("disk /var/lib is full")}, 503, "Later.\n", "60"},
		{"no status", &websub.Error{Msg: "No."}, 400, "No.\n", ""},
		{"wrapped", errors.Join(&websub.Error{Status: 403, Msg: "No."}), 403, "No.\n", ""},
		{"anything else", errors.New("secret of the disk"), 500, "Something went wrong on this server. Please try again later.\n", ""},
	} {
		no := func(context.Context, websub.Subscription) error { return c.err }
		h := &websub.Handler{Log: quiet(t), Backend: backend{subscribe: no, unsubscribe: no}}
		for _, mode := range []string{"subscribe", "unsubscribe"} {
			r := serve(h, "POST", "/", form("hub.mode", mode, "hub.callback", testCallback, "hub.topic", testTopic))
			if got := bodyOf(t, r); r.StatusCode != c.status || got != c.text || r.Header.Get("Retry-After") != c.retryAfter ||
				r.Header.Get("Content-Type") != "text/plain; charset=utf-8" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %s %q", c.name, r.StatusCode, r.Header, got)
			}
		}
	}
	h := &websub.Handler{Backend: backend{subscribe: func(context.Context, websub.Subscription) error {
		t.Error("the backend was called")
		return nil
	}}}
	for body, status := range map[string]int{"": 400, subscribe("hub.lease_seconds", "-1"): 400, strings.Repeat("&", 65<<10): 413} {
		r := serve(h, "POST", "/", body)
		if r.StatusCode != status || bodyOf(t, r) == "" || (r.Header.Get("Connection") == "close") != (status == 413) {
			t.Errorf("%.50s: %d %s", body, r.StatusCode, r.Header)
		}
	}
}

func TestEachPublishedTopicIsAcceptedSeparately(t *testing.T) {
	t.Parallel()
	h := &websub.Handler{Log: quiet(t), Backend: backend{publish: func(_ context.Context, urls []string) []error {
		out := make([]error, len(urls))
		for i, u := range urls {
			switch {
			case strings.Contains(u, "busy"):
				out[i] = &websub.Error{Status: 429, Msg: "Too often.", RetryAfter: 5 * time.Second}
			case strings.Contains(u, "dead"):
				out[i] = &websub.Error{Status: 422, Msg: "It cannot be read."}
			case strings.Contains(u, "short"):
				return out[:i]
			case strings.Contains(u, "broken"):
				out[i] = errors.New("a secret")
			}
		}
		return out
	}}}
	for _, c := range []struct {
		urls   string
		status int
		text   []string
		retry  string
	}{
		{"http://a.example/", 204, nil, ""},
		{"http://a.example/ http://b.example/", 204, nil, ""},
		{"http://a.example/ http://dead.example/ javascript:x", 202, []string{"Accepted 1 of 3.", "Refused http://dead.example/: It cannot be read.", "Refused javascript:x: hub.url is"}, ""},
		{"http://a.example/ http://short.example/ http://b.example/", 202, []string{"Refused http://short.example/", "Refused http://b.example/", "went wrong"}, ""},
		{"javascript:alert(1)", 400, []string{`hub.url is "javascript:alert(1)"`}, ""},
		{"http://a.example/#x javascript:alert(1)", 400, []string{"fragment", "http://"}, ""},
		{"http://dead.example/ javascript:alert(1)", 422, []string{"It cannot be read."}, ""},
		{"http://busy.example/ http://dead.example/", 429, []string{"Too often."}, "5"},
		{"http://broken.example/ http://busy.example/", 500, []string{"went wrong"}, "5"},
	} {
		pairs := []string{"hub.mode", "publish"}
		for u := range strings.FieldsSeq(c.urls) {
			pairs = append(pairs, "hub.url", u)
		}
		r := serve(h, "POST", "/", form(pairs...))
		text := bodyOf(t, r)
		if r.StatusCode != c.status || r.Header.Get("Retry-After") != c.retry || strings.Contains(text, "secret") {
			t.Errorf("%s: %d %s %s", c.urls, r.StatusCode, r.Header, text)
		}
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q", c.urls, want, text)
			}
		}
	}
}

func TestGETRequestReturnsDescriptionOfTheEndpoint(t *testing.T) {
	t.Parallel()
	h := &websub.Handler{Backend: backend{}}
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "PUT": 405, "DELETE": 405} {
		r := serve(h, method, "/hub?hub.mode=subscribe", "")
		if allow := r.Header.Get("Allow"); r.StatusCode != status || (allow != "") != (status == 204 || status == 405) {
			t.Errorf("%s: %d %s", method, r.StatusCode, r.Header)
		}
		if method == "GET" && !strings.Contains(bodyOf(t, r), "WebSub hub") {
			t.Error("the text does not identify the hub")
		}
	}
}
