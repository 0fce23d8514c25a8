package shell

import (
	"context"
	"net/http"
	"time"

	"cloudburst/internal/live"
)

// ServeLive opens a live stream. run writes the stream until run returns. If MaxListeners streams
// are open, the client receives status 503.
func (s *Shell) ServeLive(rw http.ResponseWriter, r *http.Request, run func(out *live.Stream) error) {
	limit := int64(s.MaxListeners)
	if limit <= 0 {
		limit = defaultListeners
	}
	defer s.listening.Add(-1)
	if s.listening.Add(1) > limit {
		rw.Header().Set("Retry-After", "30")
		http.Error(rw, "The server has reached its limit of live pages. Try again in half a minute.", http.StatusServiceUnavailable)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer the stream
	if r.Method == http.MethodHead {
		return
	}
	out := live.Open(rw, live.Options{Done: s.Done, Heartbeat: s.Heartbeat, WriteTimeout: writeTimeout})
	defer out.Close()
	if err := run(out); err != nil && r.Context().Err() == nil {
		s.Logger().Debug("a live stream was closed", "path", r.URL.Path, "err", err)
	}
}

const MinPause = 200 * time.Millisecond // minimum interval between two reads of the store for live pages

// UntilStopped returns a context that ends when the program stops or cancel is called.
func (s *Shell) UntilStopped() (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.Background())
	if s.Done != nil {
		go func() {
			select {
			case <-s.Done:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}
