package live

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	heartbeat = 15 * time.Second
	within    = 10 * time.Second
)

// connection is a response writer with a write deadline.
type connection struct {
	body     bytes.Buffer
	flushed  int // number of bytes
	deadline time.Time
	stuck    bool // the client does not read, so a write fails at its deadline
	during   time.Duration
}

func (c *connection) Header() http.Header { return http.Header{} }
func (c *connection) WriteHeader(int)     {}
func (c *connection) Flush()              { c.flushed = c.body.Len() }

func (c *connection) SetWriteDeadline(at time.Time) error {
	c.deadline = at
	return nil
}

func (c *connection) Write(b []byte) (int, error) {
	c.during = time.Until(c.deadline)
	if c.stuck {
		time.Sleep(c.during)
		return 0, os.ErrDeadlineExceeded
	}
	return c.body.Write(b)
}

// open returns a stream for use in a synctest bubble.
func open(done <-chan struct{}) (*Stream, *connection) {
	c := &connection{}
	return Open(c, Options{Done: done, Heartbeat: heartbeat, WriteTimeout: within}), c
}

func TestAppendEventWritesOneLinePerField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, kind, data, want string }{
		{"17:3", "", `{"a":1}`, "id: 17:3\ndata: {\"a\":1}\n\n"},
		{"4", "new", `{}`, "id: 4\nevent: new\ndata: {}\n\n"},
		{"", "reset", "Load it again.", "event: reset\ndata: Load it again.\n\n"},
		{"5", "", "<li>\r\n  a\n</li>\n", "id: 5\ndata: <li>\ndata:   a\ndata: </li>\n\n"},
		{"6", "", "a\n\nb", "id: 6\ndata: a\ndata: \ndata: b\n\n"},
		{"7", "", "", "id: 7\n\n"},
	} {
		if got := string(AppendEvent([]byte("|"), c.id, c.kind, []byte(c.data))); got != "|"+c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestLastSeenReturnsTheFirstValidPosition(t *testing.T) {
	t.Parallel()
	parse := func(id string) (string, bool) { return id, !strings.HasPrefix(id, "bad") }
	for _, c := range []struct {
		header, since, want string
		known               bool
	}{
		{"h", "s", "h", true}, {"", "s", "s", true}, {"bad", "s", "s", true}, {"h", "", "h", true},
		{"bad", "bad", "", false}, {"", "", "", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?since="+c.since, nil)
		r.Header.Set("Last-Event-ID", c.header)
		if got, known := LastSeen(r, parse); got != c.want || known != c.known {
			t.Errorf("%q, %q: got %q, %v", c.header, c.since, got, known)
		}
	}
}

func TestStreamDeadlineAppliesToWritesOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := open(nil)
		if err := s.Event("1", "new", []byte("{}")); err != nil || c.flushed != 0 {
			t.Errorf("an event is not held until Flush: %v", err)
		}
		if err := s.Comment("listening"); err != nil || c.flushed != c.body.Len() {
			t.Errorf("a comment is delayed: %v", err)
		}
		if want := "id: 1\nevent: new\ndata: {}\n\n: listening\n\n"; c.body.String() != want {
			t.Errorf("got %q, want %q", c.body.String(), want)
		}
		if c.during != within || !c.deadline.IsZero() {
			t.Errorf("a write may take %v, and then the deadline is %v", c.during, c.deadline)
		}
		s.Close()
		if got := time.Until(c.deadline); got != within {
			t.Errorf("the deadline of the end is %v", got)
		}
	})
}

func TestStreamIsSentWithoutDeadlineSupport(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	s := Open(rec, Options{Heartbeat: heartbeat, WriteTimeout: within})
	if err := s.Send([]byte("x")); err != nil || !rec.Flushed || rec.Body.String() != "x" {
		t.Errorf("got %q, flushed %v, %v", rec.Body, rec.Flushed, err)
	}
}

func TestStreamToStuckClientEndsAtDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := open(nil)
		c.stuck = true
		begun := time.Now()
		err := Follow(t.Context(), s, make(chan int), func(int) error { return nil })
		if took := time.Since(begun); !errors.Is(err, os.ErrDeadlineExceeded) || took != heartbeat+within {
			t.Errorf("ended after %v with %v", took, err)
		}
	})
}

func TestFollowPassesValuesAndSendsHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := open(nil)
		ctx, cancel := context.WithCancel(t.Context())
		from := make(chan string, 2)
		timer := time.NewTimer(heartbeat / 2)
		beats := 0
		s.Beat = func() bool { beats++; return true }
		s.Wake, s.Woken = timer.C, func() error { return s.Send([]byte("woken\n")) }
		ended := make(chan error)
		go func() {
			ended <- Follow(ctx, s, from, func(v string) error { return s.Send([]byte(v)) })
		}()
		from <- "a\n"
		from <- "b\n"
		time.Sleep(2*heartbeat + time.Second)
		from <- "c\n"
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil || beats != 2 {
			t.Errorf("%d heartbeats, %v", beats, err)
		}
		if want := "a\nb\nwoken\n: still here\n\n: still here\n\nc\n"; c.body.String() != want {
			t.Errorf("got %q, want %q", c.body.String(), want)
		}
	})
}

func TestFollowEndsWhenClientServerOrStreamEnds(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		prepare func(s *Stream, from chan int, done chan struct{}, leave func())
		want    error
		after   time.Duration
	}{
		"the client leaves": {func(_ *Stream, _ chan int, _ chan struct{}, leave func()) { leave() }, nil, 0},
		"the server stops":  {func(_ *Stream, _ chan int, done chan struct{}, _ func()) { close(done) }, nil, 0},
		"Beat returns false": {func(s *Stream, _ chan int, _ chan struct{}, _ func()) {
			left := 3
			s.Beat = func() bool { left--; return left > 0 }
		}, nil, 3 * heartbeat},
		"the sender drops the client": {func(_ *Stream, from chan int, _ chan struct{}, _ func()) { close(from) }, ErrSlow, 0},
		"a drop while the server stops": {func(_ *Stream, from chan int, done chan struct{}, _ func()) {
			close(from)
			close(done)
		}, nil, 0},
		"a drop while the client leaves": {func(_ *Stream, from chan int, _ chan struct{}, leave func()) {
			close(from)
			leave()
		}, nil, 0},
		"take fails": {func(_ *Stream, from chan int, _ chan struct{}, _ func()) { from <- 1 }, failed, 0},
		"Woken fails": {func(s *Stream, _ chan int, _ chan struct{}, _ func()) {
			s.Wake, s.Woken = time.After(time.Second), func() error { return failed }
		}, failed, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				s, _ := open(done)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				from := make(chan int, 1)
				begun := time.Now()
				c.prepare(s, from, done, cancel)
				err := Follow(ctx, s, from, func(int) error { return failed })
				if took := time.Since(begun); !errors.Is(err, c.want) || took != c.after {
					t.Errorf("it ended after %v with %v, want %v after %v", took, err, c.want, c.after)
				}
			})
		})
	}
}
