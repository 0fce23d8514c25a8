package hubhttp

import (
	"net/http"

	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
)

// withCORS lets web pages of any origin call h. That is safe because h never reads cookies.
// methods lists the HTTP methods that h accepts; it is also the Allow header of a response with
// status 405.
//
// spec:cloudburst#cors
func withCORS(methods string, h http.Handler) http.Handler {
	const request = "Accept, Content-Type, If-Modified-Since, If-None-Match, Prefer, SOAPAction, " + rsscloud.HopsHeader
	const exposed = "ETag, Last-Modified, Retry-After, " + rsscloud.OutcomeHeader
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Access-Control-Expose-Headers", exposed)
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		switch r.Method {
		case http.MethodOptions:
			head.Set("Allow", methods)
			head.Set("Access-Control-Allow-Methods", methods)
			head.Set("Access-Control-Allow-Headers", request)
			head.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPost: // no wrapper: http.MaxBytesReader needs the server's own writer
			h.ServeHTTP(w, r)
		default:
			h.ServeHTTP(&allowWriter{w, methods}, r)
		}
	})
}

// allowWriter replaces the Allow header of a response with status 405, so that it lists the same
// methods as the response to OPTIONS.
type allowWriter struct {
	http.ResponseWriter
	methods string
}

func (w *allowWriter) WriteHeader(status int) {
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", w.methods)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController set deadlines.
func (w *allowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// withSOAPCORS is withCORS for a SOAP endpoint, which also accepts GET and HEAD for its description.
func withSOAPCORS(h http.Handler) http.Handler {
	calls, description := withCORS("POST, OPTIONS", h), withCORS("GET, HEAD, POST, OPTIONS", h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if soap.IsDescription(r) {
			description.ServeHTTP(w, r)
			return
		}
		calls.ServeHTTP(w, r)
	})
}
