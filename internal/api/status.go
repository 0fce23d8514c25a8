package api

import (
	"context"
	"net/http"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func (s *Server) version(w http.ResponseWriter, r *http.Request) error {
	return exchange.OK(w, s.build)
}

func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(openAPI)
	return err
}

// status sends the status of the server. It also responds if the database is not available.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	live := s.Hub.Live()
	st := client.Status{
		Version: s.build, Node: live.Node, Started: form.Milli(live.Started), PublicURL: s.PublicURL,
		Store: "ok", Warnings: []string{},
		Live: client.Live{InFlight: live.InFlight, Queue: live.Queue, Origins: live.Origins, Slow: live.Slow,
			Open: live.Open, Checks: live.Checks, Writes: live.Writes},
		Totals: form.Minute(live.Totals),
	}
	if s.Warnings != nil {
		st.Warnings = append(st.Warnings, s.Warnings()...)
	}
	if err := s.Store.Ping(ctx); err != nil {
		st.Store = err.Error()
		return exchange.OK(w, st)
	}
	c, err := s.Hub.Counts(ctx)
	if err != nil {
		st.Store = err.Error()
		return exchange.OK(w, st)
	}
	st.Counts = &client.Counts{Topics: c.Topics, Subscriptions: c.Subscriptions, Failing: c.Failing, Pending: c.Pending,
		ShardsDue: c.ShardsDue, ChecksDue: c.ChecksDue, Requests: c.Requests, Events: c.Events}
	return exchange.OK(w, st)
}

func (s *Server) minutes(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "since")
	since := p.Time("since")
	if p.Err != nil {
		return p.Err
	}
	if since.IsZero() {
		since = s.Now().Add(-24 * time.Hour)
	}
	rows, err := s.Store.Minutes(r.Context(), since)
	if err != nil {
		return err
	}
	return exchange.OK(w, map[string]any{"minutes": exchange.List(rows, form.Minute)})
}

func (s *Server) ping(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		URL string `json:"url"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if err := exchange.CheckURL("url", in.URL, exchange.MaxURL); err != nil {
		return err
	}
	res, err := s.Hub.Ping(r.Context(), hub.Ping{URL: in.URL, Via: viaCLI})
	return exchange.Answer(w, client.PingResult{Known: res.Known, Checked: res.Checked, Changed: res.Changed, Pending: res.Pending, Version: res.Version}, err)
}

// viaCLI is the name of the admin listener in the log.
const viaCLI = "cli"

func (s *Server) sweep(w http.ResponseWriter, r *http.Request) error {
	dropped, expired, err := s.Hub.SweepNow(r.Context())
	return exchange.Answer(w, client.SweepResult{Dropped: dropped, Expired: expired}, err)
}

func (s *Server) metricsCounts(ctx context.Context) (hub.Counts, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := s.Hub.Counts(ctx)
	if err != nil {
		return c, fault.Wrap(fault.Unavailable, err, "The database could not be counted")
	}
	return c, nil
}
