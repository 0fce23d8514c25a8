package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// EventStream is the way out to one live reader: server-sent events.
type EventStream struct {
	out http.ResponseWriter
	rc  *http.ResponseController
}

// ServeLive begins a stream and lets run write it until it returns. There is a
// bound to how many readers there are, over all streams.
func (s *Shell) ServeLive(rw http.ResponseWriter, r *http.Request, run func(out EventStream) error) {
	limit := int64(s.MaxListeners)
	if limit <= 0 {
		limit = defaultListeners
	}
	defer s.listening.Add(-1)
	if s.listening.Add(1) > limit {
		rw.Header().Set("Retry-After", "30")
		http.Error(rw, "As many people as this server can serve are watching already. Try again in half a minute.", http.StatusServiceUnavailable)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies that hold answers back would hold back the news
	if r.Method == http.MethodHead {
		return
	}
	if err := run(EventStream{rw, http.NewResponseController(rw)}); err != nil && r.Context().Err() == nil {
		s.Logger().Debug("a live reader was let go", "path", r.URL.Path, "err", err)
	}
}

// HeartbeatInterval is the time between two signs of life.
func (s *Shell) HeartbeatInterval() time.Duration {
	if s.Heartbeat > 0 {
		return s.Heartbeat
	}
	return defaultHeartbeat
}

func (s *Shell) Stopping() bool {
	select {
	case <-s.Done: // nil: never
		return true
	default:
		return false
	}
}

// WriteEvent writes one event with its id to out.
func WriteEvent(out *bytes.Buffer, id string, data []byte) {
	fmt.Fprintf(out, "id: %s\n", id)
	for line := range bytes.Lines(data) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\r\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// Write sends b now. A reader who takes nothing for writeWithin is let go.
func (o EventStream) Write(b []byte) error {
	if err := o.rc.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := o.out.Write(b); err != nil {
		return err
	}
	if err := o.rc.Flush(); err != nil {
		return err
	}
	// Over HTTP/2 a deadline that passes while nothing is written ends the stream.
	return o.rc.SetWriteDeadline(time.Time{})
}

const MinPause = 200 * time.Millisecond // least time between two looks

var ErrGone = errors.New("it left, or the program ends")

// UntilStopped is a context that ends when the program stops, or with cancel.
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

var ErrSlowReader = errors.New("it does not keep up with the list")
