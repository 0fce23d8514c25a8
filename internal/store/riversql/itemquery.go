package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// Items implements river.Store.
func (s *itemStore) Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error) {
	p, err := planItems(q, s.words)
	if err != nil {
		return nil, err
	}
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]entryRow, error) {
		p := *p
		if err := p.start(ctx, c); err != nil || p.lo >= p.hi {
			return nil, err
		}
		places, err := p.places(ctx, s, c)
		if err != nil {
			return nil, err
		}
		return loadEntries(ctx, c, p.values["reader"].(string), places[:min(len(places), p.limit)], q.Bare)
	})
	return unpackEntries(rows, err)
}

// places selects the method that finds the items of the query, and runs it.
func (p *itemPlan) places(ctx context.Context, s *itemStore, c sqldb.Conn) ([]int64, error) {
	switch {
	case len(p.IDs) > 0 || len(p.Firsts) > 0:
		return p.byKeys(ctx, s, c)
	case p.terms != nil:
		search := p.search
		if p.Starred {
			search = p.searchStars
		}
		if !p.BySeq && !p.ByFirst {
			return search(ctx, s, c)
		}
		q := *p
		q.limit = maxFound // find all matches: the word lists are in the order of the river, not in the order of the query
		if search = q.search; p.Starred {
			search = q.searchStars
		}
		found, err := search(ctx, s, c)
		if err != nil {
			return nil, err
		}
		return p.reorder(ctx, c, found)
	case p.HiddenBy != 0:
		return p.hiddenBy(ctx, c)
	case p.Starred:
		return p.starred(ctx, c)
	case p.BySeq || p.ByFirst:
		return p.byNumber(ctx, c)
	case p.ChangedIn > 0 || p.FirstAfter > 0:
		if few, found, err := p.recent(ctx, c); err != nil || few {
			return found, err
		}
	}
	if p.SourceID != 0 {
		conds := append([]string{"i.source_id = :source", "i.place >= :lo", "i.place < :hi"}, p.all(false)...)
		return p.query(ctx, c, conds)
	}
	return p.river(ctx, c)
}

// maxFound is the maximum number of search matches that are sorted by Seq or First.
const maxFound = 100_000

// query runs one query for items that meet the conditions, in the order of the plan.
func (p *itemPlan) query(ctx context.Context, c sqldb.Conn, conds []string) ([]int64, error) {
	text, args := p.named(`SELECT i.place FROM item AS i WHERE `+strings.Join(conds, " AND ")+` ORDER BY `+p.order()+` LIMIT :limit`,
		map[string]any{"lo": p.lo, "hi": p.hi, "limit": p.limit})
	return sqldb.Collect(ctx, c, sqldb.ScanID, text, args...)
}

// byKeys reads the items whose ids or arrival numbers the query lists.
func (p *itemPlan) byKeys(ctx context.Context, s *itemStore, c sqldb.Conn) ([]int64, error) {
	var rows [][]any
	text := `rows(id i) SELECT i.place FROM item AS i {AND ROWS} WHERE i.id = :id`
	for _, id := range p.IDs {
		rows = append(rows, []any{id})
	}
	if len(p.IDs) == 0 {
		text = `rows(came i) SELECT i.place FROM item AS i {AND ROWS} WHERE i.came = :came`
		for _, n := range p.Firsts {
			rows = append(rows, []any{n})
		}
	}
	var found []int64
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var place int64
		err := rows.Scan(&place)
		found = append(found, place)
		return err
	}, rows)
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	found, err = p.keep(ctx, c, slices.Compact(found))
	if err == nil && len(p.IDs) > 0 && len(p.Firsts) > 0 {
		q := *p
		q.IDs = nil
		others, err := q.byKeys(ctx, s, c)
		found = slices.DeleteFunc(found, func(place int64) bool { return err != nil || !slices.Contains(others, place) })
		if err != nil {
			return nil, err
		}
	}
	if err == nil && p.terms != nil {
		found, err = p.matching(ctx, s, c, found)
	}
	if err != nil || !p.BySeq && !p.ByFirst {
		return p.sort(found), err
	}
	return p.reorder(ctx, c, found)
}

// reorder sorts places by the Seq or First of their items.
func (p *itemPlan) reorder(ctx context.Context, c sqldb.Conn, places []int64) ([]int64, error) {
	rows := make([][]int64, len(places))
	for i, place := range places {
		rows[i] = []int64{place}
	}
	text, args := p.each(`SELECT i.place, i.seq, i.came FROM item AS i {AND ROWS} WHERE i.place = :place`, []string{"place"}, rows)
	return p.numbered(ctx, c, text, args)
}

// numbered runs a query for places with Seq and First, and sorts the places by the requested
// number.
func (p *itemPlan) numbered(ctx context.Context, c sqldb.Conn, text string, args [][]any) ([]int64, error) {
	by := map[int64]int64{}
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var place, seq, first int64
		err := rows.Scan(&place, &seq, &first)
		if by[place] = first; p.BySeq {
			by[place] = seq
		}
		return err
	}, args)
	all := slices.SortedFunc(maps.Keys(by), func(a, b int64) int {
		if p.Oldest {
			return cmp.Compare(by[a], by[b])
		}
		return cmp.Compare(by[b], by[a])
	})
	return all[:min(len(all), p.limit)], err
}

// starred reads the items that the reader starred.
func (p *itemPlan) starred(ctx context.Context, c sqldb.Conn) ([]int64, error) {
	conds := append([]string{"k.reader = :reader", "k.starred", "k.place >= :lo", "k.place < :hi", "i.place = k.place"},
		slices.DeleteFunc(p.all(false), func(cond string) bool { return strings.Contains(cond, "k.starred") })...)
	order := strings.ReplaceAll(p.order(), "i.place", "k.place")
	text, args := p.named(`SELECT i.place FROM item_mark AS k CROSS JOIN item AS i WHERE `+strings.Join(conds, " AND ")+
		` ORDER BY `+order+` LIMIT :limit`, map[string]any{"lo": p.lo, "hi": p.hi, "limit": p.limit})
	return sqldb.Collect(ctx, c, sqldb.ScanID, text, args...)
}

// hiddenBy reads the items that a rule of the reader hides.
func (p *itemPlan) hiddenBy(ctx context.Context, c sqldb.Conn) ([]int64, error) {
	text, args := p.named(`SELECT k.place FROM item_mark AS k WHERE k.reader = :reader AND k.hidden_by = :rule AND k.hidden_by <> 0
		AND k.place >= :lo AND k.place < :hi ORDER BY k.place DESC LIMIT :limit`, map[string]any{"lo": p.lo, "hi": p.hi, "limit": p.limit})
	return sqldb.Collect(ctx, c, sqldb.ScanID, text, args...)
}

// fewItems is the maximum number of rows that are collected and sorted in memory for a page.
const fewItems = 2000

// byNumber finds items in the order of Seq or First. If the reader's sources have few items in
// total, it reads and sorts these items. Otherwise it scans all items in that order.
func (p *itemPlan) byNumber(ctx context.Context, c sqldb.Conn) ([]int64, error) {
	ids, err := p.sourceIDs(ctx, c, 100)
	if err != nil {
		return nil, err
	}
	if ids != nil {
		rows := make([][]int64, len(ids))
		for i, id := range ids {
			rows[i] = []int64{id}
		}
		items := int64(0)
		text, args := p.each(`SELECT s.items FROM source AS s {AND ROWS} WHERE s.id = :id`, []string{"id"}, rows)
		err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
			var n int64
			err := rows.Scan(&n)
			items += n
			return err
		}, args)
		if err != nil {
			return nil, err
		}
		if items <= fewItems {
			p.values["lo"], p.values["hi"] = p.lo, p.hi
			conds := append([]string{"i.source_id = :id", "i.place >= :lo", "i.place < :hi"}, p.all(false)...)
			text, args := p.each(`SELECT i.place, i.seq, i.came FROM item AS i {AND ROWS} WHERE `+strings.Join(conds, " AND "), []string{"id"}, rows)
			return p.numbered(ctx, c, text, args)
		}
	}
	conds := append([]string{"+i.place >= :lo", "+i.place < :hi"}, p.all(true)...)
	column, other := "i.came", "+i.seq"
	if p.BySeq {
		column, other = "i.seq", "+i.came"
	}
	return p.query(ctx, c, append(conds, p.numbers(column, other)...))
}

// numbers returns the conditions on Seq and First. lead is the column by which an index is
// searched, other is the expression of the other column.
func (p *itemPlan) numbers(lead, other string) (conds []string) {
	seq, came := lead, other
	if lead != "i.seq" {
		seq, came = other, lead
	}
	if p.ChangedIn > 0 {
		conds = append(conds, seq+" > :changed")
	}
	if p.FirstAfter > 0 {
		conds = append(conds, came+" > :after")
	}
	if p.FirstBefore > 0 {
		conds = append(conds, came+" < :until")
	}
	return conds
}

// recent reads a range of Seq or First if it has few items. If the range has more than fewItems
// items, few is false.
func (p *itemPlan) recent(ctx context.Context, c sqldb.Conn) (few bool, found []int64, err error) {
	lead, other, from := "i.seq", "+i.came", p.ChangedIn
	if from == 0 {
		lead, other, from = "i.came", "+i.seq", p.FirstAfter
	}
	n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM item AS i WHERE `+lead+` > $1 ORDER BY `+lead+` LIMIT $2) AS n`, from, fewItems+1)
	if err != nil || n > fewItems {
		return false, nil, err
	}
	conds := append([]string{"+i.place >= :lo", "+i.place < :hi"}, append(p.all(true), p.numbers(lead, other)...)...)
	text, args := p.named(`SELECT i.place FROM item AS i WHERE `+strings.Join(conds, " AND ")+` ORDER BY +`+p.order()+` LIMIT :limit`,
		map[string]any{"lo": p.lo, "hi": p.hi, "limit": p.limit})
	found, err = sqldb.Collect(ctx, c, sqldb.ScanID, text, args...)
	return true, found, err
}
