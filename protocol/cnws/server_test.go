package cnws

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

	"github.com/google/go-cmp/cmp"
)

// list is a publisher of one resource.
type list struct {
	got    []Subscribe
	from   *http.Request
	answer Result
	err    error
}

func (l *list) Subscribe(ctx context.Context, s Subscribe) (Result, error) {
	l.got = append(l.got, s)
	l.from = RequestFrom(ctx)
	return l.answer, l.err
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/cnws"
}

func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func TestClientSubscribesAtHandler(t *testing.T) {
	t.Parallel()
	want := Subscribe{"http://news.example.com/", "http://s.example/cb"}
	for _, c := range []struct {
		name   string
		answer Result
		err    error
		want   Result
		status int // status of the *Error
	}{
		{"accepted", Result{Status: true, Title: "News & more", Description: "<all>"}, nil, Result{Status: true, Title: "News & more", Description: "<all>"}, 0},
		{"refused", Result{Description: "No such resource."}, nil, Result{Description: "No such resource."}, 0},
		{"a field", Result{}, &FieldError{"resourceID", "Not this one."}, Result{Description: "Not this one."}, 0},
		{"a sentence", Result{Status: true}, &Error{Msg: "Not now."}, Result{Description: "Not now."}, 0},
		{"busy", Result{}, &Error{Status: 429, Msg: "Slowly.", RetryAfter: 1500 * time.Millisecond}, Result{}, 429},
		{"trouble", Result{}, errors.New("disk on fire"), Result{}, 500},
	} {
		l := &list{answer: c.answer, err: c.err}
		endpoint := serve(t, &Handler{Publisher: l, Log: logTo(t)})
		got, err := (&Client{UserAgent: "x/1", Header: http.Header{"X-Hub-Hops": {"2"}}}).Subscribe(t.Context(), endpoint, want)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if d := cmp.Diff([]Subscribe{want}, l.got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if l.from == nil || l.from.RemoteAddr == "" || l.from.Header.Get("X-Hub-Hops") != "2" || l.from.UserAgent() != "x/1" {
			t.Errorf("%s: the request was %+v", c.name, l.from)
		}
		e, ok := errors.AsType[*Error](err)
		if ok != (c.status != 0) || ok && e.Status != c.status || !ok && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.status == 429 && (e.RetryAfter != 2*time.Second || !strings.Contains(e.Msg, "Slowly.")) {
			t.Errorf("%s: %+v", c.name, e)
		}
		if err != nil && strings.Contains(err.Error(), "fire") {
			t.Errorf("%s: the response discloses %v", c.name, err)
		}
	}
}

func TestClientNotifiesHandler(t *testing.T) {
	t.Parallel()
	change := Change{ResourceID: "http://news.example.com/", ChangeTime: time.Date(2003, 4, 7, 22, 0, 0, 0, time.UTC), Title: "é", Other: []Element{{Space: "u", Name: "a", Text: " x "}}}
	for _, c := range []struct {
		name           string
		answer, wanted bool
		err            error
		status         int
	}{
		{"wanted", true, true, nil, 0},
		{"not wanted", false, false, nil, 0},
		{"not wanted, with a sentence", false, false, &Error{Msg: "Enough."}, 0},
		{"wanted, with a sentence", true, true, &Error{Msg: "Again?"}, 0},
		{"unavailable", true, false, &Error{Status: 503}, 503},
		{"trouble", true, false, errors.New("x"), 500},
	} {
		var got []Change
		endpoint := serve(t, &Handler{Log: logTo(t), Subscriber: SubscriberFunc(func(ctx context.Context, c2 Change) (bool, error) {
			if RequestFrom(ctx) == nil {
				t.Error("no request")
			}
			got = append(got, c2)
			return c.answer, c.err
		})})
		wanted, err := (&Client{}).Notify(t.Context(), endpoint, change)
		e, ok := errors.AsType[*Error](err)
		if wanted != c.wanted || ok != (c.status != 0) || ok && e.Status != c.status || !ok && err != nil {
			t.Errorf("%s: %t, %v", c.name, wanted, err)
		}
		if d := cmp.Diff([]Change{change}, got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
	}
}

func TestHandlerWithoutHubOrSubscriberAnswersFalse(t *testing.T) {
	t.Parallel()
	endpoint := serve(t, &Handler{})
	r, err := (&Client{}).Subscribe(t.Context(), endpoint, Subscribe{"http://a.example/", "http://b.example/"})
	if err != nil || r.Status || r.Description == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if wanted, err := (&Client{}).Notify(t.Context(), endpoint, Change{ResourceID: "http://a.example/"}); err != nil || wanted {
		t.Errorf("%t, %v", wanted, err)
	}
	status, kind, body := post(t, endpoint, "text/xml", resultDoc)
	if r, err := ParseResult(kind, []byte(body)); status != 200 || err != nil || r.Status {
		t.Errorf("a result: %d %s", status, body)
	}
}

func TestClientReturnsDifferentErrorsForEachFailure(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, &Handler{Publisher: &list{answer: Result{Status: true}}})
	s := Subscribe{"http://a.example/", "http://b.example/"}
	for _, c := range []struct {
		name   string
		h      http.HandlerFunc
		status int
		is     error
	}{
		{"404", http.NotFound, 404, nil},
		{"410", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, 410, nil},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}, 307, nil},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Welcome</html>") }, 0, ErrInvalidResponse},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, 0, ErrInvalidResponse},
		{"an endless answer", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, resultDoc+strings.Repeat(" ", maxAnswer)+"<")
		}, 0, nil},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, ErrUnreachable},
	} {
		r, err := (&Client{}).Subscribe(t.Context(), serve(t, c.h), s)
		e, ok := errors.AsType[*Error](err)
		switch {
		case c.status != 0 && (!ok || e.Status != c.status || r.Status):
			t.Errorf("%s: %+v, %v", c.name, r, err)
		case c.is != nil && (!errors.Is(err, c.is) || r.Status):
			t.Errorf("%s: %+v, %v", c.name, r, err)
		case c.status == 0 && c.is == nil && (err != nil || !r.Status):
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	if _, err := (&Client{}).Notify(t.Context(), closed.URL, Change{ResourceID: "http://a.example/"}); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	_, err := (&Client{}).Subscribe(t.Context(), closed.URL, Subscribe{"http://a.example/", "http://b.example/#x"})
	if _, ok := errors.AsType[*FieldError](err); !ok {
		t.Errorf("an invalid message was sent: %v", err)
	}
}

func post(t *testing.T, url, kind, body string, header ...string) (status int, contentType, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

func TestInvalidRequestGetsStatusAndMessage(t *testing.T) {
	t.Parallel()
	l := &list{answer: Result{Status: true}}
	endpoint := serve(t, &Handler{Publisher: l})
	for _, c := range []struct {
		name, kind, body string
		header           []string
		status           int
		want             string
	}{
		{"no type", "", subscribeDoc, nil, 200, "<status>true</status>"},
		{"plain text", "text/plain", subscribeDoc, nil, 200, "<status>true</status>"},
		{"XML", "application/xml; charset=\"utf-8\"", subscribeDoc, []string{"Content-Encoding", "identity"}, 200, "<status>true</status>"},
		{"an unknown charset", "text/xml; charset=x-user-defined", subscribeDoc, nil, 200, "<status>true</status>"},
		{"a field", "text/xml", strings.Replace(subscribeDoc, "http://subscriber", "gopher://subscriber", 1), nil, 200, "must begin with http"},
		{"a form", "application/x-www-form-urlencoded", subscribeDoc, nil, 415, "send text/xml"},
		{"gzip", "text/xml", subscribeDoc, []string{"Content-Encoding", "gzip"}, 415, "Content-Encoding"},
		{"another document", "text/xml", "<rss/>", nil, 400, "in line 1, the document is a <rss>"},
		{"no document", "text/xml", "", nil, 400, "no XML element"},
		{"DOCTYPE", "text/xml", "<!DOCTYPE x>" + subscribeDoc, nil, 400, "DOCTYPE"},
		{"two actions", "text/xml", wrap("<subscribe/><resourceChange/>"), nil, 400, "send one message"},
		{"300 KiB", "text/xml", subscribeDoc + strings.Repeat(" ", 300<<10), nil, 413, "256 KiB"},
	} {
		before := len(l.got)
		status, kind, body := post(t, endpoint, c.kind, c.body, c.header...)
		if status != c.status || !strings.Contains(body, c.want) || (kind == ContentType) != (status == 200) {
			t.Errorf("%s: %d %s: %s", c.name, status, kind, body)
		}
		if done := strings.Contains(body, ">true<"); done != (len(l.got) > before) {
			t.Errorf("%s: executed: %t", c.name, !done)
		}
	}
	resp, err := http.Get(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" || !strings.Contains(string(b), "change notification") {
		t.Errorf("GET: %d %s", resp.StatusCode, b)
	}
	if RequestFrom(t.Context()) != nil {
		t.Error("RequestFrom is not nil outside of a request")
	}
}
