package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fetch"
)

func openTestReceiver(t *testing.T, p Plan) *Receiver {
	t.Helper()
	s, err := OpenReceiver(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func testSender(t *testing.T) *fetch.Sender {
	t.Helper()
	s := fetch.NewSender(fetch.SenderOptions{Guard: &fetch.Guard{Allow: loopback(), Callback: true}})
	t.Cleanup(s.Close)
	return s
}

func TestBenchmarkReceiverCountsEachCallbackOnce(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		s := openTestReceiver(t, Plan{Hosts: 3, SlowHosts: 1, Slow: time.Millisecond, Close: closing})
		s.Reset(10)
		sender := testSender(t)
		begin := time.Now()
		for _, i := range []int{0, 4, 4, 9, 77} {
			host, slow := i%3, i == 9
			if slow {
				host = 0
			}
			r := sender.Send(t.Context(), &fetch.Message{URL: CallbackURL(slow, host, s.Port, i), Body: []byte(strings.Repeat("x", 5000))})
			if !r.OK() {
				t.Fatalf("callback %d: %d %v", i, r.Status, r.Err)
			}
		}
		a := s.Arrivals(0, 10, begin)
		if a.Distinct != 3 || a.Missing != 7 || a.Again != 1 || a.Unknown != 1 || a.Peak != 1 || s.Count() != 3 {
			t.Errorf("close %v: %+v", closing, a)
		}
		if a.First < 0 || a.First > a.P50 || a.P50 > a.Last || a.Last > time.Since(begin).Seconds() {
			t.Errorf("close %v: times %+v", closing, a)
		}
		if part := s.Arrivals(4, 9, begin); part.Distinct != 1 || part.Missing != 4 {
			t.Errorf("close %v: the middle %+v", closing, part)
		}
		s.Reset(10)
		if s.Count() != 0 {
			t.Error("a new round is not empty")
		}
	}
}

func TestBenchmarkFeedIsUnchangedUntilRequested(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 1, Feeds: 2, FeedSize: 1000})
	c := fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: loopback()}})
	get := func(etag string) *fetch.Response {
		r, err := c.Get(t.Context(), fetch.Request{URL: fmt.Sprintf("http://%s:%d/f/1", Host(false, 0), s.Port), ETag: etag})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := get("")
	if !first.OK() || len(first.Body) != 1000 {
		t.Fatalf("%d, %d bytes", first.Status, len(first.Body))
	}
	if again := get(first.Header.Get("ETag")); !again.NotModified {
		t.Errorf("unchanged, and the answer is %d", again.Status)
	}
	s.Change(0, 1) // feed 1 stays unchanged; the test pings it below
	if again := get(first.Header.Get("ETag")); !again.NotModified {
		t.Errorf("another feed changed, and the answer is %d", again.Status)
	}
	s.Change(1, 2)
	if changed := get(first.Header.Get("ETag")); changed.NotModified || bytes.Equal(changed.Body, first.Body) {
		t.Error("a changed feed has its old content")
	}
	if n := s.Feeds(0, 2); n.Full != 2 || n.Same != 2 || n.Served == 0 {
		t.Errorf("%+v", n)
	}
}

func TestBenchmarkReceiverAnswersAChallenge(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 1})
	resp, err := http.Get(CallbackURL(false, 0, s.Port, 5) + "?url=http%3A%2F%2Fa%2F&challenge=secret%20word")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "secret word" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestBenchmarkReceiverRejectsInvalidRequestsAndContinues(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 1})
	for _, in := range []string{"hello\r\n\r\n", "POST /c/1 HTTP/1.1\r\nX: " + strings.Repeat("y", 4000)} {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", fmt.Sprintf("%s:%d", Host(false, 0), s.Port))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(c); !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
			t.Errorf("%.20q was answered with %q", in, text)
		}
		c.Close()
	}
	if r := testSender(t).Send(t.Context(), &fetch.Message{URL: CallbackURL(false, 0, s.Port, 0)}); !r.OK() {
		t.Errorf("after it: %d %v", r.Status, r.Err)
	}
}

func TestTooManyBenchmarkHostsAreRejected(t *testing.T) {
	t.Parallel()
	for _, p := range []Plan{{}, {Hosts: maxHosts, SlowHosts: 1}, {Hosts: -1}} {
		if s, err := OpenReceiver(t.Context(), p); err == nil {
			s.Close()
			t.Errorf("%+v was opened", p)
		}
	}
}

func TestReferenceSenderCallsEveryCallbackOnce(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 7})
	l := newLoop(8, 64)
	for _, kind := range []string{LoopSender, LoopNetHTTP} {
		s.Reset(200)
		ran, err := l.run(t.Context(), Job{Kind: kind, Hosts: 7, Port: s.Port, From: 50, To: 200, Concurrent: 8, Idle: 64, Feed: "http://127.0.0.1/f"})
		if err != nil || ran.Sent != 150 || ran.Failed != 0 {
			t.Fatalf("%s: %+v, %v", kind, ran, err)
		}
		if a := s.Arrivals(0, 200, time.Unix(0, ran.T0)); a.Distinct != 150 || a.Again != 0 || a.Unknown != 0 {
			t.Errorf("%s: %+v", kind, a)
		}
	}
	s.Close()
	if ran, err := l.run(t.Context(), Job{Kind: LoopSender, Hosts: 7, Port: s.Port, To: 3, Concurrent: 1}); err != nil || ran.Failed != 3 || ran.Error == "" {
		t.Errorf("no listener: %+v, %v", ran, err)
	}
	if _, err := l.run(t.Context(), Job{Kind: LoopSender, To: 3}); err == nil {
		t.Error("a job without hosts ran")
	}
}

func TestReferenceEndpointNotifiesOnlyChangedFeeds(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 2, Feeds: 2})
	s.Reset(2)
	d, err := openEndpoint(t.Context(), endpointPlan{Hosts: 2, Port: s.Port}, testSender(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	p := newPinger(d.addr, 1)
	feed := fmt.Sprintf("http://%s:%d/f/1", Host(false, 0), s.Port)
	for range 2 {
		if err := p.ping(t.Context(), feed); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Feeds(1, 2); n.Full != 1 || n.Same != 1 {
		t.Errorf("read %+v, want once whole and once the same", n)
	}
	if err := p.ping(t.Context(), "http://"+Host(false, 0).String()+":1/f/1"); err == nil {
		t.Error("a ping of a feed without a server succeeded")
	}
}

func TestReceiverProcessAnswersRequestsAndReportsErrors(t *testing.T) {
	t.Parallel()
	in := `{"do":"count"}{"do":"open","with":{"hosts":1}}{"do":"reset","with":3}{"do":"count"}{"do":"dance"}{"do":"reset","with":"x"}`
	var out bytes.Buffer
	if err := ServeReceiver(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 || !strings.Contains(lines[0], "before open") || !strings.Contains(lines[3], `"result":0`) ||
		!strings.Contains(lines[4], "no call") || !strings.Contains(lines[5], "error") {
		t.Errorf("answers:\n%s", &out)
	}
	if err := ServeLoop(context.Background(), strings.NewReader("nonsense"), io.Discard); err == nil {
		t.Error("nonsense was taken for a call")
	}
}
