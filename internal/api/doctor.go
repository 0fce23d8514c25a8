package api

import (
	"net/http"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
)

// doctor checks the installation and sends the findings. This can take several seconds.
func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	if s.Doctor == nil {
		return fault.New(fault.Unsupported, "This server cannot check its installation.")
	}
	found, err := s.Doctor(r.Context())
	return exchange.Answer(w, found, err)
}
