package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
)

func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &client.Client{Base: srv.URL + "/", HTTP: srv.Client()}
}

func TestErrorContainsCodeMessageAndRetryAfter(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"code":"unavailable","message":"The database is away.","field":"url"}}`)
	})
	_, err := c.Version(t.Context())
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != 503 || e.Code != "unavailable" || e.Error() != "The database is away." || e.Field != "url" || e.RetryAfter != 7*time.Second {
		t.Errorf("%#v", err)
	}
	for _, err := range c.Topics(t.Context(), client.TopicQuery{}) {
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != "unavailable" {
			t.Errorf("%v", err)
		}
	}
}

func TestUnexpectedResponseIsReturnedAsError(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{"text/html", "application/json"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"what?"}`)
		})
		if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "is this the right address?") || client.IsNotFound(err) {
			t.Error(err)
		}
	}
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) })
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot decode") {
		t.Error(err)
	}
}

func TestInvalidBaseIsReportedWithoutTheTextOfALibrary(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"127.0.0.1:5338", "localhost:5338", "http://", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:x"} {
		_, err := (&client.Client{Base: base}).Version(t.Context())
		if want := fmt.Sprintf("client: invalid Base %q: must be the URL of a server, such as %s", base, client.DefaultBase); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestUnreachableServerIsReported(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &client.Client{Base: "http://" + l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Version(t.Context()); !client.IsUnreachable(err) || strings.Contains(err.Error(), "/v1/version") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Version(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// serveTwoPages answers a list whose second page has this status and text.
func serveTwoPages(t *testing.T, status int, second string) *client.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("cursor") == "" {
			fmt.Fprint(w, `{"subscriptions":[{"topic":"http://a.example/"}],"next":"1:2"}`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, second)
	})
}

func TestListStopsAtFailedPageAndReturnsItsError(t *testing.T) {
	t.Parallel()
	c := serveTwoPages(t, http.StatusInternalServerError, `{"error":{"code":"internal","message":"Broken."}}`)
	var got []string
	for s, err := range c.Subscriptions(t.Context(), client.SubscriptionQuery{}) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, s.Topic)
	}
	if strings.Join(got, " ") != "http://a.example/ Broken." {
		t.Error(got)
	}
}

func TestListCanBeIteratedTwice(t *testing.T) {
	t.Parallel()
	c := serveTwoPages(t, http.StatusOK, `{"subscriptions":[{"topic":"http://b.example/"}]}`)
	list, n := c.Subscriptions(t.Context(), client.SubscriptionQuery{}), 0
	for range 2 {
		for _, err := range list {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d rows in two iterations over two pages with one row each", n)
	}
}

func TestIncompleteExportReturnsError(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}\n{}\n") })
	if n, err := c.Export(t.Context(), io.Discard, nil); err == nil || n != 2 {
		t.Error(n, err)
	}
	c = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"imported":1,"total":2}`)
	})
	if _, err := c.Import(t.Context(), strings.NewReader("{}"), client.ImportOptions{}); err == nil || !strings.Contains(err.Error(), "was interrupted") {
		t.Error(err)
	}
}

func TestStreamParserAcceptsCommentsAndMultilineData(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "1:2:3" || r.URL.Query().Get("kind") != "ping" {
			t.Error(r.URL, r.Header)
		}
		fmt.Fprint(w, ": hello\n\nid: 1\ndata: {\"id\":\"1:2:4\",\ndata: \"text\":\"x\"}\n\n\n: again\n\ndata: {\"id\":\"half\"}\n")
	})
	var got []string
	err := c.Follow(t.Context(), client.LogQuery{Kinds: []string{"ping"}}, "1:2:3", func(e client.Event) error {
		got = append(got, e.ID+e.Text)
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Join(got, " ") != "1:2:4x" {
		t.Error(got, err)
	}
}

func ExampleClient() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"subscriptions":[{"topic":"http://a.example/rss.xml","protocol":"http-post","callback":"http://b.example/notify"}]}`)
	}))
	defer srv.Close()
	c := client.Client{Base: srv.URL}
	for s, err := range c.Subscriptions(context.Background(), client.SubscriptionQuery{Topic: "http://a.example/rss.xml"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Callback)
	}
	// Output: http://b.example/notify
}
