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
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// changesStream sends the list live as server-sent events. The id of each is its
// place; a reader who comes back with Last-Event-ID (or, the first time, since=)
// gets what he missed and then goes on live. Data is the change as JSON, or with
// as=html the page's line.
func (s *Pages) changesStream(rw http.ResponseWriter, r *http.Request) {
	q := parseChangesQuery(r.URL.Query())
	if q.PlaceError != "" {
		http.Error(rw, q.PlaceError, http.StatusBadRequest)
		return
	}
	s.ServeLive(rw, r, func(out shell.EventStream) error {
		w := &changeWatch{Pages: s, EventStream: out, q: q, html: r.URL.Query().Get("as") == "html"}
		return w.run(r.Context(), r)
	})
}

// changeWatch is one reader of the stream.
type changeWatch struct {
	*Pages
	shell.EventStream
	q    changesQuery
	html bool
	sent map[mark]bool // what came from the store, until the tail is past it
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
	if err := w.Write([]byte("retry: 3000\n\n")); err != nil { // what comes from now on is heard
		return err
	}
	if err := w.catchUp(ctx, from); err != nil {
		return err
	}
	beat := time.NewTicker(w.HeartbeatInterval())
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Done: // nil: never
			return nil
		case <-beat.C:
			w.sent = nil
			if err := w.Write([]byte(": still here\n\n")); err != nil {
				return err
			}
		case list, ok := <-reader.c:
			if !ok {
				return shell.ErrSlowReader // he comes back with the last id, and loses nothing
			}
			if err := w.send(list); err != nil {
				return err
			}
		}
	}
}

// from is where the reader stands: at what he names, else at the newest line.
func (w *changeWatch) from(ctx context.Context, r *http.Request) (event.Cursor, error) {
	for _, named := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")} {
		if c, ok := shell.ParseCursor(named); ok && named != "" {
			return c, nil
		}
	}
	newest, err := w.Store.Changes(ctx, hub.ChangeQuery{Limit: 1})
	if err != nil || len(newest) == 0 {
		return event.Cursor{}, err
	}
	return newest[0].Cursor(), nil
}

// catchUp sends what the store has after from.
func (w *changeWatch) catchUp(ctx context.Context, from event.Cursor) error {
	missed, err := w.Store.Changes(ctx, hub.ChangeQuery{After: from, Text: w.q.Text, Forward: true, Limit: MaxMissedChanges + 1})
	if err != nil {
		return err
	}
	if len(missed) > MaxMissedChanges {
		return w.Write([]byte("event: reset\ndata: More happened than can be caught up with. Load the list again.\n\n"))
	}
	for batch := range slices.Chunk(missed, streamBatch) {
		if err := w.send(batch); err != nil {
			return err
		}
	}
	w.sent = make(map[mark]bool, len(missed))
	for _, c := range missed {
		w.sent[mark{c.Node, c.Seq}] = true
	}
	return nil
}

// send writes those lines that the reader wants, in one piece.
func (w *changeWatch) send(list []hub.Change) error {
	var out bytes.Buffer
	for _, c := range list {
		if w.sent[mark{c.Node, c.Seq}] || !w.q.matches(c) {
			continue
		}
		data, err := w.data(c)
		if err != nil {
			return fmt.Errorf("write change %s: %w", shell.FormatCursor(c.Cursor()), err)
		}
		shell.WriteEvent(&out, shell.FormatCursor(c.Cursor()), data)
	}
	if out.Len() == 0 {
		return nil
	}
	return w.Write(out.Bytes())
}

// changeData is a change as a program reads it.
type changeData struct {
	At   time.Time `json:"at"`
	Name string    `json:"name,omitempty"`
	URL  string    `json:"url"`
	Feed string    `json:"feed,omitempty"`
	Page string    `json:"page,omitempty"`
	Tags []string  `json:"tags,omitempty"`
	Door string    `json:"door,omitempty"`
}

func (w *changeWatch) data(c hub.Change) ([]byte, error) {
	if w.html {
		return w.line(c)
	}
	return json.Marshal(changeData{c.At.UTC(), c.Name, c.URL, c.Feed, c.Page, c.Tags, c.Door})
}
