package readerui

import (
	"context"
	"net/http"
	"strconv"

	"cloudburst/internal/fault"
	"cloudburst/internal/live"
	"cloudburst/internal/web/shell"
)

// recheckBeats is the number of heartbeats between two checks of the client's access.
const recheckBeats = 4

// riverStream sends new items of a river live, as server-sent events. The id of an event is the
// item's Seq. A client that sends Last-Event-ID or since= first receives the items that it missed.
// The data is the HTML of the item; an event for an item that is already on the page replaces that
// item.
func (s *riverPages) riverStream(rw http.ResponseWriter, r *http.Request, reader string, may access) error {
	st := riverScope{Reader: reader, May: may, Root: "/river", Category: r.URL.Query().Get("category")}
	return s.streamTo(rw, r, st, func(ctx context.Context) bool {
		again, now, err := s.readerOrReason(shell.RenewVisit(r.WithContext(ctx)))
		return err != nil || again == reader && now == may
	})
}

// streamOf sends new items of a public category live; see riverStream.
func (s *riverPages) streamOf(rw http.ResponseWriter, r *http.Request, st riverScope) error {
	return s.streamTo(rw, r, st, func(ctx context.Context) bool {
		_, err := s.publicScope(shell.RenewVisit(r.WithContext(ctx)))
		return err == nil || fault.CodeOf(err) != fault.NotFound
	})
}

func (s *riverPages) streamTo(rw http.ResponseWriter, r *http.Request, st riverScope, still func(context.Context) bool) error {
	q := parseRiverQuery(r.URL.Query())
	switch {
	case s.Arrivals == nil:
		http.Error(rw, "This page is not live. Reload it from time to time.", http.StatusNotFound)
		return nil
	case q.Wrong != "" || !q.live():
		http.Error(rw, "A river, a category, a feed and unread items are live; searches and starred items are not.", http.StatusBadRequest)
		return nil
	}
	if st.Public != "" {
		q.Source = 0
	} else if err := s.mayWatch(r.Context(), st); err != nil {
		http.Error(rw, fault.Message(err), http.StatusNotFound)
		return nil
	}
	s.ServeLive(rw, r, func(out *live.Stream) error {
		w := riverWatch{riverPages: s, Stream: out, key: channelKey{st, q.Source, s.Locale(r).Code}, still: still}
		return w.run(r.Context(), r)
	})
	return nil
}

// mayWatch returns fault.NotFound if the scope is a private category and the user is not its owner.
func (s *riverPages) mayWatch(ctx context.Context, st riverScope) error {
	if st.May == accessWrite || st.Category == "" {
		return nil
	}
	categories, err := s.River.Categories(ctx, st.Reader, false)
	if err != nil {
		return err
	}
	for _, c := range categories {
		if c.Name == st.Category && c.Public {
			return nil
		}
	}
	return fault.New(fault.NotFound, "There is no category with that name.")
}

// riverWatch is the stream of one client.
type riverWatch struct {
	*riverPages
	*live.Stream
	key   channelKey
	still func(context.Context) bool
}

func (w *riverWatch) run(ctx context.Context, r *http.Request) error {
	reader, err := w.watch(ctx, w.key)
	if err != nil {
		return err
	}
	defer w.unwatch(reader)
	if err := w.Send([]byte("retry: 3000\n\n")); err != nil { // the client has joined the stream, so it misses no later item
		return err
	}
	if from, known := live.LastSeen(r, parseSeq); known {
		piece, _, err := w.since(ctx, w.key, from)
		if err != nil {
			return err
		}
		if len(piece) > 0 {
			if err := w.Send(piece); err != nil {
				return err
			}
		}
	}
	beats := 1
	w.Beat = func() bool {
		beats++
		return beats%recheckBeats != 0 || w.still(ctx)
	}
	return live.Follow(ctx, w.Stream, reader.c, w.Send) // a client that is too slow reconnects with its last id and loses nothing
}

// parseSeq parses the last Seq that a client received.
func parseSeq(id string) (seq int64, ok bool) {
	seq, err := strconv.ParseInt(id, 10, 64)
	return seq, err == nil && seq >= 0
}
