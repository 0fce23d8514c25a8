package sqlstore

import (
	"context"
	"database/sql"
)

// IndexItems is river.Store.IndexItems. Texts are read and taken apart before the
// transaction; who changes an item meanwhile is found out by its number.
func (s *Store) IndexItems(ctx context.Context, n int) (int, error) {
	type unindexed struct {
		itemRow
		seq int64
	}
	list, err := read(ctx, s, func(ctx context.Context, c Conn) ([]unindexed, error) {
		return collect(ctx, c, func(rows *sql.Rows, r *unindexed) error {
			return rows.Scan(append([]any{&r.seq, &r.content}, r.fields()...)...)
		}, `SELECT u.seq, t.content, `+itemColumns+` FROM (SELECT place, seq FROM item_unindexed ORDER BY place DESC LIMIT $1) AS u
			JOIN item AS i ON i.place = u.place LEFT JOIN item_content AS t ON t.place = u.place`, min(max(n, 0), 1000))
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	words, rows := make(map[int64]string, len(list)), make([][]any, len(list))
	for i := range list {
		r := &list[i]
		if err := r.unpack(); err != nil {
			return 0, err
		}
		words[r.place] = s.Words.document(&r.Item)
		rows[i] = []any{r.place, r.seq}
	}
	return len(list), s.Write(ctx, func(ctx context.Context, c Conn) error {
		var taken, docs [][]any
		err := c.BulkQuery(ctx, `rows(at i, number i) DELETE FROM item_unindexed {USING ROWS}
			WHERE place = :at AND seq = :number RETURNING place`, func(rows *sql.Rows) error {
			var place int64
			err := rows.Scan(&place)
			taken, docs = append(taken, []any{place}), append(docs, []any{place, words[place]})
			return err
		}, rows)
		if err != nil {
			return err
		}
		if _, err := c.Bulk(ctx, `rows(place i) DELETE FROM item_word {USING ROWS} WHERE item_word.{DOC} = :place`, taken); err != nil {
			return err
		}
		_, err = c.Bulk(ctx, `rows(place i, words t) INSERT INTO item_word ({DOC}, words) SELECT :place, CAST(:words AS {WORDS}) {FROM ROWS} WHERE true`, docs)
		return err
	})
}

// find asks for places with these words in [lo, hi), in order.
func (s *Store) find(ctx context.Context, c Conn, query string, lo, hi int64, oldest bool, n int) ([]int64, error) {
	if s.Words == FTS5 {
		order := " DESC"
		if oldest {
			order = ""
		}
		return collect(ctx, c, scanID, `SELECT rowid FROM item_word WHERE item_word MATCH $1 AND rowid >= $2 AND rowid < $3
			ORDER BY rowid`+order+` LIMIT $4`, query, lo, hi, n)
	}
	return collect(ctx, c, scanID, `SELECT f FROM item_found(CAST($1 AS tsquery), $2, $3, $4, $5) AS f`, query, hi, lo, !oldest, n)
}

// probe is find among the nearest of all items, by going through them: what the index
// of words of PostgreSQL would take long for is soon found so. It returns how far it got.
func (s *Store) probe(ctx context.Context, c Conn, query string, lo, hi int64, oldest bool, n int) ([]int64, int64, error) {
	order, end := " DESC", lo
	if oldest {
		order, end = "", hi
	}
	bound, err := collect(ctx, c, scanID, `SELECT place FROM item_word WHERE place >= $1 AND place < $2 ORDER BY place`+order+` LIMIT 1 OFFSET $3`, lo, hi, searchProbe)
	if err != nil {
		return nil, end, err
	}
	if len(bound) > 0 {
		if end = bound[0]; oldest {
			hi = end
		} else {
			lo = end
		}
	}
	found, err := collect(ctx, c, scanID, `SELECT place FROM item_word WHERE place >= $1 AND place < $2 AND words @@ CAST($3 AS tsquery)
		ORDER BY place`+order+` LIMIT $4`, lo, hi, query, n)
	return found, end, err
}

const (
	searchProbe   = 2000
	searchFirst   = 200  // places asked for at first
	searchMost    = 5000 // and then
	searchSources = 1000 // words that a query has for sources at most
)

// search gives the places of the items that match, in the order of the river.
func (p *itemPlan) search(ctx context.Context, s *Store, c Conn) ([]int64, error) {
	query := s.Words.query(p.terms, nil)
	var all []int64
	lo, hi := p.lo, p.hi
	more := func(found []int64) error {
		kept, err := p.keep(ctx, c, found)
		all = append(all, kept...)
		return err
	}
	advance := func(last int64) {
		if p.Oldest {
			lo = last + 1
		} else {
			hi = last
		}
	}
	if s.Words == TSVector {
		n := max(searchFirst, p.limit)
		found, end, err := s.probe(ctx, c, query, lo, hi, p.Oldest, n)
		if err != nil {
			return nil, err
		}
		if err := more(found); err != nil || len(all) >= p.limit {
			return all, err
		}
		switch {
		case len(found) == n:
			advance(found[n-1])
		case p.Oldest:
			lo = end
		default:
			hi = end
		}
	}
	narrowed := false
	for n := max(searchFirst, p.limit); lo < hi && len(all) < p.limit; n = min(4*n, max(searchMost, p.limit)) {
		found, err := s.find(ctx, c, query, lo, hi, p.Oldest, n)
		if err != nil {
			return nil, err
		}
		if err := more(found); err != nil || len(found) < n {
			return all, err
		}
		advance(found[len(found)-1])
		if !narrowed && len(all) < p.limit/2 { // much of what was found is of others
			narrowed = true
			sources, err := p.sourceIDs(ctx, c, searchSources)
			if err != nil {
				return nil, err
			}
			if sources != nil {
				query = s.Words.query(p.terms, sources)
			}
		}
	}
	return all, nil
}
