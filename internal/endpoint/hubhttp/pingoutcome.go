package hubhttp

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
)

// outcomes adds a header with the outcome of a ping to the protocol's response, if the client
// requested it. A request with several pings gets no header.
//
// spec:cloudburst#ping-outcome
func (g *Endpoints) outcomes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !rsscloud.WantsOutcome(r.Header) {
			next.ServeHTTP(w, r)
			return
		}
		n := &outcomeNote{pages: strings.TrimRight(g.PublicURL, "/")}
		next.ServeHTTP(&outcomeWriter{ResponseWriter: w, note: n}, r.WithContext(context.WithValue(r.Context(), outcomeKey{}, n)))
	})
}

type outcomeKey struct{}

// outcomeNote collects the outcomes of the pings of one request.
type outcomeNote struct {
	pages string // origin of this server's pages, for URLs in the header; "": the header contains no URL

	mu   sync.Mutex
	list []rsscloud.Outcome
}

// wantsOutcome reports whether the client requested the outcome of its ping.
func wantsOutcome(ctx context.Context) bool { return ctx.Value(outcomeKey{}) != nil }

// noteOutcome records the outcome of a ping if the client requested it.
func noteOutcome(ctx context.Context, url, state string, subscribers int64) {
	n, ok := ctx.Value(outcomeKey{}).(*outcomeNote)
	if !ok {
		return
	}
	o := rsscloud.Outcome{State: state, Subscribers: subscribers}
	if n.pages != "" {
		o.Page = n.pages + "/topics/" + strconv.FormatInt(hub.TopicID(url), 10)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, o)
}

// notePing is like noteOutcome for a ping of a feed. If the feed has no subscribers here except
// users of this server, the outcome does not reveal that.
//
// spec:cloudburst#river-feeds-private
func notePing(ctx context.Context, url string, r hub.PingResult) {
	if r.Topic != "" {
		url = r.Topic
	}
	switch {
	case r.Pending:
		noteOutcome(ctx, url, rsscloud.OutcomePending, -1)
	case !r.Known || !r.Checked:
		noteOutcome(ctx, url, rsscloud.OutcomeNoSubscribers, 0)
	case r.Changed:
		noteOutcome(ctx, url, rsscloud.OutcomeChanged, r.Subscribers)
	default:
		noteOutcome(ctx, url, rsscloud.OutcomeUnchanged, 0)
	}
}

// outcomeWriter adds the header before the first byte of the response.
type outcomeWriter struct {
	http.ResponseWriter
	note *outcomeNote
	done bool
}

func (w *outcomeWriter) WriteHeader(status int) {
	if !w.done {
		w.done = true
		w.note.mu.Lock()
		if len(w.note.list) == 1 {
			w.Header().Set(rsscloud.OutcomeHeader, w.note.list[0].String())
		}
		w.note.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *outcomeWriter) Write(b []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController set deadlines.
func (w *outcomeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
