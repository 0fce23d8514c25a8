package hubui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/web/shell"
)

const (
	StreamBuffer = 256  // events that may wait for one reader
	streamBatch  = 64   // events in one write
	streamMissed = 5000 // events that a reader who comes back is given; more, and he is told to start afresh
)

// stream sends the log live as server-sent events. The id of each is node:seq; a
// reader who comes back with Last-Event-ID (or, the first time, since=) gets what
// he missed from the store and then goes on live. Data is the public event as
// JSON, or with as=html the log's line.
func (s *Pages) stream(rw http.ResponseWriter, r *http.Request) {
	q := parseLogQuery(r.URL.Query())
	if q.bad() {
		http.Error(rw, q.TopicError+q.KindError+q.PlaceError, http.StatusBadRequest)
		return
	}
	s.ServeLive(rw, r, func(out shell.EventStream) error {
		l := &live{Pages: s, EventStream: out, q: q, html: r.URL.Query().Get("as") == "html"}
		return l.run(r.Context(), r)
	})
}

// live is one reader of the stream.
type live struct {
	*Pages
	shell.EventStream
	q    logQuery
	html bool
	last mark // what the reader has seen last
}

func (l *live) run(ctx context.Context, r *http.Request) error {
	heard := l.Bus.Listen(StreamBuffer) // before the reader learns that he is heard
	defer func() { heard.Close() }()
	if err := l.begin(ctx, r); err != nil {
		return err
	}
	if err := l.Write([]byte("retry: 3000\n\n")); err != nil {
		return err
	}
	beat := time.NewTicker(l.HeartbeatInterval())
	defer beat.Stop()
	for {
		sent, err := l.catchUp(ctx)
		if err != nil {
			return err
		}
		if err := l.follow(ctx, heard, beat.C, sent); err != nil {
			return err
		}
		if ctx.Err() != nil || l.Stopping() {
			return nil
		}
		// It was too slow for the bus. What it missed is in the store.
		heard.Close()
		heard = l.Bus.Listen(StreamBuffer)
	}
}

// begin finds where the reader stands: at what he names, else at the newest event.
func (l *live) begin(ctx context.Context, r *http.Request) error {
	for _, named := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")} {
		if m, ok := parseMark(named); ok {
			l.last = m
			return nil
		}
	}
	newest, err := l.Store.Events(ctx, l.q.store(1))
	if err == nil && len(newest) > 0 {
		l.last = mark{newest[0].Node, newest[0].Seq}
	}
	return err
}

// catchUp sends what the store has after l.last, and returns what it sent.
func (l *live) catchUp(ctx context.Context) (map[mark]bool, error) {
	missed, whole, err := l.missed(ctx)
	if err != nil {
		return nil, err
	}
	if !whole {
		if err := l.Write([]byte("event: reset\ndata: More happened than can be caught up with. Load the log again.\n\n")); err != nil {
			return nil, err
		}
		if len(missed) > 0 {
			newest := missed[len(missed)-1]
			l.last = mark{newest.Node, newest.Seq}
		}
		return nil, nil
	}
	sent := make(map[mark]bool, len(missed))
	for batch := range slices.Chunk(missed, streamBatch) {
		if err := l.send(batch); err != nil {
			return nil, err
		}
	}
	for _, e := range missed {
		sent[mark{e.Node, e.Seq}] = true
	}
	return sent, nil
}

// missed walks back from the newest event to l.last and returns what lies
// between, oldest first. Not whole: l.last was not found, and something precedes
// what is returned. The zero mark stands for an empty log.
func (l *live) missed(ctx context.Context) (events []event.Event, whole bool, err error) {
	want := l.q.store(100)
	for len(events) < streamMissed {
		page, err := l.Store.Events(ctx, want)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			if (mark{e.Node, e.Seq}) == l.last {
				slices.Reverse(events)
				return events, true, nil
			}
			events = append(events, e)
		}
		if len(page) < want.Limit {
			slices.Reverse(events)
			return events, l.last == mark{}, nil
		}
		want.Before = page[len(page)-1].Cursor()
		want.Limit = 1000
	}
	slices.Reverse(events)
	return events, false, nil
}

// follow sends what the bus brings until it stops bringing.
func (l *live) follow(ctx context.Context, heard *event.Listener, beat <-chan time.Time, sent map[mark]bool) error {
	batch := make([]event.Event, 0, streamBatch)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.Done:
			return nil
		case <-beat:
			if err := l.Write([]byte(": still here\n\n")); err != nil {
				return err
			}
		case e, ok := <-heard.C():
			batch = batch[:0]
			for ok {
				if m := (mark{e.Node, e.Seq}); !sent[m] && l.q.matches(e) {
					batch = append(batch, e)
				}
				if len(batch) == cap(batch) || len(heard.C()) == 0 {
					break
				}
				e, ok = <-heard.C()
			}
			if err := l.send(batch); err != nil {
				return err
			}
			if !ok {
				return nil
			}
		}
	}
}

// send writes events in one piece.
func (l *live) send(events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	var out bytes.Buffer
	for _, e := range events {
		data, err := l.data(e)
		if err != nil {
			return fmt.Errorf("write event %d:%d: %w", e.Node, e.Seq, err)
		}
		l.last = mark{e.Node, e.Seq}
		shell.WriteEvent(&out, l.last.String(), data)
	}
	return l.Write(out.Bytes())
}

func (l *live) data(e event.Event) ([]byte, error) {
	if l.html {
		return l.rendered(e)
	}
	return json.Marshal(e.Public())
}
