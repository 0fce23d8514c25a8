package api

import (
	"context"
	"net/http"
	"strconv"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/audience"
	"cloudburst/internal/fault"
)

// Audience reports the readers of hosted feeds. [*audience.Audience] implements it.
type Audience interface {
	Report(ctx context.Context, user string, days int) (audience.Report, error)
}

// Days of history in a report: the default and the maximum.
const (
	usualDays = 30
	maxDays   = 3660
)

func (s *Server) readers(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "days")
	text, days := p.Text("days"), usualDays
	if p.Err != nil {
		return p.Err
	}
	if text != "" {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > maxDays {
			return fault.New(fault.Invalid, "days is %q: it must be a number from 1 to %d.", cut(text, 100), maxDays)
		}
	}
	if s.Audience == nil {
		return fault.New(fault.Unsupported, "This server does not count readers.")
	}
	// If the user does not exist, send an error instead of an empty report.
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	report, err := s.Audience.Report(r.Context(), u.Name, days)
	return exchange.Answer(w, form.Readers(report), err)
}
