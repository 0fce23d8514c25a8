package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"cloudburst/internal/api"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/hub"
	"cloudburst/internal/text"
	"cloudburst/internal/trace"
)

const (
	stopWithin  = 9500 * time.Millisecond // maximum time from the stop signal until the last traces are sent
	flushWithin = 2 * time.Second         // maximum time for sending the last traces
)

// newTracer creates the exporter of traces, if the settings contain an endpoint for traces.
func (a *App) newTracer(fetcher *hubhttp.Fetcher, notifier *hubhttp.Notifier) {
	c := a.cfg.Trace
	if c.Endpoint == "" {
		return
	}
	a.tracer = trace.New(trace.Options{
		Endpoint: c.Endpoint, Headers: c.Headers, Sample: c.Sample, Propagate: c.Propagate,
		Version: Version, Node: a.hub.Bus.Node(), Log: a.log,
	})
	a.hub.Trace = a.tracer
	if len(c.Propagate) == 0 {
		return
	}
	fetcher.Trace = func(ctx context.Context, url string) string { return a.tracer.Fetching(ctx, text.Hostname(url)) }
	notifier.Trace = func(topic *hub.Topic, callback string) string {
		return a.tracer.Notifying(topic, text.Hostname(callback))
	}
}

// sendTraces exports spans until the caller calls stop after the last span. ctx ends when the
// shutdown begins.
func (a *App) sendTraces(ctx context.Context) (stop func()) {
	if a.tracer == nil {
		return func() {}
	}
	running, end := context.WithCancel(context.Background())
	last, give := context.WithCancel(context.Background())
	until := make(chan time.Time, 1)
	forget := context.AfterFunc(ctx, func() { until <- time.Now().Add(stopWithin) })
	var group sync.WaitGroup
	group.Go(func() { a.tracer.Run(running, last) })
	return func() {
		left := flushWithin
		if !forget() {
			left = max(min(left, time.Until(<-until)), 100*time.Millisecond)
		}
		timer := time.AfterFunc(left, give)
		end()
		group.Wait()
		timer.Stop()
		give()
	}
}

// traced returns a handler that reads the trace context of requests, if tracing is on.
func (a *App) traced(next http.Handler) http.Handler {
	if a.tracer == nil {
		return next
	}
	return trace.Handler(next)
}

// tracedSave adds the trace of a saved feed to the context of its notification.
func (a *App) tracedSave(ctx context.Context, f author.Feed) context.Context {
	if a.tracer == nil {
		return ctx
	}
	s := trace.Save{Begin: f.SavedAt, End: a.clock.Now(), Version: f.Version, Bytes: f.Size}
	if b, ok := author.SaveOriginOf(ctx); ok {
		s.Begin, s.Via, s.Kind = b.At, b.Via, b.Kind
	} else {
		s.End = f.SavedAt // an earlier run saved this version, so only the notification belongs to this run
	}
	return trace.WithSave(ctx, s)
}

// traceCounts returns a function that returns the counters of spans. nil: tracing is off.
func (a *App) traceCounts() func() api.TraceCounts {
	if a.tracer == nil {
		return nil
	}
	return func() api.TraceCounts {
		c := a.tracer.Counts()
		return api.TraceCounts{Exported: c.Exported, Dropped: c.Dropped, Failures: c.Failures, Queued: c.Queued}
	}
}
