package hubui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"cloudburst/internal/event"
	"cloudburst/internal/live"
	"cloudburst/internal/web/locale"
)

const (
	StreamBuffer = 256  // maximum number of events that wait for one client
	streamBatch  = 64   // maximum number of events in one write
	streamMissed = 5000 // maximum number of stored events for a client that reconnects; a client that missed more reloads the page
)

// stream sends the log live as server-sent events. The id of an event is node:seq. A client that
// sends Last-Event-ID or since= first receives the events that it missed. The data is the public
// event as JSON, or with as=html the line of the log.
func (s *Pages) stream(rw http.ResponseWriter, r *http.Request) {
	q := parseLogQuery(r.URL.Query())
	if q.bad() {
		http.Error(rw, q.TopicError+q.KindError+q.PlaceError, http.StatusBadRequest)
		return
	}
	s.ServeLive(rw, r, func(out *live.Stream) error {
		l := &logWatch{Pages: s, Stream: out, q: q, lang: s.Locale(r), html: r.URL.Query().Get("as") == "html"}
		return l.run(r.Context(), r)
	})
}

// logWatch is one client of the stream.
type logWatch struct {
	*Pages
	*live.Stream
	q    logQuery
	lang *locale.Locale
	html bool
	last eventKey // the last event sent
}

func (l *logWatch) run(ctx context.Context, r *http.Request) error {
	listener := l.Bus.Listen(StreamBuffer) // listen before the first byte is sent, so that the client misses no event
	defer func() { listener.Close() }()
	if err := l.begin(ctx, r); err != nil {
		return err
	}
	if err := l.Send([]byte("retry: 3000\n\n")); err != nil {
		return err
	}
	for {
		sent, err := l.catchUp(ctx)
		if err != nil {
			return err
		}
		if err := live.Follow(ctx, l.Stream, listener.C(), l.batches(ctx, listener, sent)); !errors.Is(err, live.ErrSlow) {
			return err
		}
		// The client was too slow for the bus. The events that it missed are in the store.
		listener.Close()
		listener = l.Bus.Listen(StreamBuffer)
	}
}

// begin sets l.last to the event that the client names, else to the newest event.
func (l *logWatch) begin(ctx context.Context, r *http.Request) error {
	var known bool
	if l.last, known = live.LastSeen(r, parseEventKey); known {
		return nil
	}
	newest, err := l.Store.Events(ctx, l.q.store(1))
	if err == nil && len(newest) > 0 {
		l.last = eventKey{newest[0].Node, newest[0].Seq}
	}
	return err
}

// catchUp sends the stored events after l.last and returns the keys of the sent events.
func (l *logWatch) catchUp(ctx context.Context) (map[eventKey]bool, error) {
	missed, whole, err := l.missed(ctx)
	if err != nil {
		return nil, err
	}
	if !whole {
		if err := l.Send([]byte("event: reset\ndata: Too many events were missed. Reload the log.\n\n")); err != nil {
			return nil, err
		}
		if len(missed) > 0 {
			newest := missed[len(missed)-1]
			l.last = eventKey{newest.Node, newest.Seq}
		}
		return nil, nil
	}
	sent := make(map[eventKey]bool, len(missed))
	for batch := range slices.Chunk(missed, streamBatch) {
		if err := l.send(ctx, batch); err != nil {
			return nil, err
		}
	}
	for _, e := range missed {
		sent[eventKey{e.Node, e.Seq}] = true
	}
	return sent, nil
}

// missed reads back from the newest event to l.last and returns the events between, oldest first.
// If whole is false, l.last was not found and earlier events are missing. The zero key means that
// the log was empty.
func (l *logWatch) missed(ctx context.Context) (events []event.Event, whole bool, err error) {
	want := l.q.store(100)
	for len(events) < streamMissed {
		page, err := l.Store.Events(ctx, want)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			if (eventKey{e.Node, e.Seq}) == l.last {
				slices.Reverse(events)
				return events, true, nil
			}
			events = append(events, e)
		}
		if len(page) < want.Limit {
			slices.Reverse(events)
			return events, l.last == eventKey{}, nil
		}
		want.Before = page[len(page)-1].Cursor()
		want.Limit = 1000
	}
	slices.Reverse(events)
	return events, false, nil
}

// batches sends an event together with the events queued behind it, except those in sent.
func (l *logWatch) batches(ctx context.Context, listener *event.Listener, sent map[eventKey]bool) func(event.Event) error {
	batch := make([]event.Event, 0, streamBatch)
	return func(e event.Event) error {
		batch = batch[:0]
		for ok := true; ok; e, ok = <-listener.C() {
			if m := (eventKey{e.Node, e.Seq}); !sent[m] && l.q.matches(e) {
				batch = append(batch, e)
			}
			if len(batch) == cap(batch) || len(listener.C()) == 0 {
				break
			}
		}
		return l.send(ctx, batch)
	}
}

// send writes the events with a single write.
func (l *logWatch) send(ctx context.Context, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	var titles map[string]string
	if l.html {
		titles = l.eventTitles(ctx, events)
	}
	var out []byte
	for _, e := range events {
		data, err := l.data(e, titles)
		if err != nil {
			return fmt.Errorf("write event %d:%d: %w", e.Node, e.Seq, err)
		}
		l.last = eventKey{e.Node, e.Seq}
		out = live.AppendEvent(out, l.last.String(), "", data)
	}
	return l.Send(out)
}

func (l *logWatch) data(e event.Event, titles map[string]string) ([]byte, error) {
	if l.html {
		return l.rendered(l.lang, e, titles, l.q)
	}
	return json.Marshal(e.Public())
}
