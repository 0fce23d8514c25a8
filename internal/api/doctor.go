package api

import (
	"net/http"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
)

// doctor checks the installation and sends the findings. This can take several seconds.
func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	if p := exchange.ReadParams(r); p.Err != nil {
		return p.Err
	}
	if s.Doctor == nil {
		return fault.New(fault.Unsupported, "This server cannot check its installation.")
	}
	found, err := s.Doctor(r.Context())
	if err != nil {
		return err
	}
	return exchange.OK(w, found)
}
