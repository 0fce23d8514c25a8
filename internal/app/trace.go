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
	stopWithin  = 9500 * time.Millisecond // after the signal, with what is left of traces
	flushWithin = 2 * time.Second         // for those alone
)

// newTracer makes what shows the way of changes, if the operator wants to see it.
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
	notifier.Trace = func(topic hub.Topic, callback string) string {
		return a.tracer.Notifying(&topic, text.Hostname(callback))
	}
}

// sendTraces sends what is traced until the function that it returns is called, which is
// when nothing more comes. ctx ends when the program shall.
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

// traced keeps what callers say of their own traces.
func (a *App) traced(next http.Handler) http.Handler {
	if a.tracer == nil {
		return next
	}
	return trace.Handler(next)
}

// tracedSave is ctx for telling of a saved feed.
func (a *App) tracedSave(ctx context.Context, f author.Feed) context.Context {
	if a.tracer == nil {
		return ctx
	}
	s := trace.Save{Begin: f.SavedAt, End: a.clock.Now(), Version: f.Version, Bytes: f.Size}
	if b, ok := author.SaveOriginOf(ctx); ok {
		s.Begin, s.Via, s.Kind = b.At, b.Via, b.Kind
	} else {
		s.End = f.SavedAt // it was saved by an earlier run, and is told only now
	}
	return trace.WithSave(ctx, s)
}

// traceCounts is what became of spans; nil: nothing is traced.
func (a *App) traceCounts() func() api.TraceCounts {
	if a.tracer == nil {
		return nil
	}
	return func() api.TraceCounts {
		c := a.tracer.Counts()
		return api.TraceCounts{Exported: c.Exported, Dropped: c.Dropped, Failures: c.Failures, Queued: c.Queued}
	}
}
