package trace

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"cloudburst/internal/hub"
)

func changeOf(version int64) *hub.Topic {
	return &hub.Topic{ID: 7, URL: "https://user:pw@feeds.example/a?key=hush", Version: version, ChangedAt: time.UnixMilli(1_800_000_000_000)}
}

func TestAllNodesChooseTheSameTraceIDAndSampling(t *testing.T) {
	t.Parallel()
	const all = 4000
	a, b := New(Options{Endpoint: "http://a.example", Sample: 0.25, Node: 1}), New(Options{Endpoint: "http://a.example", Sample: 0.25, Node: 2})
	some, names := 0, map[string]bool{}
	for v := range int64(all) {
		id := a.ID(changeOf(v))
		if later := b.ID(changeOf(v)); later != id {
			t.Fatalf("version %d is %q on the one and %q on the other", v, id, later)
		}
		if id != "" {
			some++
		}
		names[id] = true
	}
	if some < all/5 || some > all/3 || len(names) != some+1 {
		t.Errorf("of %d changes %d are traced, under %d names", all, some, len(names)-1)
	}
	if never := New(Options{Endpoint: "http://a.example"}); never.ID(changeOf(1)) != "" {
		t.Error("a share of 0 traces something")
	}
}

func TestTraceparentIsSentToPropagateHostsOnly(t *testing.T) {
	t.Parallel()
	o := Options{Endpoint: "http://a.example", Sample: 1, Propagate: []string{"own.example", ".net.example"}}
	tracer := New(o)
	for host, want := range map[string]bool{
		"own.example": true, "OWN.example": true, "a.net.example": true, "net.example": false, "notown.example": false, "": false,
	} {
		if got := tracer.Notifying(changeOf(1), host) != ""; got != want {
			t.Errorf("a notification to %q carries a traceparent: %v", host, got)
		}
		ctx := tracer.Reading(t.Context(), changeOf(1))
		if got := tracer.Fetching(ctx, host) != ""; got != want {
			t.Errorf("a reading at %q carries a traceparent: %v", host, got)
		}
	}
	o.Propagate = nil
	if New(o).Notifying(changeOf(1), "own.example") != "" {
		t.Error("by default a notification carries a traceparent")
	}
}

// sendTo runs a tracer against a collector until done reports that the spans of n changes were
// sent.
func sendTo(t *testing.T, n int, answer http.HandlerFunc, done func(Counts) bool) Counts {
	t.Helper()
	srv := httptest.NewServer(answer)
	defer srv.Close()
	tracer := New(Options{Endpoint: srv.URL + "/", Sample: 1, Version: "9"})
	now := time.Now()
	for v := range int64(n) {
		tracer.Changed(changeOf(v), hub.FoundChange{Sent: now, Read: now, Done: now})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); tracer.Run(ctx, t.Context()) }()
	for begin := time.Now(); !done(tracer.Counts()) && time.Since(begin) < 3*time.Minute; {
		<-time.After(10 * time.Millisecond)
	}
	cancel()
	<-ended
	return tracer.Counts()
}

func read(r *http.Request) (spans int, text string) {
	body, _ := io.ReadAll(r.Body)
	var all tracepb.TracesData
	if proto.Unmarshal(body, &all) == nil && len(all.ResourceSpans) > 0 {
		spans = len(all.ResourceSpans[0].ScopeSpans[0].Spans)
	}
	return spans, string(body)
}

func TestRejectedSpansAreCounted(t *testing.T) {
	t.Parallel()
	c := sendTo(t, 2, func(w http.ResponseWriter, r *http.Request) {
		if _, text := read(r); strings.Contains(text, "hush") || strings.Contains(text, "pw@") || !strings.Contains(text, "https://feeds.example/a") {
			t.Errorf("sent %q", text)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 4)
		_, _ = w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part))
	}, func(c Counts) bool { return c.Exported+c.Dropped == 6 })
	if c != (Counts{Exported: 2, Dropped: 4}) {
		t.Errorf("%+v", c)
	}
	c = sendTo(t, 1, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, func(c Counts) bool { return c.Dropped == 3 })
	if c.Dropped != 3 || c.Failures != 1 {
		t.Errorf("refused as a whole: %+v", c)
	}
}

func TestQueuedSpansAreSentWhenCollectorReturns(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := sendTo(t, 1, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}, func(c Counts) bool { return c.Exported == 3 })
	if c != (Counts{Exported: 3, Failures: 1}) {
		t.Errorf("%+v", c)
	}
}

func TestFullQueueDropsSpansWithoutBlocking(t *testing.T) {
	t.Parallel()
	tracer := New(Options{Endpoint: "http://127.0.0.1:9", Sample: 1})
	for range maxQueue + 10 {
		tracer.BatchDone(changeOf(1), hub.BatchNotified{})
	}
	for range 3 * maxSingles {
		tracer.AttemptDone(changeOf(1), hub.Attempt{})
	}
	if c := tracer.Counts(); c.Queued != maxQueue || c.Dropped != 10+maxSingles {
		t.Errorf("%+v", c)
	}
}

// TestRemainingSpansAreSentAtShutdown stops a tracer that has not sent anything yet.
func TestRemainingSpansAreSentAtShutdown(t *testing.T) {
	t.Parallel()
	var got atomic.Int64
	c := sendTo(t, 300, func(_ http.ResponseWriter, r *http.Request) { n, _ := read(r); got.Add(int64(n)) }, func(Counts) bool { return true })
	if got.Load() != 900 || c.Exported != 900 {
		t.Errorf("%d spans arrived; %+v", got.Load(), c)
	}
}

func FuzzCollectorResponse(f *testing.F) {
	f.Add([]byte{10, 2, 8, 4})
	f.Add([]byte{18, 1, 0, 10, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if rejectedSpans(b) < 0 {
			t.Error("a negative number of rejected spans")
		}
	})
}
