package trace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	maxQueue   = 8192 // maximum number of spans in memory
	maxBatch   = 512  // maximum number of spans in one message
	sendEvery  = time.Second
	sendWithin = 10 * time.Second
	maxAnswer  = 64 << 10
	firstWait  = time.Second // wait after the first failure; doubled after each further failure
	maxWait    = time.Minute
	maxTries   = 20 // attempts to send one message, within about 15 minutes
)

// Counts are the numbers of spans since the start.
type Counts struct {
	Exported int64 // spans that the collector accepted
	Dropped  int64 // spans lost because the queue was full, or the collector rejected them or was unreachable for too long
	Failures int64 // failed attempts to send a message
	Queued   int64 // spans in memory now
}

// exporter queues finished spans until they are sent; it is an SDK SpanProcessor. OnEnd never
// blocks: spans beyond the queue are dropped and counted.
type exporter struct {
	url    string
	header map[string]string
	client *http.Client
	log    *slog.Logger
	spans  chan sdk.ReadOnlySpan
	full   chan struct{} // signals that the queue contains a full batch
	encode *otlptrace.Exporter

	exported, dropped, failures, held atomic.Int64
	away                              bool // the last message failed; used by Run only
}

func newExporter(o Options) *exporter {
	e := &exporter{
		url: strings.TrimRight(o.Endpoint, "/"), header: o.Headers, client: o.Client, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		spans: make(chan sdk.ReadOnlySpan, maxQueue), full: make(chan struct{}, 1),
	}
	if !strings.HasSuffix(e.url, "/v1/traces") {
		e.url += "/v1/traces"
	}
	if e.client == nil {
		// The operator configures the URL, so private addresses are allowed.
		e.client = &http.Client{
			Timeout: sendWithin, Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// Do not follow redirects, because the headers may contain a password for this
			// collector.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	e.encode = otlptrace.NewUnstarted(e)
	return e
}

// OnStart implements sdk.SpanProcessor and does nothing.
func (e *exporter) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd queues a finished span, or drops the span if the queue is full.
func (e *exporter) OnEnd(s sdk.ReadOnlySpan) {
	select {
	case e.spans <- s:
	default:
		e.dropped.Add(1)
		return
	}
	if len(e.spans) >= maxBatch {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// Shutdown implements sdk.SpanProcessor. It does nothing, because Run ends with its context.
func (e *exporter) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor. It does nothing, because Run sends all spans on its own.
func (e *exporter) ForceFlush(context.Context) error { return nil }

// Run sends spans until ctx ends. Then it sends the remaining spans until last ends.
func (t *Tracer) Run(ctx, last context.Context) { t.out.run(ctx, last) }

// Counts returns the numbers of spans since the start.
func (t *Tracer) Counts() Counts {
	e := t.out
	return Counts{e.exported.Load(), e.dropped.Load(), e.failures.Load(), int64(len(e.spans)) + e.held.Load()}
}

func (e *exporter) run(ctx, last context.Context) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-e.full:
		case <-tick.C:
		}
		for ctx.Err() == nil { // every taken span is sent or counted as dropped
			batch := e.take()
			if len(batch) > 0 {
				e.deliver(ctx, last, batch)
			}
			if len(batch) < maxBatch {
				break
			}
		}
	}
	for batch := e.take(); len(batch) > 0; batch = e.take() {
		if last.Err() != nil || e.send(last, batch) != nil {
			e.drop(batch)
		}
	}
	e.client.CloseIdleConnections()
}

// take removes and returns at most maxBatch spans from the queue. It does not wait for spans.
func (e *exporter) take() []sdk.ReadOnlySpan {
	var batch []sdk.ReadOnlySpan
	for len(batch) < maxBatch {
		select {
		case s := <-e.spans:
			batch = append(batch, s)
			continue
		default:
		}
		break
	}
	return batch
}

// deliver sends a batch and retries while the collector is unreachable. After ctx ends, it tries at
// most once more.
func (e *exporter) deliver(ctx, last context.Context, batch []sdk.ReadOnlySpan) {
	e.held.Store(int64(len(batch)))
	defer e.held.Store(0)
	wait := firstWait
	for try := 1; ; try++ {
		err := e.send(last, batch)
		e.logState(err)
		if err == nil {
			return
		}
		if r, ok := errors.AsType[*rejection](err); ok && r.final() || try == maxTries || try > 1 && ctx.Err() != nil {
			e.drop(batch)
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		wait = min(2*wait, maxWait)
	}
}

func (e *exporter) drop(batch []sdk.ReadOnlySpan) { e.dropped.Add(int64(len(batch))) }

// logState logs once when the collector becomes unreachable and once when it is back.
func (e *exporter) logState(err error) {
	switch {
	case err != nil && !e.away:
		e.log.Warn("cannot send traces; retrying, and dropping spans that exceed the queue", "err", err)
	case err == nil && e.away:
		e.log.Info("traces can be sent again", "dropped", e.dropped.Load())
	}
	e.away = err != nil
}

// send sends one message. It counts spans that the collector rejects as dropped.
func (e *exporter) send(ctx context.Context, batch []sdk.ReadOnlySpan) error {
	rejected := new(int64)
	if err := e.encode.ExportSpans(context.WithValue(ctx, rejectedKey{}, rejected), batch); err != nil {
		e.failures.Add(1)
		return err
	}
	n := min(*rejected, int64(len(batch)))
	e.exported.Add(int64(len(batch)) - n)
	e.dropped.Add(n)
	return nil
}

type rejectedKey struct{}

// Start implements otlptrace.Client and does nothing.
func (e *exporter) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client and does nothing.
func (e *exporter) Stop(context.Context) error { return nil }

// rejection is an unsuccessful response of the collector.
type rejection struct {
	status int
	text   string
}

func (r *rejection) Error() string {
	return fmt.Sprintf("the collector answered %d %s: %s", r.status, http.StatusText(r.status), r.text)
}

// final reports whether the collector would also reject a retry.
func (r *rejection) final() bool {
	return r.status < 500 && r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// UploadTraces sends spans as protobuf by OTLP over HTTP, for the SDK's exporter.
func (e *exporter) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the same encoding as ExportTraceServiceRequest, whose package needs gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range e.header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return &rejection{res.StatusCode, clip(answer)}
	}
	if err != nil {
		return err
	}
	if n := rejectedSpans(answer); n > 0 {
		e.log.Warn("the collector refused spans", "spans", n)
		if count, ok := ctx.Value(rejectedKey{}).(*int64); ok {
			*count = n
		}
	}
	return nil
}

// rejectedSpans returns partial_success.rejected_spans of an ExportTraceServiceResponse.
func rejectedSpans(answer []byte) int64 {
	partial := field(answer, protowire.BytesType)
	part, n := protowire.ConsumeBytes(partial)
	if n < 0 {
		return 0
	}
	v, n := protowire.ConsumeVarint(field(part, protowire.VarintType))
	if n < 0 || int64(v) < 0 {
		return 0
	}
	return int64(v)
}

// field returns the part of the message b that begins with the value of field 1. It returns nil if
// there is no field 1 of the type want.
func field(b []byte, want protowire.Type) []byte {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		if num == 1 && typ == want {
			return b[n:]
		}
		skip := protowire.ConsumeFieldValue(num, typ, b[n:])
		if skip < 0 {
			return nil
		}
		b = b[n+skip:]
	}
	return nil
}

func clip(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), 200)]), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}
