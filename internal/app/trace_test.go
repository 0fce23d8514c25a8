package app_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
)

// collector is a server that receives traces, as Jaeger does.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []seenSpan
	auth  string
	raw   bytes.Buffer // all bytes that the server received
}

type seenSpan struct {
	*tracepb.Span
	node string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var all tracepb.TracesData
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &all) != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.auth = r.Header.Get("Authorization")
		c.raw.Write(body)
		for _, res := range all.ResourceSpans {
			for _, scope := range res.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans = append(c.spans, seenSpan{s, attributesOf(res.Resource.Attributes)["service.instance.id"]})
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// keyValue is the interface of an attribute of a span or resource.
type keyValue interface {
	comparable
	GetKey() string
}

func attributesOf[T keyValue](list []T) map[string]string {
	all := map[string]string{}
	for _, kv := range list {
		text, _ := json.Marshal(kv) // after an error, the attribute has no value, and the test of this attribute fails
		var v struct {
			Value struct{ Value map[string]any }
		}
		_ = json.Unmarshal(text, &v)
		for _, value := range v.Value.Value {
			all[kv.GetKey()] = fmt.Sprint(value)
		}
	}
	return all
}

func (s seenSpan) attr(name string) string { return attributesOf(s.Attributes)[name] }
func (s seenSpan) parent() string          { return hex.EncodeToString(s.ParentSpanId) }
func (s seenSpan) id() string              { return hex.EncodeToString(s.SpanId) }

// named returns the spans with a name that have arrived so far, in order of their start.
func (c *collector) named(name string) []seenSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []seenSpan
	for _, s := range c.spans {
		if s.Name == name {
			some = append(some, s)
		}
	}
	slices.SortFunc(some, func(a, b seenSpan) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return some
}

// await waits until n spans with a name have arrived.
func (c *collector) await(t *testing.T, name string, n int) []seenSpan {
	t.Helper()
	wait(t, fmt.Sprintf("%d spans %s", n, name), func() bool { return len(c.named(name)) >= n })
	return c.named(name)
}

// inOneTrace fails the test if a span ends before it begins, or if the spans belong to different
// traces.
func inOneTrace(t *testing.T, spans ...seenSpan) {
	t.Helper()
	for _, s := range spans {
		if s.EndTimeUnixNano < s.StartTimeUnixNano || !bytes.Equal(s.TraceId, spans[0].TraceId) {
			t.Errorf("%s: %d to %d, trace %x, not %x", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, s.TraceId, spans[0].TraceId)
		}
	}
}

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceOfAChangeCoversPingToLastDelivery(t *testing.T) {
	t.Parallel()
	const all = 700
	c := newCollector(t)
	cfg := conf(t, t.TempDir())
	cfg.Trace.Endpoint, cfg.Trace.Headers, cfg.Trace.Sample = c.URL, map[string]string{"Authorization": "Bearer x"}, 1
	cfg.Hub.Retry = []time.Duration{50 * time.Millisecond}
	var lines lockedBuffer
	r := startWith(t, cfg, slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})))
	var seen atomic.Bool
	many := newCallbacks(t, 4, func(r *http.Request, _ string, _ int) {
		if r.Header.Get("Traceparent") != "" {
			seen.Store(true)
		}
	})
	var asked atomic.Int64
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer ill.Close()
	f := newFeed(t)
	topic := f.URL + "/rss.xml?key=hush"
	many.follow(t, r, topic, all)
	(&manyCallbacks{bases: []string{ill.URL + "/secret"}}).follow(t, r, topic, 1)
	req, err := http.NewRequest(http.MethodPost, r.base+"/rsscloud/ping", strings.NewReader("url="+strings.ReplaceAll(topic, "?", "%3F")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Traceparent", caller)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := many.count(); return notified == all })

	part := c.await(t, "part", 1)[0]
	retry, pages := c.await(t, "retry", 1)[0], c.await(t, "page", 3)
	tries := c.await(t, "delivery", 1)
	pings, fetch, commit := c.await(t, "ping", 2), c.await(t, "fetch", 1)[0], c.await(t, "commit", 1)[0]
	i := slices.IndexFunc(pings, func(s seenSpan) bool { return len(s.ParentSpanId) == 0 })
	if i < 0 {
		t.Fatal("no ping is the root")
	}
	ping, his := pings[i], pings[1-i]
	inOneTrace(t, append([]seenSpan{ping, fetch, commit, part, retry, tries[0]}, pages...)...)
	for _, s := range []seenSpan{fetch, commit, part, retry} {
		if s.parent() != ping.id() {
			t.Errorf("%s is below %s, not below the ping", s.Name, s.parent())
		}
	}
	sent := 0
	for _, p := range pages {
		for _, what := range []string{"sent", "failed", "parked"} { // on a busy machine, the hub parks some of the deliveries
			n, err := strconv.Atoi(p.attr("cloudburst." + what))
			if err != nil {
				t.Error(err)
			}
			sent += n
		}
		if p.parent() != part.id() || p.StartTimeUnixNano < commit.EndTimeUnixNano-uint64(time.Second) {
			t.Errorf("page %s is below %s", p.attr("cloudburst.page"), p.parent())
		}
	}
	i = slices.IndexFunc(tries, func(s seenSpan) bool { return s.attr("error.type") == "503" })
	if sent != all+1 || i < 0 || tries[i].parent() != part.id() {
		t.Errorf("%d in pages; single ones %v", sent, tries)
	}
	if !(ping.StartTimeUnixNano <= fetch.StartTimeUnixNano && fetch.EndTimeUnixNano <= commit.EndTimeUnixNano && commit.EndTimeUnixNano <= part.EndTimeUnixNano) {
		t.Error("the steps are not in order")
	}
	if len(part.Events) != 1 || part.Events[0].Name != "last delivery" || part.Events[0].TimeUnixNano > part.EndTimeUnixNano || part.attr("cloudburst.last_delivery_ms") == "" {
		t.Errorf("the last delivery is %v", part.Events)
	}
	if ping.attr("cloudburst.door") != "rest" || ping.attr("cloudburst.protocol") != "rsscloud" || ping.attr("cloudburst.topic") != f.URL+"/rss.xml" || fetch.attr("http.response.status_code") != "200" {
		t.Errorf("the ping has %v, the fetch %v", ping.Attributes, fetch.Attributes)
	}
	if hex.EncodeToString(his.TraceId) != caller[3:35] || his.parent() != caller[36:52] || len(his.Links) != 1 || !bytes.Equal(his.Links[0].SpanId, ping.SpanId) || len(ping.Links) != 1 {
		t.Errorf("in the caller's trace: %v", his)
	}
	if id := hex.EncodeToString(part.TraceId); strings.Count(lines.String(), id) < 2 {
		t.Errorf("the log does not name the trace %s", id)
	}
	if seen.Load() || c.auth != "Bearer x" || bytes.Contains(c.raw.Bytes(), []byte("hush")) || bytes.Contains(c.raw.Bytes(), []byte("secret")) {
		t.Errorf("subscribers received trace headers: %v; the collector got authorization %q, or private data was exported", seen.Load(), c.auth)
	}
	wait(t, "the spans are counted", func() bool {
		_, text := get(t, r.admin+"/metrics")
		return strings.Contains(text, "\ncloudburst_trace_spans_dropped_total 0\n") && !strings.Contains(text, "\ncloudburst_trace_spans_total 0\n")
	})
}

// lockedBuffer is a log buffer that can be read while the program writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestDeliveriesOfTwoNodesBelongToOneTrace stops a node during the deliveries of a change. The other node
// continues the deliveries.
func TestDeliveriesOfTwoNodesBelongToOneTrace(t *testing.T) {
	t.Parallel()
	const all, before = 3000, 300
	c := newCollector(t)
	database := storetest.Postgres(t)
	node := func() *running {
		cfg := conf(t, t.TempDir())
		cfg.Database, cfg.Trace.Endpoint, cfg.Hub.MaxInFlight = database, c.URL, 64
		return start(t, cfg)
	}
	var calls atomic.Int64
	begun, stopping := make(chan struct{}), make(chan struct{})
	many := newCallbacks(t, 4, func(*http.Request, string, int) {
		n := calls.Add(1)
		if n == before {
			close(begun)
		}
		if n >= before {
			<-stopping
		}
	})
	first, second := node(), node()
	f := newFeed(t)
	many.follow(t, first, f.URL+"/rss.xml", all)
	if !accepted(first.base, f.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- first.stop() }()
	wait(t, "the first node stops", func() bool { code, _ := tryGet(first.base + "/readyz"); return code != http.StatusOK })
	close(stopping)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := many.count(); return notified == all })
	wait(t, "the second node is idle", second.idle)
	part := c.await(t, "part", 1)[0]
	ping, pages := c.await(t, "ping", 1)[0], c.await(t, "page", 3)
	inOneTrace(t, append([]seenSpan{ping, part}, pages...)...)
	nodes := map[string]int{}
	for _, p := range pages {
		nodes[p.node]++
		if p.parent() != part.id() {
			t.Errorf("a page is below %s, not below the part", p.parent())
		}
	}
	if len(nodes) != 2 || part.node == ping.node || part.attr("cloudburst.continued") != "true" || part.parent() != ping.id() {
		t.Errorf("pages of %v; the ping is of %s, the part of %s, continued %s", nodes, ping.node, part.node, part.attr("cloudburst.continued"))
	}
}

func TestTraceStartsWithTheSaveAndOmitsPrivateFeeds(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	cfg := conf(t, t.TempDir())
	cfg.Trace.Endpoint, cfg.Trace.Propagate = c.URL, []string{"127.0.0.1"}
	r := start(t, cfg)
	r.addAlice()
	public := strings.Replace(r.base, "127.0.0.1", "localhost", 1)
	parents := make(chan string, 10)
	recordingServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { parents <- r.Header.Get("Traceparent") }))
	defer recordingServer.Close()
	many := &manyCallbacks{bases: []string{recordingServer.URL}}
	many.follow(t, r, public+"/alice/rss.xml", 1)
	file := filepath.Join(t.TempDir(), "rss.xml")
	for _, name := range []string{"private/rss.xml", "rss.xml"} {
		if err := os.WriteFile(file, []byte(rssOf("hush-"+name[:3])), 0o600); err != nil {
			t.Fatal(err)
		}
		expectAnswer(t, "put", curl(t, "-u", "alice:"+alicePassword, "-T", file, r.base+"/alice/"+name), "20")
	}
	save, ping, part := c.await(t, "save", 1), c.await(t, "ping", 1), c.await(t, "part", 1)[0]
	inOneTrace(t, save[0], ping[0], part)
	if len(save) != 1 || len(ping) != 1 || len(save[0].ParentSpanId) != 0 || ping[0].parent() != save[0].id() || part.parent() != ping[0].id() {
		t.Errorf("save %v, ping %v, part %v", save, ping, part)
	}
	if save[0].attr("cloudburst.door") != "put" || save[0].attr("cloudburst.kind") != "document" {
		t.Errorf("the save has %v", save[0].Attributes)
	}
	if want := fmt.Sprintf("00-%x-%s-01", part.TraceId, ping[0].id()); <-parents != want {
		t.Errorf("the own subscriber was not notified of %s", want)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Contains(c.raw.Bytes(), []byte("private")) || bytes.Contains(c.raw.Bytes(), []byte("hush")) {
		t.Error("the collector received the private feed")
	}
}

func TestUnavailableCollectorDoesNotDelayDeliveries(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	cfg := conf(t, t.TempDir())
	cfg.Trace.Endpoint = gone.URL
	var lines lockedBuffer
	r := startWith(t, cfg, slog.New(slog.NewTextHandler(&lines, nil)))
	many := newCallbacks(t, 1, func(*http.Request, string, int) {})
	f := newFeed(t)
	many.follow(t, r, f.URL+"/rss.xml", 20)
	if !accepted(r.base, f.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := many.count(); return notified == 20 })
	wait(t, "two messages did not arrive", func() bool {
		_, text := get(t, r.admin+"/metrics")
		return strings.Contains(text, "\ncloudburst_trace_export_failures_total ") && !strings.Contains(text, "_failures_total 0\ncloudburst_trace") &&
			!strings.Contains(text, "cloudburst_trace_export_failures_total 0\n") && !strings.Contains(text, "cloudburst_trace_export_failures_total 1\n")
	})
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(lines.String(), "cannot send traces"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, lines.String())
	}
}
