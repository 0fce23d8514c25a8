package webfinger

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Handler answers queries. Find returns the document of a resource, such as acct:alice@example.org
// or the URL of a page. If this server knows nothing about the resource, Find returns nil.
type Handler struct {
	Find func(ctx context.Context, resource string) (*Document, error)
	Log  *slog.Logger // nil: no log
}

// ServeHTTP answers one query. Web pages of any origin may read the answers.
//
// spec:rfc7033#cors
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Use GET with the parameter resource.", http.StatusMethodNotAllowed)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	resource := query["resource"]
	// spec:rfc7033#bad-resource
	if err != nil || len(resource) != 1 || !isURI(resource[0]) {
		http.Error(w, "The parameter resource must be given once, as a URI such as acct:alice@example.org.", http.StatusBadRequest)
		return
	}
	d, err := h.Find(r.Context(), resource[0])
	if err != nil {
		if h.Log != nil && r.Context().Err() == nil {
			h.Log.WarnContext(r.Context(), "answer a WebFinger query", "resource", resource[0], "err", err)
		}
		http.Error(w, "This server cannot answer now; try again later.", http.StatusServiceUnavailable)
		return
	}
	if d == nil { // spec:rfc7033#unknown-resource
		http.Error(w, "There is nothing known about this resource here.", http.StatusNotFound)
		return
	}
	out := *d
	// spec:rfc7033#rel-filter
	if rels := query["rel"]; len(rels) > 0 {
		out.Links = slices.DeleteFunc(slices.Clone(out.Links), func(l Link) bool { return !slices.Contains(rels, l.Rel) })
	}
	body, err := json.Marshal(out)
	if err != nil {
		http.Error(w, "The answer could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", Type) // spec:rfc7033#media-type
	w.Header().Set("Cache-Control", "max-age=300")
	_, _ = w.Write(append(body, '\n')) // ignore the error: the client has disconnected
}

// isURI reports whether s begins with a scheme and a colon, followed by more text.
func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && len(s) > len(u.Scheme)+1 && len(s) <= maxHref && !strings.ContainsAny(s, " \t\r\n")
}

// Split returns the name and the host of a resource of the form acct:name@host.
func Split(resource string) (a Account, ok bool) {
	if len(resource) < 5 || !strings.EqualFold(resource[:5], "acct:") {
		return a, false
	}
	plain, err := url.PathUnescape(resource[5:])
	if err != nil {
		return a, false
	}
	return ParseAccount(plain)
}
