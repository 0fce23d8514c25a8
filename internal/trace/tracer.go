package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"cloudburst/internal/hub"
)

// Options configure a [Tracer]. Endpoint must be set.
type Options struct {
	Endpoint  string            // OTLP over HTTP: base URL, to which /v1/traces is added
	Headers   map[string]string // HTTP headers of each message
	Sample    float64           // share of the changes that are traced, 0 to 1
	Propagate []string          // hosts whose requests carry a traceparent; ".example.org" matches subdomains, "*" all hosts
	Version   string            // version of the program
	Node      int64
	Log       *slog.Logger
	Client    *http.Client // nil: a default client
}

// Tracer writes spans for the hub; it is a hub.Tracer. It never blocks.
type Tracer struct {
	opts   Options
	out    *exporter
	share  sdk.Sampler
	tracer oteltrace.Tracer

	mu          sync.Mutex
	singleSpans map[oteltrace.TraceID]int // number of spans of single notifications; key: trace ID of the change
}

const (
	maxSingles = 50   // maximum number of spans of single notifications of one change, from one node
	maxChanges = 1000 // maximum number of changes for which single notifications are counted
)

// New returns a Tracer. Call [Tracer.Run] to send its spans.
func New(o Options) *Tracer {
	t := &Tracer{opts: o, out: newExporter(o), share: sdk.TraceIDRatioBased(o.Sample), singleSpans: map[oteltrace.TraceID]int{}}
	about := resource.NewSchemaless(
		attribute.String("service.name", "cloudburst"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", fmt.Sprint(o.Node)),
	)
	provider := sdk.NewTracerProvider(
		// The methods of Tracer call sampled before they create a span, so the provider samples
		// every span.
		sdk.WithSampler(sdk.AlwaysSample()), sdk.WithIDGenerator(fixedIDs{}), sdk.WithResource(about), sdk.WithSpanProcessor(t.out),
	)
	t.tracer = provider.Tracer("cloudburst/internal/trace")
	return t
}

// sampled reports whether the spans of a trace are written. The decision depends on the trace ID,
// so that all nodes with the same share agree.
func (t *Tracer) sampled(id oteltrace.TraceID) bool {
	return t.share.ShouldSample(sdk.SamplingParameters{TraceID: id}).Decision == sdk.RecordAndSample
}

// ID returns the trace ID of a change for logs; "": the change is not traced.
func (t *Tracer) ID(change *hub.Topic) string {
	id := idsOf(change).trace()
	if !t.sampled(id) {
		return ""
	}
	return id.String()
}

// span is one finished step.
type span struct {
	name       string
	kind       oteltrace.SpanKind
	own        oteltrace.SpanContext // IDs that other spans refer to; invalid: no span refers to this span
	parent     oteltrace.SpanContext // IDs of the parent span; invalid: none
	begin, end time.Time
	links      []oteltrace.Link
	attrs      []attribute.KeyValue
	last       time.Time // event "last delivery"; zero: none
	failed     string    // error type; "": no error
}

func (t *Tracer) write(s span) {
	ctx := context.Background()
	if s.own.IsValid() {
		ctx = context.WithValue(ctx, fixedIDKey{}, s.own)
	}
	if s.parent.IsValid() {
		ctx = oteltrace.ContextWithRemoteSpanContext(ctx, s.parent)
	}
	_, made := t.tracer.Start(ctx, s.name, oteltrace.WithTimestamp(s.begin), oteltrace.WithSpanKind(s.kind),
		oteltrace.WithAttributes(s.attrs...), oteltrace.WithLinks(s.links...))
	if !s.last.IsZero() {
		made.AddEvent("last delivery", oteltrace.WithTimestamp(s.last))
	}
	if s.failed != "" {
		made.SetStatus(errorCode, s.failed)
	}
	made.End(oteltrace.WithTimestamp(notBefore(s.end, s.begin)))
}

// notBefore returns the later of t and after. t can be earlier than after if a clock was set back.
func notBefore(t, after time.Time) time.Time {
	if t.Before(after) {
		return after
	}
	return t
}

// admitSingle reports whether another span of a single notification may be written for the change
// with the trace ID id.
func (t *Tracer) admitSingle(id oteltrace.TraceID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.singleSpans) >= maxChanges && t.singleSpans[id] == 0 {
		clear(t.singleSpans)
	}
	t.singleSpans[id]++
	return t.singleSpans[id] <= maxSingles
}

// origin describes the cause of a ping: a request of a client, or a save on this server.
type origin struct {
	caller oteltrace.SpanContext // span context in the client's traceparent; invalid: none
	save   *Save
}

// Save describes the save of a document about which the hub notifies subscribers.
type Save struct {
	Begin, End time.Time
	Via        string // endpoint, as in event.Event.Via; "": unknown
	Kind       string // "document" or "post"
	Version    int64  // version of the document
	Bytes      int64
}

type originKey struct{}

// WithSave returns the context for the pings that follow a save.
func WithSave(ctx context.Context, s Save) context.Context {
	return context.WithValue(ctx, originKey{}, &origin{save: &s})
}

// Handler stores the traceparent of each request for the pings that it causes.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") != "" {
			ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
			if c := oteltrace.SpanContextFromContext(ctx); c.IsValid() {
				r = r.WithContext(context.WithValue(r.Context(), originKey{}, &origin{caller: c}))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Origin returns the origin of a ping in ctx.
func (t *Tracer) Origin(ctx context.Context) any {
	if o, ok := ctx.Value(originKey{}).(*origin); ok {
		return o
	}
	return nil
}

type readingKey struct{}

// Reading returns the context for a read of a feed that may find change. Fetching needs this
// context.
func (t *Tracer) Reading(ctx context.Context, change *hub.Topic) context.Context {
	if len(t.opts.Propagate) == 0 {
		return ctx
	}
	return context.WithValue(ctx, readingKey{}, change)
}

// Fetching returns the traceparent for a read at host; "": none.
func (t *Tracer) Fetching(ctx context.Context, host string) string {
	change, ok := ctx.Value(readingKey{}).(*hub.Topic)
	if !ok || !t.mayPropagate(host) {
		return ""
	}
	return t.parent(change, "fetch")
}

// Notifying returns the traceparent for a notification to host; "": none.
func (t *Tracer) Notifying(change *hub.Topic, host string) string {
	if !t.mayPropagate(host) {
		return ""
	}
	return t.parent(change, "ping")
}

func (t *Tracer) parent(change *hub.Topic, kind string) string {
	i := idsOf(change)
	if !t.sampled(i.trace()) {
		return ""
	}
	return fmt.Sprintf("00-%s-%s-01", i.trace(), i.span(kind, 0))
}

// mayPropagate reports whether requests to host may carry a traceparent.
func (t *Tracer) mayPropagate(host string) bool {
	host = strings.ToLower(host)
	for _, p := range t.opts.Propagate {
		p = strings.TrimPrefix(strings.ToLower(p), "*")
		if p == "" || host == p || strings.HasPrefix(p, ".") && strings.HasSuffix(host, p) {
			return true
		}
	}
	return false
}
