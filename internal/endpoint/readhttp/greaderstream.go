package readhttp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/protocol/greader"
)

// selection is an app's query in the form that the river needs.
type selection struct {
	query   river.ItemQuery
	filters []func(e *river.Entry) bool // conditions that the query cannot express
	none    bool                        // the result is empty
}

// IDs implements greader.Backend.
func (g *googleReader) IDs(ctx context.Context, user string, q greader.Query) ([]greader.Ref, string, error) {
	list, next, err := g.page(ctx, user, q, true)
	out := make([]greader.Ref, 0, len(list))
	for i := range list {
		e := &list[i]
		out = append(out, greader.Ref{ID: greader.ItemID(e.First), Streams: []string{feedStream(e.SourceID)}, Timestamp: e.At.UnixMicro()})
	}
	return out, next, googleError(err)
}

// Items implements greader.Backend.
func (g *googleReader) Items(ctx context.Context, user string, q greader.Query) ([]greader.Item, string, error) {
	list, next, err := g.page(ctx, user, q, false)
	return g.items(list), next, googleError(err)
}

// Lookup implements greader.Backend.
func (g *googleReader) Lookup(ctx context.Context, user string, ids []greader.ItemID) ([]greader.Item, error) {
	q := river.ItemQuery{Reader: g.apps().reader(user), Limit: 1000}
	for _, id := range ids {
		q.Firsts = append(q.Firsts, int64(id))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := g.River.Items(ctx, q)
	return g.items(list), googleError(err)
}

// maxQueries is the maximum number of queries for one page, which matters if the filters drop most
// items.
const maxQueries = 10

// page reads one page of a stream.
func (g *googleReader) page(ctx context.Context, user string, q greader.Query, bare bool) (out []river.Entry, next string, err error) {
	sel, err := g.selection(ctx, g.apps().reader(user), q)
	if err != nil || sel.none {
		return nil, "", err
	}
	sel.query.Bare = bare
	for range maxQueries {
		sel.query.Limit = q.N - len(out)
		if len(sel.filters) > 0 {
			sel.query.Limit = max(sel.query.Limit, 200)
		}
		list, err := g.River.Items(ctx, sel.query)
		if err != nil {
			return nil, "", err
		}
		for i := range list {
			if len(out) == q.N {
				break
			}
			e := &list[i]
			sel.after(e)
			if !slices.ContainsFunc(sel.filters, func(keep func(*river.Entry) bool) bool { return !keep(e) }) {
				out = append(out, *e)
			}
			if i == len(list)-1 && len(list) < sel.query.Limit {
				return out, "", nil // end of the stream
			}
		}
		if len(list) == 0 {
			return out, "", nil
		}
		if len(out) == q.N {
			break
		}
	}
	return out, sel.continuation(), nil
}

// after makes the next query start after e.
func (s *selection) after(e *river.Entry) {
	switch {
	case !s.query.ByFirst:
		s.query.Before = e.Place()
	case s.query.Oldest:
		s.query.FirstAfter = e.First
	default:
		s.query.FirstBefore = e.First
	}
}

// continuation returns the start of the next page, in the form that apps send back.
func (s *selection) continuation() string {
	switch {
	case !s.query.ByFirst:
		return fmt.Sprintf("%d-%d", s.query.Before.At, s.query.Before.ID)
	case s.query.Oldest:
		return strconv.FormatInt(s.query.FirstAfter, 10)
	}
	return strconv.FormatInt(s.query.FirstBefore, 10)
}

// continueFrom makes the query start at a continuation that an app sent back.
func (s *selection) continueFrom(c string) error {
	if c == "" {
		return nil
	}
	at, id, place := strings.Cut(c, "-")
	n, err := strconv.ParseInt(at, 10, 64)
	ok := err == nil && n > 0
	if place {
		s.query.Before.At = n
		s.query.Before.ID, err = strconv.ParseInt(id, 10, 64)
		s.query.ByFirst, ok = false, ok && err == nil
	} else if s.query.ByFirst = true; s.query.Oldest {
		s.query.FirstAfter = max(s.query.FirstAfter, n)
	} else if s.query.FirstBefore == 0 || n < s.query.FirstBefore {
		s.query.FirstBefore = n
	}
	if !ok {
		return &greader.Error{Status: http.StatusBadRequest, Msg: "Invalid continuation: it is not from this server."}
	}
	return nil
}

// selection converts a query of an app to the form that the river needs.
//
// spec:cloudburst#greader-since
func (g *googleReader) selection(ctx context.Context, reader string, q greader.Query) (*selection, error) {
	s := &selection{query: river.ItemQuery{Reader: reader, Oldest: q.Oldest}}
	if !q.Before.IsZero() {
		s.query.ByFirst, s.query.FirstBefore = true, q.Before.UnixMicro()
	}
	if !q.After.IsZero() && q.Stream.Kind != greader.KindFeed { // the stream of a single feed is not restricted, because apps read it right after adding the feed
		s.query.FirstBefore = g.apps().settledBefore(s.query.FirstBefore)
	}
	if !q.After.IsZero() {
		s.query.ByFirst, s.query.FirstAfter = true, q.After.UnixMicro()-1
	}
	if err := s.continueFrom(q.Continuation); err != nil {
		return nil, err
	}
	for i, stream := range append([]greader.Stream{q.Stream}, q.Include...) {
		if err := g.restrict(ctx, s, stream, true, i == 0); err != nil {
			return nil, err
		}
	}
	for _, stream := range q.Exclude {
		if err := g.restrict(ctx, s, stream, false, false); err != nil {
			return nil, err
		}
	}
	if s.query.Starred { // omit items of feeds that the user no longer follows, because apps do not know these feeds
		following, err := g.River.Following(ctx, reader)
		if err != nil {
			return nil, err
		}
		s.filters = append(s.filters, func(e *river.Entry) bool { return following[e.SourceID] })
	}
	s.none = s.none || s.query.Read && s.query.Unread
	return s, nil
}

// restrict limits a selection to the items that are in a stream, or not in it. main means that the
// stream is the requested one, for which the river has the fastest query.
func (g *googleReader) restrict(ctx context.Context, s *selection, stream greader.Stream, in, main bool) error {
	switch {
	case stream.Kind == greader.KindState:
		s.state(stream.Name, in)
	case stream.Kind == greader.KindLabel && main:
		s.query.Category = category(stream.Name)
	case stream.Kind == greader.KindLabel:
		name := category(stream.Name)
		s.filters = append(s.filters, func(e *river.Entry) bool { return slices.Contains(e.Source.Categories, name) == in })
	default:
		id, err := g.source(ctx, s.query.Reader, stream)
		switch {
		case err != nil && fault.CodeOf(err) != fault.NotFound:
			return err
		case err != nil: // the user does not follow the feed, so the stream has no items
			s.none = s.none || in
		case main:
			s.query.SourceID = id
		default:
			s.filters = append(s.filters, func(e *river.Entry) bool { return (e.SourceID == id) == in })
		}
	}
	return nil
}

// state limits a selection to items that are in a state, or not in it.
func (s *selection) state(name string, in bool) {
	switch name {
	case "":
		s.none = s.none || !in
	case greader.Read:
		s.query.Read, s.query.Unread = s.query.Read || in, s.query.Unread || !in
	case greader.KeptUnread, "unread", "fresh":
		s.query.Read, s.query.Unread = s.query.Read || !in, s.query.Unread || in
	case greader.Starred:
		if in {
			s.query.Starred = true
		} else {
			s.filters = append(s.filters, func(e *river.Entry) bool { return !e.Starred })
		}
	default: // the river has no shared or liked items
		s.none = s.none || in
	}
}

// items converts entries for the API.
func (g *googleReader) items(list []river.Entry) []greader.Item {
	out := make([]greader.Item, 0, len(list))
	for i := range list {
		out = append(out, g.item(&list[i]))
	}
	return out
}

func (g *googleReader) item(e *river.Entry) greader.Item {
	e.ShowFull()
	link := g.apps().link(e)
	it := greader.Item{
		ID: greader.ItemID(e.First).Long(), Crawled: e.First / 1000, Timestamp: e.At.UnixMicro(), Published: published(e),
		Title: appText(appTitle(e)), Author: appText(strings.Join(e.Authors, ", ")),
		Canonical: []greader.Link{{Href: link}}, Alternate: []greader.Link{{Href: link, Type: "text/html"}},
		Categories: []string{greader.State(greader.ReadingList).String()},
		Origin:     greader.Origin{StreamID: feedStream(e.SourceID), Title: appText(e.Source.Title), HTMLURL: e.Source.Home},
		Summary:    greader.Text{Content: appHTML(&e.Content)},
	}
	if e.EditedAt.Unix() > 0 {
		it.Updated = e.EditedAt.Unix()
	}
	for _, c := range e.Source.Categories {
		it.Categories = append(it.Categories, greader.Label(c).String())
	}
	if e.Read {
		it.Categories = append(it.Categories, greader.State(greader.Read).String())
	}
	if e.Starred {
		it.Categories = append(it.Categories, greader.State(greader.Starred).String())
	}
	for _, enc := range e.Enclosures {
		it.Enclosure = append(it.Enclosure, greader.Link{Href: enc.URL, Type: enc.Type, Length: enc.Length})
	}
	return it
}
