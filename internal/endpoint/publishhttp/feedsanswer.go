package publishhttp

import (
	"encoding/xml"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
)

// Methods that are allowed at the URLs of feeds.
const (
	methodsRead  = "GET, HEAD, OPTIONS"
	methodsWrite = "GET, HEAD, OPTIONS, PUT, DELETE"
)

// allowRead reports whether a request reads. It responds to OPTIONS and rejects other methods. saves
// means that this URL also accepts new versions.
func allowRead(w http.ResponseWriter, r *http.Request, saves bool) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodOptions:
		preflight(w, saves)
		return false
	}
	w.Header().Set("Allow", methodsOf(saves))
	writeText(w, http.StatusMethodNotAllowed, "This address can be read; new versions of a feed are PUT to …/"+pathSaved+".\n")
	return false
}

func methodsOf(saves bool) string {
	if saves {
		return methodsWrite
	}
	return methodsRead
}

// preflight responds to OPTIONS. It allows pages of other origins to read only.
func preflight(w http.ResponseWriter, saves bool) {
	head := w.Header()
	head.Set("Allow", methodsOf(saves))
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Allow-Methods", methodsRead)
	head.Set("Access-Control-Allow-Headers", "Accept, A-IM, Authorization, If-Modified-Since, If-None-Match, X-WSSE")
	head.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// serveMoved responds for a feed that has moved or ended: with the status, and with a document for
// readers that ignore the status.
//
// spec:feedstate-2007#redirect-publish
// spec:feedstate-2007#gone-publish
func serveMoved(w http.ResponseWriter, r *http.Request, now author.Feed) bool {
	status, location := http.StatusGone, "<newLocation/>"
	switch {
	case now.MovedTo != "":
		var to strings.Builder
		_ = xml.EscapeText(&to, []byte(now.MovedTo)) // a strings.Builder never fails
		status, location = http.StatusMovedPermanently, "<newLocation>"+to.String()+"</newLocation>"
		w.Header().Set("Location", now.MovedTo)
		if now.Temporary { // the document would make readers store the new URL permanently
			answerFound(w, r, now.MovedTo)
			return true
		}
	case !now.Gone:
		return false
	}
	body := "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<redirect>\n  " + location + "\n</redirect>\n"
	head := w.Header()
	if head.Get("Cache-Control") == "" {
		head.Set("Cache-Control", "max-age=300") // caches must not keep the response long, because the feed can be restored
	}
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, body) // ignore the error: the client has disconnected
	}
	return true
}

// answerFound sends a temporary redirect. Caches must revalidate it for each request.
//
// spec:feedstate-2007#redirect-publish
func answerFound(w http.ResponseWriter, r *http.Request, to string) {
	head := w.Header()
	if head.Get("Cache-Control") == "" {
		head.Set("Cache-Control", "no-cache")
	}
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusFound)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, "For now, the feed is at "+to+"\n") // ignore the error: the client has disconnected
	}
}

// refuse responds with an error in plain text.
func (f *Feeds) refuse(w http.ResponseWriter, r *http.Request, err error) {
	refuseWith(w, r, f.Log, endpoint.StatusOf(err), err)
}

// refuseWith responds with an error in plain text and logs the errors that the operator should see.
// It does not log the URL, which can contain a secret.
func refuseWith(w http.ResponseWriter, r *http.Request, log *slog.Logger, status int, err error) {
	code := fault.CodeOf(err)
	// A request that the client aborted is not logged.
	if log != nil && r.Context().Err() == nil && (code == fault.Internal || code == fault.Unavailable) {
		log.WarnContext(r.Context(), "a request for a feed failed", "method", r.Method, "err", err)
	}
	wait := fault.RetryAfter(err)
	if wait <= 0 && (code == fault.TooMany || code == fault.Unavailable) {
		wait = 10 * time.Second
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	writeText(w, status, fault.Message(err)+"\n")
}

// writeText responds in plain text without caching.
func writeText(w http.ResponseWriter, status int, text string) {
	head := w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Length", strconv.Itoa(len(text)))
	if head.Get("Cache-Control") == "" {
		head.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // ignore the error: the client has disconnected
}
