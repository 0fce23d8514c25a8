package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// itemQuery reads the filters that the list of items and the stream of items have in common.
func (s riverAPI) itemQuery(c *riverCall, p *exchange.Params) (river.ItemQuery, error) {
	q := river.ItemQuery{Reader: c.reader, Category: p.Text("category"), Starred: p.Boolean("starred"), Unread: p.Boolean("unread"), Match: p.Text("q")}
	source := p.Text("source")
	if p.Err != nil {
		return q, p.Err
	}
	if err := exchange.FitText("q", q.Match, 1000); err != nil {
		return q, err
	}
	var err error
	if q.SourceID, err = s.sourceID(c, source); err != nil || q.Category == "" {
		return q, err
	}
	have, err := s.River.Categories(c.ctx(), c.reader, false)
	if err == nil && !slices.ContainsFunc(have, func(k river.Category) bool { return k.Name == q.Category }) {
		err = fault.New(fault.NotFound, "There is no category %q.", q.Category)
	}
	return q, err
}

func (s riverAPI) items(c *riverCall) error {
	p := c.params(exchange.Paged("source", "category", "starred", "unread", "q", "from", "to", "oldest", "since")...)
	from, to, oldest, limit := p.Time("from"), p.Time("to"), p.Boolean("oldest"), p.Limit()
	cursor, since := p.Cursor(), p.Number("since")
	q, err := s.itemQuery(c, p)
	if err != nil {
		return err
	}
	q.From, q.To, q.Oldest, q.Limit = from, to, oldest, limit
	switch {
	case p.Has("since"): // the cursor of a list with the parameter since is a Seq
		if cursor != "" {
			if since, err = strconv.ParseInt(cursor, 10, 64); err != nil || since < 0 {
				return exchange.BadCursor(cursor)
			}
		}
		q.ChangedIn, q.BySeq, q.Oldest = since, true, true
	case cursor != "":
		if q.Before, err = readPlace(cursor); err != nil {
			return err
		}
	}
	rows, err := s.River.Items(c.ctx(), q)
	if err != nil {
		return err
	}
	list := make([]client.Item, len(rows))
	for i := range rows {
		list[i] = form.Item(&rows[i])
	}
	page := exchange.Page{Name: "items", Rows: list}
	if len(rows) == q.Limit {
		last := &rows[len(rows)-1]
		page.Next = placeText(last.Place())
		if q.BySeq {
			page.Next = strconv.FormatInt(last.Seq, 10)
		}
	}
	return exchange.OK(c.w, page)
}

// placeText encodes a position in the river for clients.
func placeText(p river.Place) string { return fmt.Sprintf("%d.%d", p.At, p.ID) }

func readPlace(text string) (p river.Place, err error) {
	at, id, parted := strings.Cut(text, ".")
	if p.At, err = strconv.ParseInt(at, 10, 64); err == nil && parted {
		p.ID, err = strconv.ParseInt(id, 10, 64)
	}
	if err != nil || !parted || p.ID < 0 {
		return p, exchange.BadCursor(text)
	}
	return p, nil
}

func (s riverAPI) item(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	rows, err := s.River.Items(c.ctx(), river.ItemQuery{Reader: c.reader, IDs: []int64{id}, Limit: 1})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fault.New(fault.NotFound, "There is no item %d in this river.", id)
	}
	return exchange.OK(c.w, form.Item(&rows[0]))
}

const maxMarks = 1000 // maximum items in one request

func (s riverAPI) markItems(c *riverCall) error {
	var in client.MarkRequest
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	switch n := len(in.IDs); {
	case n == 0:
		return fault.New(fault.Invalid, "ids is missing: it names the items.")
	case n > maxMarks:
		return fault.New(fault.Invalid, "ids has %d entries; at most %d are accepted at a time.", n, maxMarks)
	case in.Read == nil && in.Starred == nil:
		return fault.New(fault.Invalid, "Set read, starred or both to true or false.")
	}
	ids := make([]int64, len(in.IDs))
	for i, id := range in.IDs {
		ids[i] = int64(id)
	}
	marked, err := s.River.Mark(c.ctx(), c.reader, ids, in.Read, in.Starred)
	return exchange.Answer(c.w, map[string]int{"marked": marked}, err)
}

func (s riverAPI) markAllRead(c *riverCall) error {
	var in client.ReadRequest
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	source, err := s.sourceID(c, in.Source)
	if err != nil {
		return err
	}
	to := s.Now()
	if in.To != nil {
		to = *in.To
	}
	err = s.River.MarkAllRead(c.ctx(), c.reader, source, in.Category, to)
	return exchange.Answer(c.w, map[string]time.Time{"to": form.Milli(to)}, err)
}
