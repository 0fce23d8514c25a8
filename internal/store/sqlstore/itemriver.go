package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Two ways lead to the next items of many sources. One goes through all items in
// order and looks whose they are: it is quick where the reader's are a good part of
// them. The other asks each of the reader's sources for its own next ones: it is quick
// where those are few or silent. The first is tried on a stretch, then the second.
const (
	shortStretch = 400
	longStretch  = 4000
	manySources  = 1000
	fewSources   = 100
)

// river gives the next places of many sources.
func (p *itemPlan) river(ctx context.Context, c Conn) ([]int64, error) {
	q := *p
	found, done, err := q.stretch(ctx, c, max(shortStretch, 4*p.limit))
	if err != nil || done || len(found) >= p.limit {
		return found, err
	}
	q.limit = p.limit - len(found)
	ids, err := p.sourceIDs(ctx, c, manySources)
	if err != nil {
		return nil, err
	}
	if ids == nil || len(ids) > fewSources && (p.Unread || p.Read) { // marks are passed over more quickly so
		more, done, err := q.stretch(ctx, c, max(longStretch, 4*p.limit))
		found = append(found, more...)
		if err != nil || done || len(found) >= p.limit {
			return found, err
		}
		q.limit = p.limit - len(found)
	}
	more, err := q.merge(ctx, c)
	return append(found, more...), err
}

// stretch goes through the next n items, whosesoever they are, and moves p past them.
// done: there are no others.
func (p *itemPlan) stretch(ctx context.Context, c Conn, n int) (found []int64, done bool, err error) {
	order := " DESC"
	if p.Oldest {
		order = ""
	}
	end, err := collect(ctx, c, scanID, `SELECT place FROM item WHERE place >= $1 AND place < $2 ORDER BY place`+order+` LIMIT 1 OFFSET $3`, p.lo, p.hi, n)
	if err != nil {
		return nil, false, err
	}
	part := *p
	switch {
	case len(end) == 0:
		done = true
	case p.Oldest:
		part.hi, p.lo = end[0], end[0]
	default:
		part.lo, p.hi = end[0], end[0]
	}
	found, err = part.ask(ctx, c, append([]string{"i.place >= :lo", "i.place < :hi"}, p.all(false)...))
	return found, done, err
}

// sourceIDs are the reader's sources that the query asks for; nil when there are more
// than most, or when that says nothing about the items.
func (p *itemPlan) sourceIDs(ctx context.Context, c Conn, most int) ([]int64, error) {
	if p.Starred || len(p.IDs) > 0 || len(p.Firsts) > 0 {
		return nil, nil
	}
	text, args := p.named(`SELECT f.source_id FROM river_subscription AS f WHERE `+strings.Join(p.subscribed(), " AND ")+` LIMIT :most`,
		map[string]any{"most": most + 1})
	ids, err := collect(ctx, c, scanID, text, args...)
	if err != nil || len(ids) > most {
		return nil, err
	}
	if ids == nil {
		ids = []int64{}
	}
	return ids, nil
}

// subscribed are the conditions on the subscriptions that a query asks for.
func (p *itemPlan) subscribed() []string {
	conds := []string{"f.reader = :reader"}
	if p.Category != "" {
		conds = append(conds, `f.source_id IN (SELECT m.source_id FROM river_category_source AS m WHERE m.reader = :reader AND m.category = :category)`)
	}
	q := *p
	q.Category = ""
	return append(conds, q.sources("f.source_id")...)
}

// next is what a source has next.
type next struct {
	source, floor, place int64
}

// merge asks each source for its next item, and those whose is near enough for more.
func (p *itemPlan) merge(ctx context.Context, c Conn) ([]int64, error) {
	order := "i.place DESC"
	if p.Oldest {
		order = "i.place"
	}
	// One lower bound, for an index is used for one only.
	floor := "CASE WHEN f.read_place > :lo THEN f.read_place ELSE :lo END"
	conds := append([]string{"i.source_id = f.source_id", "i.place < :hi"}, p.marks(floor, false)...)
	if !p.Unread {
		conds = append(conds, "i.place >= :lo")
	}
	text, args := p.named(`SELECT n.source_id, n.read_place, n.place FROM (SELECT f.source_id, f.read_place, (SELECT i.place FROM item AS i WHERE `+
		strings.Join(conds, " AND ")+` ORDER BY `+order+` LIMIT 1) AS place FROM river_subscription AS f WHERE `+strings.Join(p.subscribed(), " AND ")+
		`) AS n WHERE n.place IS NOT NULL`, map[string]any{"lo": p.lo, "hi": p.hi})
	heads, err := collect(ctx, c, func(rows *sql.Rows, n *next) error { return rows.Scan(&n.source, &n.floor, &n.place) }, text, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(heads, func(a, b next) int {
		if p.Oldest {
			return cmp.Compare(a.place, b.place)
		}
		return cmp.Compare(b.place, a.place)
	})
	// So many sources have something nearer than the rest has.
	heads = heads[:min(len(heads), p.limit)]
	var all []int64
	for len(heads) > 0 {
		some := heads[:min(len(heads), 500)]
		heads = heads[len(some):]
		q := *p
		if len(all) >= p.limit {
			q.within(all[p.limit-1])
		} else if len(heads)+len(some)+len(all) >= p.limit {
			q.within(some[min(len(some), p.limit-len(all))-1].place)
		}
		more, err := q.followUp(ctx, c, some)
		if err != nil {
			return nil, err
		}
		all = p.sort(append(all, more...))
		if len(all) >= p.limit {
			last := all[p.limit-1]
			heads = slices.DeleteFunc(heads, func(n next) bool { return p.Oldest && n.place > last || !p.Oldest && n.place < last })
		}
	}
	return all, nil
}

// within leaves out what is farther than a place.
func (p *itemPlan) within(place int64) {
	if p.Oldest {
		p.hi = min(p.hi, place+1)
	} else {
		p.lo = max(p.lo, place)
	}
}

// followUp asks sources for their next items, each for as many as there may be room for.
func (p *itemPlan) followUp(ctx context.Context, c Conn, heads []next) ([]int64, error) {
	rows := make([][]int64, len(heads))
	for i, n := range heads {
		lo := p.lo
		if p.Unread {
			lo = max(lo, n.floor)
			n.floor = lo
		}
		rows[i] = []int64{n.source, n.floor, lo, p.hi, int64(p.limit)}
	}
	order := "i.place DESC"
	if p.Oldest {
		order = "i.place"
	}
	q := *p
	q.SourceID = 0
	conds := append([]string{"i.source_id = :source", "i.place >= :lo", "i.place < :hi"}, q.marks(":floor", false)...)
	text, args := p.each(`SELECT x.place FROM {EACH ROWS} (SELECT i.place FROM item AS i WHERE `+strings.Join(conds, " AND ")+
		` ORDER BY `+order+` LIMIT :most) AS x`, []string{"source", "floor", "lo", "hi", "most"}, rows)
	var all []int64
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var place int64
		err := rows.Scan(&place)
		all = append(all, place)
		return err
	}, args)
	return all, err
}
