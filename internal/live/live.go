// Package live implements live tails: a stream of server-sent events to one client, and the loop
// that follows a channel until the stream ends.
//
// A handler sets its headers, opens a [Stream], writes the events that the client missed, and
// calls [Follow].
package live

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

// ErrSlow means that the sender dropped a client that did not keep up.
var ErrSlow = errors.New("the client is too slow")

// Options of a stream. Heartbeat and WriteTimeout must be set.
type Options struct {
	Done         <-chan struct{} // closed when the server stops; nil: never
	Heartbeat    time.Duration   // time between two comments, which show the client that an idle stream is open
	WriteTimeout time.Duration   // maximum time for which a client may block one write
}

// Stream is one open stream of server-sent events to one client. Use [Open].
type Stream struct {
	// Beat runs before each heartbeat. If it returns false, the stream ends. It may be nil.
	Beat func() bool
	// When Wake delivers a time, [Follow] calls Woken. Both may be nil.
	Wake  <-chan time.Time
	Woken func() error

	options Options
	out     http.ResponseWriter
	control *http.ResponseController
}

// Open returns the stream of one response. The caller sets the headers before, and closes the
// stream afterwards.
func Open(rw http.ResponseWriter, o Options) *Stream {
	return &Stream{options: o, out: rw, control: http.NewResponseController(rw)}
}

// Close sets a deadline for writing the end of the response.
func (s *Stream) Close() { _ = s.extend() }

// Write writes b, which may stay in a buffer until Flush.
func (s *Stream) Write(b []byte) (int, error) {
	if err := s.extend(); err != nil {
		return 0, err
	}
	return s.out.Write(b)
}

// Flush sends everything that was written.
func (s *Stream) Flush() error {
	if err := s.extend(); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	// Clear the deadline: over HTTP/2, a deadline that passes while nothing is written ends the
	// stream.
	return s.setDeadline(time.Time{})
}

// Send writes b and flushes it.
func (s *Stream) Send(b []byte) error {
	if _, err := s.Write(b); err != nil {
		return err
	}
	return s.Flush()
}

// Event writes one event, which may stay in a buffer until Flush.
func (s *Stream) Event(id, kind string, data []byte) error {
	_, err := s.Write(AppendEvent(nil, id, kind, data))
	return err
}

// Comment sends a comment, which clients ignore.
func (s *Stream) Comment(text string) error { return s.Send([]byte(": " + text + "\n\n")) }

func (s *Stream) extend() error { return s.setDeadline(time.Now().Add(s.options.WriteTimeout)) }

func (s *Stream) setDeadline(at time.Time) error {
	// A response without a connection, as in a test, has no deadline.
	if err := s.control.SetWriteDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// AppendEvent appends one event to b. It writes no line for an empty id or kind.
func AppendEvent(b []byte, id, kind string, data []byte) []byte {
	if id != "" {
		b = append(b, "id: "+id+"\n"...)
	}
	if kind != "" {
		b = append(b, "event: "+kind+"\n"...)
	}
	for line := range bytes.Lines(data) {
		b = append(b, "data: "...)
		b = append(b, bytes.TrimRight(line, "\r\n")...)
		b = append(b, '\n')
	}
	return append(b, '\n')
}

// LastSeen returns the position that a client sent in the header Last-Event-ID or, in its first
// request, in the parameter since. It returns the first value that parse accepts.
func LastSeen[T any](r *http.Request, parse func(string) (T, bool)) (at T, known bool) {
	for _, id := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")} {
		if id == "" {
			continue
		}
		if at, known = parse(id); known {
			return at, true
		}
	}
	var none T
	return none, false
}

// Follow passes each value of from to take until the stream ends, and sends heartbeats. It returns
// nil when the client leaves, the server stops or Beat returns false. It returns ErrSlow when the
// sender closed from. Otherwise it returns the error of a write, of take or of Woken.
func Follow[T any](ctx context.Context, s *Stream, from <-chan T, take func(T) error) error {
	beat := time.NewTicker(s.options.Heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-s.options.Done:
			return nil
		case <-beat.C:
			if s.Beat != nil && !s.Beat() {
				return nil
			}
			err = s.Comment("still here")
		case <-s.Wake:
			err = s.Woken()
		case v, open := <-from:
			if open {
				err = take(v)
			} else if err = ErrSlow; s.ended(ctx) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// ended reports whether the client left or the server is stopping.
func (s *Stream) ended(ctx context.Context) bool {
	select {
	case <-s.options.Done:
		return true
	default:
		return ctx.Err() != nil
	}
}
