package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/live"
)

func kinds() []string {
	return []string{event.KindPing, event.KindCheck, event.KindRegister, event.KindVerify, event.KindNotify, event.KindError,
		event.KindCancel, event.KindDrop, event.KindExpire, event.KindSave, event.KindTarget, event.KindSystem}
}

// eventQuery reads the filters that the log and its stream share. The parameter kind can be
// repeated, and can contain several kinds separated by commas.
func eventQuery(p *exchange.Params) hub.EventQuery {
	q := hub.EventQuery{Text: p.Text("text"), Since: p.Time("since"), Until: p.Time("until")}
	if topic := p.Text("topic"); topic != "" {
		q.TopicID = hub.TopicID(topic)
	}
	for _, value := range p.All("kind") {
		for kind := range strings.SplitSeq(value, ",") {
			if !slices.Contains(kinds(), kind) && p.Err == nil {
				p.Err = fault.New(fault.Invalid, "kind is %q: valid kinds are %s.", cut(kind, 100), strings.Join(kinds(), ", "))
			}
			q.Kinds = append(q.Kinds, kind)
		}
	}
	return q
}

func (s *Server) log(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("topic", "kind", "text", "since", "until")...)
	q := eventQuery(p)
	q.Limit = p.Limit()
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if cursor != "" {
		var err error
		if q.Before, err = readCursor(cursor); err != nil {
			return err
		}
	}
	rows, err := s.Store.Events(r.Context(), q)
	if err != nil {
		return err
	}
	page := exchange.Page{Name: "events", Rows: exchange.List(rows, form.Event)}
	if len(rows) == q.Limit {
		page.Next = form.Cursor(rows[len(rows)-1].Cursor())
	}
	return exchange.OK(w, page)
}

const (
	streamBuffer = 1024 // maximum number of events queued for a client; if more are queued, the stream ends
	streamPage   = 500
)

// stream sends events as they occur. If the request has Last-Event-ID, stream first sends the
// stored events after that ID. The stream ends if the client is too slow; the client can continue
// with the ID of the last event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("topic", "kind", "text", "since", "until")...)
	f := &feed{Stream: s.openStream(w), server: s, query: eventQuery(p), read: map[int64]int64{}}
	if p.Err != nil {
		return p.Err
	}
	if !f.query.Until.IsZero() {
		return fault.New(fault.Invalid, "A stream of new events has no until: use /v1/log.")
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		var err error
		if f.at, err = readCursor(last); err != nil {
			return err
		}
	}
	listener := s.Bus.Listen(streamBuffer)
	defer func() { listener.Close() }()
	defer f.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if f.at != (event.Cursor{}) || !f.query.Since.IsZero() {
		// While many stored events are sent, more live events can occur than the buffer holds.
		// Therefore send most of the stored events, then begin with an empty buffer, and send the
		// rest of the stored events.
		if err := f.catchUp(r); err != nil {
			return s.abort(r, err)
		}
		listener.Close()
		listener = s.Bus.Listen(streamBuffer)
		if err := f.catchUp(r); err != nil {
			return s.abort(r, err)
		}
	}
	if err := f.Comment("listening"); err != nil {
		return nil
	}
	_ = live.Follow(r.Context(), f.Stream, listener.C(), func(e event.Event) error {
		if e.Seq <= f.read[e.Node] || !matches(f.query, e) {
			return nil
		}
		if err := f.send(e); err != nil || len(listener.C()) > 0 {
			return err
		}
		return f.Flush()
	})
	return nil
}

func (s *Server) openStream(w http.ResponseWriter) *live.Stream {
	return live.Open(w, live.Options{Done: s.Done, Heartbeat: s.Heartbeat, WriteTimeout: s.WriteTimeout})
}

// feed is one open stream.
type feed struct {
	*live.Stream
	server *Server
	query  hub.EventQuery
	at     event.Cursor    // position up to which the stream has read the store
	read   map[int64]int64 // key: node; value: Seq of the last event sent from the store
}

// catchUp sends the stored events after the position f.at.
func (f *feed) catchUp(r *http.Request) error {
	for {
		q := f.query
		q.After, q.Forward, q.Limit = f.at, true, streamPage
		rows, err := f.server.Store.Events(r.Context(), q)
		if err != nil {
			return err
		}
		for _, e := range rows {
			if err := f.send(e); err != nil {
				return err
			}
			f.at = e.Cursor()
			f.read[e.Node] = max(f.read[e.Node], e.Seq)
		}
		if len(rows) < streamPage {
			return f.Flush()
		}
	}
}

func (f *feed) send(e event.Event) error {
	data, err := json.Marshal(form.Event(e))
	if err != nil {
		return err
	}
	return f.Event(form.Cursor(e.Cursor()), e.Kind, data)
}

// matches reports whether a live event passes the filters. The store applies the same filters in
// SQL.
func matches(q hub.EventQuery, e event.Event) bool {
	if q.TopicID != 0 && e.TopicID != q.TopicID {
		return false
	}
	if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
		return false
	}
	if e.At.Before(q.Since) {
		return false
	}
	if q.Text == "" {
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(e.Topic), text) || strings.Contains(strings.ToLower(e.Text), text) ||
		strings.Contains(strings.ToLower(e.Peer), text)
}
