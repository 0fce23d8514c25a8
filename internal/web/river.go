package web

import "net/http"

// riverRoutes are the pages of what came.
func (s *site) riverRoutes(mux *http.ServeMux) {
}
