package api

import (
	"context"
	"errors"
	"net/http"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
)

// answer converts a function that returns an error to a handler, which sends the error. A function
// must handle errors itself after it has begun its response.
func (s *Server) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil || errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return
		}
		status := exchange.Status(fault.CodeOf(err))
		if status >= 500 && status != http.StatusNotImplemented {
			s.Log.Error("an API request of the operator failed", "method", r.Method, "path", r.URL.Path, "err", err)
		}
		exchange.WriteError(w, status, err)
	})
}
