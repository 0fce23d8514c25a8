package api

import (
	"net/http"
	"strconv"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func (s *Server) topics(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("match")...)
	q := hub.TopicQuery{Match: p.Text("match"), After: p.Cursor(), Limit: p.Limit(), Now: s.Now()}
	if p.Err != nil {
		return p.Err
	}
	rows, err := s.Store.Topics(r.Context(), q)
	if err != nil {
		return err
	}
	list := make([]client.Topic, len(rows))
	for i, t := range rows {
		list[i] = form.Topic(t.Topic, t.Subscribers, q.Now)
	}
	page := exchange.Page{Name: "topics", Rows: list}
	if len(rows) == q.Limit {
		page.Next = rows[len(rows)-1].URL
	}
	return exchange.OK(w, page)
}

func (s *Server) topicByID(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return fault.New(fault.Invalid, "%q is not the id of a topic.", cut(r.PathValue("id"), 100))
	}
	return s.topic(w, r, id, "")
}

func (s *Server) topicByURL(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "url")
	url := p.Text("url")
	if p.Err != nil {
		return p.Err
	}
	if url == "" {
		return fault.New(fault.Invalid, "The parameter url is missing: it names the feed.")
	}
	return s.topic(w, r, hub.TopicID(url), url)
}

func (s *Server) topic(w http.ResponseWriter, r *http.Request, id int64, url string) error {
	t, err := s.Store.Topic(r.Context(), id)
	if fault.CodeOf(err) == fault.NotFound && url != "" {
		return fault.New(fault.NotFound, "No subscriber of the feed %s is stored; pings of the feed are in the log.", cut(url, 300))
	}
	if err != nil {
		return err
	}
	n, err := s.subscribers(r, t)
	return exchange.Answer(w, form.Topic(t, n, s.Now()), err)
}

// subscribers counts the active subscriptions of a topic.
func (s *Server) subscribers(r *http.Request, t hub.Topic) (n int64, err error) {
	counts, err := s.Store.Subscribers(r.Context(), t.ID, s.Now())
	for _, c := range counts {
		n += c
	}
	return n, err
}
