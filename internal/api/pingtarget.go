package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/announce"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
)

// Targets manages the ping targets of hosted feeds. [*announce.Announcer] implements it.
type Targets interface {
	List(ctx context.Context, q announce.Query) ([]announce.PendingTarget, error)
	Retry(ctx context.Context, target string) (int, error)
}

func (s *Server) pingTargetRoutes() []operation {
	return []operation{
		{"GET", "/v1/sinks", s.listPingTargets},
		{"POST", "/v1/sinks/retry", s.retryPingTargets},
		{"POST", "/v1/testfeed/tick", plain(s.tick)},
	}
}

func (s *Server) requirePingTargets() error {
	if s.Options.Targets == nil {
		return fault.New(fault.Unsupported, "This server has no ping targets.")
	}
	return nil
}

func (s *Server) listPingTargets(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("user", "owing")...)
	q := announce.Query{User: p.Text("user"), Limit: p.Limit()}
	pending, cursor := p.Text("owing"), p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if err := s.requirePingTargets(); err != nil {
		return err
	}
	switch pending {
	case "", "false":
	case "true":
		q.Pending = true
	default:
		return fault.New(fault.Invalid, "owing is %q: it must be true or false.", cut(pending, 100))
	}
	if cursor != "" {
		// A cursor consists of user, topic, kind and URL. The first three contain no spaces.
		part := strings.SplitN(cursor, " ", 3)
		if len(part) != 3 {
			return exchange.BadCursor(cursor)
		}
		q.After = announce.Key{User: part[0], Topic: part[1], Target: part[2]}
	}
	rows, err := s.Options.Targets.List(r.Context(), q)
	if err != nil {
		return err
	}
	page := exchange.Page{Name: "sinks", Rows: exchange.List(rows, form.PingTarget)}
	if len(rows) == q.Limit {
		last := rows[len(rows)-1]
		page.Next = last.User + " " + last.Topic + " " + last.Target
	}
	return exchange.OK(w, page)
}

func (s *Server) retryPingTargets(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "url")
	target := p.Text("url")
	if p.Err != nil {
		return p.Err
	}
	if err := s.requirePingTargets(); err != nil {
		return err
	}
	n, err := s.Options.Targets.Retry(r.Context(), target)
	return exchange.Answer(w, map[string]int{"retried": n}, err)
}

// tick changes the test feed and sends the time of the change.
func (s *Server) tick(w http.ResponseWriter, r *http.Request) error {
	if s.Tick == nil {
		return fault.New(fault.Unsupported, "This server has no test feed.")
	}
	at, address, err := s.Tick(r.Context())
	return exchange.Answer(w, client.Tick{At: at.UTC().Truncate(time.Millisecond), URL: address}, err)
}
