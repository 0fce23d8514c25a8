package hubui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/live"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// changesStream sends the recent changes live as server-sent events. The id of an event is its
// cursor. A client that sends Last-Event-ID or since= first receives the changes that it missed.
// The data is the change as JSON, or with as=html the line of the page.
func (s *Pages) changesStream(rw http.ResponseWriter, r *http.Request) {
	q := parseChangesQuery(r.URL.Query())
	if q.PlaceError != "" {
		http.Error(rw, q.PlaceError, http.StatusBadRequest)
		return
	}
	s.ServeLive(rw, r, func(out *live.Stream) error {
		w := &changeWatch{Pages: s, Stream: out, q: q, lang: s.Locale(r), html: r.URL.Query().Get("as") == "html"}
		return w.run(r.Context(), r)
	})
}

// changeWatch is one client of the stream.
type changeWatch struct {
	*Pages
	*live.Stream
	q    changesQuery
	lang *locale.Locale
	html bool
	sent map[eventKey]bool // key: change that catchUp has sent; the live stream may deliver it again
}

func (w *changeWatch) run(ctx context.Context, r *http.Request) error {
	from, err := w.from(ctx, r)
	if err != nil {
		return err
	}
	reader, err := w.join(ctx)
	if err != nil {
		return err
	}
	defer w.leave(reader)
	if err := w.Send([]byte("retry: 3000\n\n")); err != nil { // the client has joined the tail above, so it misses no later change
		return err
	}
	if err := w.catchUp(ctx, from); err != nil {
		return err
	}
	w.Beat = func() bool {
		w.sent = nil
		return true
	}
	send := func(list []hub.Change) error { return w.send(ctx, list) }
	return live.Follow(ctx, w.Stream, reader.c, send) // Follow disconnects a slow client; the client reconnects with its last id and misses nothing
}

// from returns the cursor that the client sent, or the cursor of the newest line.
func (w *changeWatch) from(ctx context.Context, r *http.Request) (event.Cursor, error) {
	if c, known := live.LastSeen(r, shell.ParseCursor); known {
		return c, nil
	}
	newest, err := w.Store.Changes(ctx, hub.ChangeQuery{Limit: 1})
	if err != nil || len(newest) == 0 {
		return event.Cursor{}, err
	}
	return newest[0].Cursor(), nil
}

// catchUp sends the stored changes after from.
func (w *changeWatch) catchUp(ctx context.Context, from event.Cursor) error {
	missed, err := w.Store.Changes(ctx, hub.ChangeQuery{After: from, Text: w.q.Text, Forward: true, Limit: MaxMissedChanges + 1})
	if err != nil {
		return err
	}
	if len(missed) > MaxMissedChanges {
		return w.Send([]byte("event: reset\ndata: Too many changes were missed. Reload the list.\n\n"))
	}
	for batch := range slices.Chunk(missed, streamBatch) {
		if err := w.send(ctx, batch); err != nil {
			return err
		}
	}
	w.sent = make(map[eventKey]bool, len(missed))
	for _, c := range missed {
		w.sent[eventKey{c.Node, c.Seq}] = true
	}
	return nil
}

// send writes the lines that match the client's filter, in one piece.
func (w *changeWatch) send(ctx context.Context, list []hub.Change) error {
	var titles map[string]string
	if w.html {
		titles = w.changeTitles(ctx, list)
	}
	var out []byte
	for _, c := range list {
		if w.sent[eventKey{c.Node, c.Seq}] || !w.q.matches(c) {
			continue
		}
		data, err := w.data(c, titles)
		if err != nil {
			return fmt.Errorf("write change %s: %w", shell.FormatCursor(c.Cursor()), err)
		}
		out = live.AppendEvent(out, shell.FormatCursor(c.Cursor()), "", data)
	}
	if len(out) == 0 {
		return nil
	}
	return w.Send(out)
}

// changeData is the JSON form of a change.
type changeData struct {
	At   time.Time `json:"at"`
	Name string    `json:"name,omitempty"`
	URL  string    `json:"url"`
	Feed string    `json:"feed,omitempty"`
	Page string    `json:"page,omitempty"`
	Tags []string  `json:"tags,omitempty"`
	Via  string    `json:"door,omitempty"`
}

func (w *changeWatch) data(c hub.Change, titles map[string]string) ([]byte, error) {
	if w.html {
		return w.line(w.lang, c, titles)
	}
	return json.Marshal(changeData{c.At.UTC(), c.Name, c.URL, c.Feed, c.Page, c.Tags, c.Via})
}
