package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/hubui"
)

// reader is a client of an event stream.
type reader struct {
	t    *testing.T
	res  *http.Response
	in   *bufio.Reader
	stop context.CancelFunc
}

// frame is one server-sent event, or a comment.
type frame struct{ id, name, data, comment string }

func serveWeb(t *testing.T, w *Web) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(w.Routes())
	t.Cleanup(server.Close)
	return server
}

func watch(t *testing.T, server *httptest.Server, query, last string) *reader {
	t.Helper()
	return watchAt(t, server, "/log/stream"+query, last)
}

func watchAt(t *testing.T, server *httptest.Server, path, last string) *reader {
	t.Helper()
	return watchAs(t, server, path, last, "")
}

// watchAs is like watchAt, but sends the session cookie of a user.
func watchAs(t *testing.T, server *httptest.Server, path, last, cookie string) *reader {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, "GET", server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	if cookie != "" {
		req.AddCookie(&http.Cookie{Name: "cloudburst", Value: cookie})
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	r := &reader{t, res, bufio.NewReader(res.Body), stop}
	if res.StatusCode == 200 {
		if line, err := r.in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry: ") {
			t.Fatalf("the stream begins with %q, %v", line, err)
		}
		_, _ = r.in.ReadString('\n')
	}
	return r
}

// next returns the next event; it skips heartbeats unless beats is set.
func (r *reader) next(beats bool) (f frame) {
	r.t.Helper()
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && f == frame{}:
		case line == "":
			return f
		case name == "" && !beats:
			continue
		case name == "":
			f.comment = value
		case name == "id":
			f.id = value
		case name == "event":
			f.name = value
		case name == "data":
			f.data += value + "\n"
		}
	}
}

func ping(text string) event.Event {
	return event.Event{Kind: event.KindPing, TopicID: hub.TopicID(scripting), Topic: scripting, OK: true, Text: text, Peer: "192.0.2.1"}
}

func TestLogStreamSendsLiveEventsWithoutDetail(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	for _, query := range []string{"", "?as=html"} {
		r := watch(t, server, query, "")
		if got := r.res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
			t.Error(got)
		}
		f.add(bus, ping("one\nline"), ping("<b>two"))
		for i, want := range []string{"one", "two"} {
			got := r.next(false)
			if !strings.Contains(got.data, want) || got.id != fmt.Sprintf("17:%d", f.events[len(f.events)-2+i].Seq) {
				t.Errorf("%s: got %+v, want %s", query, got, want)
			}
			if strings.Contains(got.data, secret) || strings.Contains(got.data, "<b>") {
				t.Errorf("%s: the stream holds what it must not: %s", query, got.data)
			}
		}
		r.stop()
	}
}

func TestLogStreamResumesAfterTheLastEventID(t *testing.T) {
	t.Parallel()
	for _, how := range [][2]string{{"", "17:30"}, {"?since=17:30", ""}, {"?since=17:99", "17:30"}} {
		f := newFake()
		w, bus := newWeb(t, f)
		server := serveWeb(t, w)
		for i := range 250 {
			f.add(bus, ping(fmt.Sprintf("event %d", i+1)))
		}
		r := watch(t, server, how[0], how[1])
		for want := 31; want <= 250; want++ {
			if got := r.next(false); got.id != fmt.Sprintf("17:%d", want) {
				t.Fatalf("got %s, want 17:%d", got.id, want)
			}
		}
		f.add(bus, ping("live"))
		if got := r.next(false); got.id != "17:251" {
			t.Errorf("after the missed ones came %s", got.id)
		}
	}
}

func TestLogStreamAfterAnUnknownEventRequestsAReload(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	f.add(bus, ping("a"), ping("b"))
	r := watch(t, server, "", "4:4444")
	if got := r.next(false); got.name != "reset" || got.id != "" {
		t.Errorf("got %+v, want a reset", got)
	}
	f.add(bus, ping("c"))
	if got := r.next(false); got.id != "17:3" {
		t.Errorf("then came %s", got.id)
	}
}

func TestStreamOfAnEmptyLogSendsTheFirstEvent(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	f.add(bus, ping("between the page and the stream"))
	if got := watch(t, server, "?since=0:0", "").next(false); got.id != "17:1" {
		t.Errorf("got %+v", got)
	}
}

func TestLogStreamAppliesTheFilters(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	r := watch(t, server, "?kind=check,drop&q=READ&topic="+scripting, "")
	other := ping("read")
	other.TopicID, other.Kind = 5, event.KindCheck
	wrongKind, wrongText, right := ping("read"), ping("nothing"), ping("was read")
	wrongText.Kind, right.Kind = event.KindCheck, event.KindCheck
	f.add(bus, other, wrongKind, wrongText, right)
	if got := r.next(false); got.id != "17:4" {
		t.Errorf("got %+v", got)
	}
	res := watch(t, server, "?kind=nonsense", "").res
	if res.StatusCode != 400 {
		t.Errorf("a wrong filter: %s", res.Status)
	}
}

func TestLogStreamIgnoresServerTimeoutsAndSendsHeartbeats(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	w.Heartbeat = 100 * time.Millisecond
	server := httptest.NewUnstartedServer(w.Routes())
	server.Config.ReadTimeout, server.Config.WriteTimeout = 600*time.Millisecond, 600*time.Millisecond
	server.Start()
	defer server.Close()
	r := watch(t, server, "", "")
	defer r.stop()
	for range 12 { // 12 heartbeats take 1.2 s, which is longer than the timeouts of the server
		if got := r.next(true); got.comment != "still here" {
			t.Fatalf("got %+v, want a sign of life", got)
		}
	}
	f.add(bus, ping("after all"))
	if got := r.next(false); got.id != "17:1" {
		t.Errorf("got %+v", got)
	}
}

func TestDelayedLogStreamReadsMissedEventsFromTheStore(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	server := serveWeb(t, w)
	r := watch(t, server, "", "")
	const n = 3 * hubui.StreamBuffer
	for i := range n {
		f.mu.Lock()
		e := ping(strings.Repeat("long ", 2000) + fmt.Sprint(i))
		bus.Stamp(f.now, &e)
		f.events = append(f.events, e)
		f.mu.Unlock()
	}
	bus.Publish(f.events...) // publish more events at once than the buffer of a listener can hold
	for want := 1; want <= n; want++ {
		if got := r.next(false); got.id != fmt.Sprintf("17:%d", want) {
			t.Fatalf("got %q, want 17:%d", got.id, want)
		}
	}
}

func TestLogStreamsAreLimitedAndReleaseTheirResources(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	w.MaxListeners = 2
	done := make(chan struct{})
	w.Done = done
	server := serveWeb(t, w)
	first, second := watch(t, server, "", ""), watch(t, server, "", "")
	third := watch(t, server, "", "")
	if third.res.StatusCode != 503 || third.res.Header.Get("Retry-After") == "" {
		t.Errorf("the third reader of two: %s, Retry-After %q", third.res.Status, third.res.Header.Get("Retry-After"))
	}
	first.stop()
	for bus.Listeners() > 1 {
		runtime.Gosched() // wait until the server detects the disconnection; if the listener leaks, the time limit of the test applies
	}
	for watch(t, server, "", "").res.StatusCode != 200 {
		runtime.Gosched() // the server releases the slot shortly after it removes the listener
	}
	close(done)
	if _, err := second.in.ReadString('\n'); err == nil {
		t.Error("a stream goes on after the program's end")
	}
	server.Close() // Close waits until all handlers have returned
	if n := bus.Listeners(); n != 0 {
		t.Errorf("%d listeners are left on the bus", n)
	}
}

func TestLogStreamEndsIfTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	rc := &stuckWriter{ResponseWriter: httptest.NewRecorder()}
	returned := make(chan struct{})
	h := w.Routes()
	go func() {
		defer close(returned)
		h.ServeHTTP(rc, httptest.NewRequest("GET", "/log/stream", nil))
	}()
	<-returned
	if rc.deadline.IsZero() || bus.Listeners() != 0 {
		t.Errorf("deadline %v, %d listeners", rc.deadline, bus.Listeners())
	}
}

// stuckWriter is the connection to a client that does not read: a write fails only if a deadline is set.
type stuckWriter struct {
	http.ResponseWriter
	deadline time.Time
}

func (s *stuckWriter) SetWriteDeadline(d time.Time) error { s.deadline = d; return nil }

func (s *stuckWriter) Write([]byte) (int, error) {
	if s.deadline.IsZero() {
		select {} // block forever
	}
	return 0, context.DeadlineExceeded
}
