package hubhttp

import (
	"net/http"

	"cloudburst/protocol/rsscloud"
)

// withCORS lets web pages of any origin call h. That is safe because h never reads cookies.
//
// spec:cloudburst#cors
func withCORS(methods string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		if r.Method == http.MethodOptions {
			head.Set("Allow", methods)
			head.Set("Access-Control-Allow-Methods", methods)
			head.Set("Access-Control-Allow-Headers", "Accept, Content-Type, SOAPAction, "+rsscloud.HopsHeader)
			head.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}
