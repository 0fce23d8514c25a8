package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
)

// Relays manages the subscriptions at upstream hubs. [*upstream.Engine] implements it.
type Relays interface {
	Add(ctx context.Context, r upstream.Request) (upstream.Follow, error)
	Remove(ctx context.Context, feed, via, who string) ([]upstream.Follow, error)
	List(ctx context.Context, q upstream.Query) ([]upstream.Follow, error)
}

// relayOwner is the owner of the relays that the operator adds.
const relayOwner = "relay"

func (s *Server) requireRelays() error {
	if s.Options.Relays == nil {
		return fault.New(fault.Unsupported, "This server does not follow feeds at other hubs.")
	}
	return nil
}

func (s *Server) relays(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("match", "via", "state")...)
	q := upstream.Query{Match: p.Text("match"), Protocol: p.Text("via"), State: p.Text("state"), Limit: p.Limit()}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if err := s.requireRelays(); err != nil {
		return err
	}
	if err := checkVia(q.Protocol); err != nil {
		return err
	}
	if states := []string{upstream.Pending, upstream.Active, upstream.Refused, upstream.Lost, upstream.Ending}; q.State != "" && !slices.Contains(states, q.State) {
		return fault.New(fault.Invalid, "state is %q: it must be one of %s.", cut(q.State, 100), strings.Join(states, ", "))
	}
	if cursor != "" {
		var whole bool
		if q.After.Protocol, q.After.Feed, whole = strings.Cut(cursor, " "); !whole {
			return exchange.BadCursor(cursor)
		}
	}
	rows, err := s.Options.Relays.List(r.Context(), q)
	if err != nil {
		return err
	}
	page := struct {
		Relays []client.Relay `json:"relays"`
		Next   string         `json:"next,omitempty"`
	}{Relays: form.Relays(rows)}
	if len(rows) == q.Limit {
		last := rows[len(rows)-1]
		page.Next = last.Protocol + " " + last.Feed
	}
	return exchange.OK(w, page)
}

func (s *Server) addRelay(w http.ResponseWriter, r *http.Request) error {
	var in client.RelayRequest
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if err := s.requireRelays(); err != nil {
		return err
	}
	f, err := s.Options.Relays.Add(r.Context(), upstream.Request{Feed: in.Feed, Via: in.Via, Hub: in.Hub, For: relayOwner})
	return exchange.Answer(w, form.Relay(f), err)
}

func (s *Server) removeRelay(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "feed", "via")
	feed, via := p.Text("feed"), p.Text("via")
	if p.Err != nil {
		return p.Err
	}
	if err := s.requireRelays(); err != nil {
		return err
	}
	if feed == "" {
		return fault.New(fault.Invalid, "The parameter feed is missing: it names the feed.")
	}
	if err := checkVia(via); err != nil {
		return err
	}
	gone, err := s.Options.Relays.Remove(r.Context(), feed, via, relayOwner)
	return exchange.Answer(w, map[string][]client.Relay{"removed": form.Relays(gone)}, err)
}

func checkVia(via string) error {
	if via != "" && !slices.Contains(upstream.Protocols(), via) {
		return fault.New(fault.Invalid, "via is %q: it must be one of %s.", cut(via, 100), strings.Join(upstream.Protocols(), ", "))
	}
	return nil
}
