package api

import (
	"context"
	"net/http"
	"strconv"

	"cloudburst/client"
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
	p := readParams(r, "days")
	text, days := p.text("days"), usualDays
	if p.err != nil {
		return p.err
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
	// Distinguish an unknown user from a user without readers.
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	report, err := s.Audience.Report(r.Context(), u.Name, days)
	if err != nil {
		return err
	}
	return ok(w, readersOf(report))
}

func readersOf(r audience.Report) client.Readers {
	out := client.Readers{
		User: r.User, At: milli(r.At), WindowDays: r.WindowDays, Count: r.Readers,
		Services: r.Services.Readers, Programs: r.Programs.Readers, Once: r.Programs.Once, Push: r.Push.Readers,
		Subscriptions: r.Push.Subscriptions, Private: r.Private.Readers,
		Browsers: r.NotCounted.Browsers, Robots: r.NotCounted.Robots, Partial: r.Partial,
		Here: r.Here.Followers, HereNames: append([]string{}, r.Here.Names...),
		ServiceList: make([]client.Service, len(r.Services.List)), Days: make([]client.Day, len(r.Days)),
		ProgramList: countsOf(r.Programs.List), PushList: countsOf(r.Push.List), Formats: countsOf(r.Formats),
	}
	for i, s := range r.Services.List {
		out.ServiceList[i] = client.Service{Name: s.Name, Format: s.Format, Subscribers: s.Subscribers, LastAt: milli(s.LastAt)}
	}
	for i, d := range r.Days {
		out.Days[i] = client.Day{Day: milli(d.Day), Readers: d.Readers, Services: d.Services, Programs: d.Programs, Push: d.Push, Private: d.Private, Requests: d.Requests, NotModified: d.NotModified}
	}
	return out
}

func countsOf(list []audience.Count) []client.NamedCount {
	out := make([]client.NamedCount, len(list))
	for i, c := range list {
		out[i] = client.NamedCount{Name: c.Name, Count: c.N}
	}
	return out
}
