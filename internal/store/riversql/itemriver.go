package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"cloudburst/internal/store/sqldb"
)

// There are two methods to find the next items of many sources. A scan reads all items in order and
// filters by source: it is fast if the reader's items are a large part of all items. A merge
// queries each source for its next items: it is fast for few or silent sources. river scans a range
// first, then merges.
const (
	shortScan   = 400
	longScan    = 4000
	manySources = 1000
	fewSources  = 100
)

// river returns the next places of many sources.
func (p *itemPlan) river(ctx context.Context, c sqldb.Conn) ([]int64, error) {
	q := *p
	var ids, found []int64
	var err error
	if p.Category != "" || len(p.Categories) > 0 {
		if ids, err = p.sourceIDs(ctx, c, fewSources); err != nil {
			return nil, err
		}
		if ids != nil {
			if len(ids) == 0 {
				return nil, nil
			}
			q.only(ids)
		}
	}
	scan := func(n int) (done bool, err error) {
		more, done, err := q.scan(ctx, c, n)
		found = append(found, more...)
		q.limit = p.limit - len(found)
		return done || q.limit <= 0, err
	}
	n := max(shortScan, 4*p.limit)
	if done, err := scan(n); done || err != nil {
		return found, err
	}
	if len(found) >= q.limit { // the scan found enough, so a second scan soon finds the rest
		if done, err := scan(min(2*n*q.limit/len(found), n)); done || err != nil {
			return found, err
		}
	}
	if ids == nil {
		if ids, err = q.sourceIDs(ctx, c, manySources); err != nil {
			return nil, err
		}
	}
	if ids == nil || len(ids) > fewSources && (p.Unread || p.Read) { // a scan skips marked items faster than a merge
		if done, err := scan(max(longScan, 4*p.limit)); done || err != nil {
			return found, err
		}
	}
	more, err := q.merge(ctx, c)
	return append(found, more...), err
}

// only replaces the conditions on sources by the list of the sources that match them: a scan
// evaluates it faster.
func (p *itemPlan) only(ids []int64) {
	p.SourceID, p.Category, p.Categories, p.Sources = 0, "", nil, ids
	p.values = maps.Clone(p.values)
	p.values["sources"] = idList(ids)
}

// scan reads the next n items of all sources, adds the matching ones, and moves p past them. done
// reports that no items are left.
func (p *itemPlan) scan(ctx context.Context, c sqldb.Conn, n int) (found []int64, done bool, err error) {
	order := " DESC"
	if p.Oldest {
		order = ""
	}
	end, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT place FROM item WHERE place >= $1 AND place < $2 ORDER BY place`+order+` LIMIT 1 OFFSET $3`, p.lo, p.hi, n)
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
	found, err = part.query(ctx, c, append([]string{"i.place >= :lo", "i.place < :hi"}, p.all(false)...))
	return found, done, err
}

// sourceIDs returns the reader's sources that match the query. It returns nil if there are more
// than limit, or if the sources do not restrict the items.
func (p *itemPlan) sourceIDs(ctx context.Context, c sqldb.Conn, limit int) ([]int64, error) {
	if p.Starred || len(p.IDs) > 0 || len(p.Firsts) > 0 {
		return nil, nil
	}
	text, args := p.named(`SELECT f.source_id FROM river_subscription AS f WHERE `+strings.Join(p.subscribed(), " AND ")+` LIMIT :most`,
		map[string]any{"most": limit + 1})
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, text, args...)
	if err != nil || len(ids) > limit {
		return nil, err
	}
	if ids == nil {
		ids = []int64{}
	}
	return ids, nil
}

// subscribed returns the conditions on the subscriptions of a query.
func (p *itemPlan) subscribed() []string {
	conds := []string{"f.reader = :reader"}
	if p.Category != "" {
		conds = append(conds, `f.source_id IN (SELECT m.source_id FROM river_category_source AS m WHERE m.reader = :reader AND m.category = :category)`)
	}
	q := *p
	q.Category = ""
	return append(conds, q.sources("f.source_id")...)
}

// next is the next item of a source.
type next struct {
	source, floor, place int64
	found                int   // number of items in the last query
	last                 int64 // place of the last of these items
}

// merge queries each source for its next item, and the sources with near items for more.
func (p *itemPlan) merge(ctx context.Context, c sqldb.Conn) ([]int64, error) {
	order := "i.place DESC"
	if p.Oldest {
		order = "i.place"
	}
	// Compute one lower bound, because an index search uses only one.
	floor := "CASE WHEN f.read_place > :lo THEN f.read_place ELSE :lo END"
	conds := append([]string{"i.source_id = f.source_id", "i.place < :hi"}, p.marks(floor, false)...)
	if !p.Unread {
		conds = append(conds, "i.place >= :lo")
	}
	text, args := p.named(`SELECT n.source_id, n.read_place, n.place FROM (SELECT f.source_id, f.read_place, (SELECT i.place FROM item AS i WHERE `+
		strings.Join(conds, " AND ")+` ORDER BY `+order+` LIMIT 1) AS place FROM river_subscription AS f WHERE `+strings.Join(p.subscribed(), " AND ")+
		`) AS n WHERE n.place IS NOT NULL`, map[string]any{"lo": p.lo, "hi": p.hi})
	heads, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, n *next) error { return rows.Scan(&n.source, &n.floor, &n.place) }, text, args...)
	if err != nil {
		return nil, err
	}
	return p.nearest(ctx, c, heads)
}

// nearest returns the next items of sources whose first item is known. It queries each source for a
// few items, and for more only if all of these are near enough.
func (p *itemPlan) nearest(ctx context.Context, c sqldb.Conn, heads []next) ([]int64, error) {
	slices.SortFunc(heads, func(a, b next) int { return p.compare(a.place, b.place) })
	// Only the first limit sources can contribute: their first items are nearer than those of all
	// other sources.
	heads = heads[:min(len(heads), p.limit)]
	bound := *p
	if len(heads) == p.limit {
		bound.within(heads[p.limit-1].place)
	}
	var all []int64
	for limit := 4 + 2*p.limit/max(len(heads), 1); len(heads) > 0; limit *= 4 {
		for i := range heads { // continue each source at the place that the last query reached
			heads[i].found, heads[i].last = 0, heads[i].place
		}
		found, err := bound.followUp(ctx, c, heads, limit)
		if err != nil {
			return nil, err
		}
		if all = p.sort(append(all, found...)); len(all) == p.limit {
			bound.within(all[p.limit-1])
		}
		heads = slices.DeleteFunc(heads, func(n next) bool {
			return n.found < limit || len(all) == p.limit && p.compare(n.last, all[p.limit-1]) >= 0
		})
		for i := range heads {
			heads[i].place = heads[i].last + 1
			if !p.Oldest {
				heads[i].place = heads[i].last - 1
			}
		}
	}
	return all, nil
}

// compare orders places in the direction of the query.
func (p *itemPlan) compare(a, b int64) int {
	if p.Oldest {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(b, a)
}

// within limits p to places up to and including place, in the direction of the query.
func (p *itemPlan) within(place int64) {
	if p.Oldest {
		p.hi = min(p.hi, place+1)
	} else {
		p.lo = max(p.lo, place)
	}
}

// followUp queries sources for their next items after n.place, and records in heads how far each
// query reached.
func (p *itemPlan) followUp(ctx context.Context, c sqldb.Conn, heads []next, limit int) ([]int64, error) {
	rows, at := make([][]int64, len(heads)), make(map[int64]*next, len(heads))
	for i := range heads {
		n := &heads[i]
		at[n.source] = n
		lo, hi, floor := p.lo, min(p.hi, n.place+1), n.floor
		if p.Oldest {
			lo, hi = max(p.lo, n.place), p.hi
		}
		if p.Unread {
			lo = max(lo, floor)
			floor = lo
		}
		rows[i] = []int64{n.source, floor, lo, hi, int64(limit)}
	}
	order := "i.place DESC"
	if p.Oldest {
		order = "i.place"
	}
	conds := append([]string{"i.source_id = :source", "i.place >= :lo", "i.place < :hi"}, p.marks(":floor", false)...)
	text, args := p.each(`SELECT x.source_id, x.place FROM {EACH ROWS} (SELECT i.source_id, i.place FROM item AS i WHERE `+strings.Join(conds, " AND ")+
		` ORDER BY `+order+` LIMIT :most) AS x`, []string{"source", "floor", "lo", "hi", "most"}, rows)
	var all []int64
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var source, place int64
		err := rows.Scan(&source, &place)
		all = append(all, place)
		if n := at[source]; n != nil {
			if n.found++; p.compare(place, n.last) > 0 {
				n.last = place
			}
		}
		return err
	}, args)
	return all, err
}
