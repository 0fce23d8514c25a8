package readerui

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// recheckBeats is after how many signs of life it is asked again whether a reader may
// still see what he watches.
const recheckBeats = 4

// riverStream sends what arrives in somebody's river, live, as server-sent events. The
// id of each is the item's Seq; a reader who comes back with Last-Event-ID (or, the
// first time, since=) gets what he missed from the store and then goes on live. Data is
// the item as it stands on the page: one that is there already was edited.
func (s *riverPages) riverStream(rw http.ResponseWriter, r *http.Request, reader string, may access) {
	st := stretch{Reader: reader, May: may, Root: "/river", Category: r.URL.Query().Get("category")}
	s.streamTo(rw, r, st, func(ctx context.Context) bool {
		again, now, err := s.readingOrWhy(shell.RenewVisit(r.WithContext(ctx)))
		return err != nil || again == reader && now == may
	})
}

// streamOf is riverStream for a public river.
func (s *riverPages) streamOf(rw http.ResponseWriter, r *http.Request, st stretch) {
	s.streamTo(rw, r, st, func(ctx context.Context) bool {
		_, err := s.publicStretch(shell.RenewVisit(r.WithContext(ctx)))
		return err == nil || fault.CodeOf(err) != fault.NotFound
	})
}

func (s *riverPages) streamTo(rw http.ResponseWriter, r *http.Request, st stretch, still func(context.Context) bool) {
	q := parseRiverQuery(r.URL.Query())
	switch {
	case s.Arrivals == nil:
		http.Error(rw, "Nothing arrives live here. Load the page again from time to time.", http.StatusNotFound)
		return
	case q.Wrong != "" || q.Filtered():
		http.Error(rw, "A river, a category and a feed are live; what was searched for or marked is not.", http.StatusBadRequest)
		return
	}
	if st.Public != "" {
		q.Source = 0
	} else if err := s.mayWatch(r.Context(), st); err != nil {
		http.Error(rw, fault.Message(err), http.StatusNotFound)
		return
	}
	s.ServeLive(rw, r, func(out shell.EventStream) error {
		w := riverWatch{riverPages: s, EventStream: out, key: channelKey{st, q.Source}, still: still}
		return w.run(r.Context(), r)
	})
}

// mayWatch refuses a category that is the reader's own to others.
func (s *riverPages) mayWatch(ctx context.Context, st stretch) error {
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
	return fault.New(fault.NotFound, "There is no category of that name here.")
}

// riverWatch is one who watches.
type riverWatch struct {
	*riverPages
	shell.EventStream
	key   channelKey
	still func(context.Context) bool
}

func (w *riverWatch) run(ctx context.Context, r *http.Request) error {
	reader, err := w.watch(ctx, w.key)
	if err != nil {
		return err
	}
	defer w.unwatch(reader)
	if err := w.Write([]byte("retry: 3000\n\n")); err != nil { // what comes from now on is heard
		return err
	}
	if from, known := riverSeen(r); known {
		piece, _, err := w.since(ctx, w.key, from)
		if err != nil {
			return err
		}
		if len(piece) > 0 {
			if err := w.Write(piece); err != nil {
				return err
			}
		}
	}
	return w.follow(ctx, reader)
}

// riverSeen is the Seq that the reader says he has seen.
func riverSeen(r *http.Request) (seq int64, known bool) {
	for _, named := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")} {
		if n, err := strconv.ParseInt(named, 10, 64); err == nil && n >= 0 {
			return n, true
		}
	}
	return 0, false
}

func (w *riverWatch) follow(ctx context.Context, reader *riverReader) error {
	beat := time.NewTicker(w.HeartbeatInterval())
	defer beat.Stop()
	for n := 1; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Done: // nil: never
			return nil
		case <-beat.C:
			if n++; n%recheckBeats == 0 && !w.still(ctx) {
				return nil
			}
			if err := w.Write([]byte(": still here\n\n")); err != nil {
				return err
			}
		case piece, ok := <-reader.c:
			if !ok {
				return shell.ErrSlowReader // he comes back with the last id, and loses nothing
			}
			if err := w.Write(piece); err != nil {
				return err
			}
		}
	}
}
