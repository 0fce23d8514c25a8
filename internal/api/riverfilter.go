package api

import (
	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river/filter"
)

func (s riverAPI) filters(c *riverCall) error {
	rows, err := s.River.Filters().List(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	list := make([]client.Filter, len(rows))
	for i := range rows {
		list[i] = form.Filter(&rows[i])
	}
	return exchange.OK(c.w, map[string][]client.Filter{"filters": list})
}

// filterRequest parses the filter in the body of a request.
func (s riverAPI) filterRequest(c *riverCall) (f filter.Rule, err error) {
	var in client.FilterRequest
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return f, err
	}
	if err := exchange.FitText("category", in.Category, maxName); err != nil {
		return f, err
	}
	source, err := s.sourceID(c, in.Source)
	f = filter.Rule{ID: in.ID, Reader: c.reader, Name: in.Name, SourceID: source, Category: in.Category, Actions: filter.Actions(in.FilterActions), Off: in.Off}
	f.Applying = in.Apply
	for _, one := range in.Conditions {
		f.Conditions = append(f.Conditions, filter.Condition(one))
	}
	return f, err
}

func (s riverAPI) putFilter(c *riverCall) error {
	f, err := s.filterRequest(c)
	if err == nil {
		f, err = s.River.Filters().Put(c.ctx(), f)
	}
	return exchange.Answer(c.w, form.Filter(&f), err)
}

func (s riverAPI) previewFilter(c *riverCall) error {
	f, err := s.filterRequest(c)
	if err != nil {
		return err
	}
	p, err := s.River.Filters().Preview(c.ctx(), f)
	if err != nil {
		return err
	}
	out := client.FilterPreview{Compared: p.Compared, Matched: []client.FilterMatch{}}
	for i := range p.Matched {
		e := &p.Matched[i]
		out.Matched = append(out.Matched, client.FilterMatch{ID: e.ID, SourceID: e.SourceID, Title: e.Title, Link: e.Link})
	}
	return exchange.OK(c.w, out)
}

func (s riverAPI) dropFilter(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	err = s.River.Filters().Drop(c.ctx(), c.reader, id)
	return exchange.Answer(c.w, removedID{id}, err)
}

// moveFilter moves a filter one position up or down in the order of execution, and sends the
// filters in the new order.
func (s riverAPI) moveFilter(c *riverCall) error {
	p := c.params("to")
	if p.Err != nil {
		return p.Err
	}
	id, err := c.id()
	if err != nil {
		return err
	}
	to := c.r.URL.Query().Get("to")
	if to != "earlier" && to != "later" {
		return fault.New(fault.Invalid, "The parameter to must be earlier or later.")
	}
	if err := s.River.Filters().Move(c.ctx(), c.reader, id, to == "later"); err != nil {
		return err
	}
	return s.filters(c)
}
