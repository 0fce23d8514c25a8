package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/api/form"
	"cloudburst/internal/event"
)

func requestFor(ctx context.Context, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/v1/subscriptions/import", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-ndjson")
	return r
}

// discard is an http.ResponseWriter that discards the response.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func mustEncode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var errEnough = errors.New("enough")

// take follows the stream until n events have arrived, and passes each event to got.
func take(ctx context.Context, c *client.Client, q client.LogQuery, after string, n int, got func(client.Event)) error {
	err := c.Follow(ctx, q, after, func(e client.Event) error {
		got(e)
		if n--; n == 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return fmt.Errorf("%d events are missing: %w", n, err)
}

func TestStreamResumesAfterLastEventWithoutGapOrRepetition(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	c, _ := serve(t, w)
	var first event.Event
	for i := range 1200 {
		e := w.happen(event.Event{Kind: event.KindPing, Text: fmt.Sprint(i)})
		if i == 0 {
			first = e
		}
	}
	var texts []string
	done := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		done <- take(t.Context(), c, client.LogQuery{}, form.Cursor(first.Cursor()), 1200, func(e client.Event) {
			if texts = append(texts, e.Text); len(texts) == 1 {
				close(begun)
			}
		})
	}()
	<-begun
	w.happen(event.Event{Kind: event.KindPing, Text: "1200"})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if text != fmt.Sprint(i+1) {
			t.Fatalf("event %d is %s", i+1, text)
		}
	}
}

func TestEventStreamAcceptsTheFiltersOfTheLog(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	c, srv := serve(t, w)
	res, err := srv.Client().Get(srv.URL + "/v1/log/stream?kind=check&text=WANTED")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, len(": listening\n\n"))); err != nil {
		t.Fatal(err)
	}
	w.happen(event.Event{Kind: event.KindPing, Text: "wanted"})
	w.happen(event.Event{Kind: event.KindCheck, Text: "other"})
	want := w.happen(event.Event{Kind: event.KindCheck, Text: "wanted"})
	var head [64]byte
	n, err := res.Body.Read(head[:])
	if err != nil || !strings.HasPrefix(string(head[:n]), "id: "+form.Cursor(want.Cursor())+"\nevent: check\n") {
		t.Errorf("%q %v", head[:n], err)
	}
	var got []string
	for e, err := range c.Log(t.Context(), client.LogQuery{Kinds: []string{"check"}, Text: "wanted"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.ID)
	}
	if !slices.Equal(got, []string{form.Cursor(want.Cursor())}) {
		t.Error(got)
	}
}

// stuck is the connection to a client that stops reading: its second write blocks until free is closed.
type stuck struct {
	header http.Header
	begun  chan struct{}
	free   chan struct{}
	body   bytes.Buffer
	writes int
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Flush()              {}
func (s *stuck) Write(p []byte) (int, error) {
	s.writes++
	if s.writes == 1 {
		close(s.begun)
	}
	if s.writes == 2 {
		<-s.free
	}
	return s.body.Write(p)
}

func TestSlowStreamClientIsDisconnected(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	h := New(Options{Hub: w, Store: store{w}, Bus: w.bus}).Handler()
	s := &stuck{header: http.Header{}, begun: make(chan struct{}), free: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.ServeHTTP(s, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/log/stream", nil))
	}()
	<-s.begun
	for i := range streamBuffer + 2 {
		w.happen(event.Event{Kind: event.KindPing, Text: fmt.Sprint(i)})
	}
	if n := w.bus.Listeners(); n != 0 {
		t.Errorf("%d listeners are left", n)
	}
	close(s.free)
	<-ended // the stream ends although the context of the request has not ended
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	stop := make(chan struct{})
	c, _ := serveWith(t, Options{Hub: w, Store: store{w}, Bus: w.bus, Done: stop})
	close(stop)
	err := c.Follow(t.Context(), client.LogQuery{}, "", func(client.Event) error { return nil })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	err = c.Follow(t.Context(), client.LogQuery{}, "nonsense", func(client.Event) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "is not the id of an event") {
		t.Error(err)
	}
}
