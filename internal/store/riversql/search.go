package riversql

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// Numbers of items that one transaction indexes. Large transactions index faster per item, but
// block other writers longer than indexSoon.
const (
	minIndex  = 25
	maxIndex  = 200
	indexSoon = 15 * time.Millisecond
)

// IndexItems implements river.Store, in several transactions.
func (s *itemStore) IndexItems(ctx context.Context, n int) (int, error) {
	total, size := 0, minIndex
	for total < n {
		step, begin := min(size, n-total), time.Now()
		done, err := s.indexItems(ctx, step)
		if total += done; err != nil || done < step {
			return total, err
		}
		if size *= 2; time.Since(begin) > indexSoon {
			size = minIndex
		}
		size = min(size, maxIndex)
	}
	return total, nil
}

// indexItems indexes up to n items in one transaction. It reads and splits the texts before the
// transaction, and detects by item.seq that an item has changed meanwhile.
func (s *itemStore) indexItems(ctx context.Context, n int) (int, error) {
	type unindexed struct {
		itemRow
		seq  int64
		full sql.NullString
	}
	list, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]unindexed, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *unindexed) error {
			return rows.Scan(append([]any{&r.seq, &r.content, &r.full}, r.fields()...)...)
		}, `SELECT u.seq, t.content, x.html, `+itemColumns+` FROM (SELECT place, seq FROM item_unindexed ORDER BY place DESC LIMIT $1) AS u
			JOIN item AS i ON i.place = u.place LEFT JOIN item_content AS t ON t.place = u.place LEFT JOIN item_full AS x ON x.place = u.place`, n)
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	words, changed, rows := make(map[int64]string, len(list)), map[int64]bool{}, make([][]any, len(list))
	for i := range list {
		r := &list[i]
		if err := r.unpack(); err != nil {
			return 0, err
		}
		if r.full.String != "" {
			r.Text += "\n" + river.TextOf(r.full.String)
		}
		words[r.place], changed[r.place] = s.words.document(&r.Item), r.Seq != r.First || r.full.String != ""
		rows[i] = []any{r.place, r.seq}
	}
	return len(list), s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		docs, old := map[int64]string{}, []int64{}
		err := c.BulkQuery(ctx, `rows(at i, number i) DELETE FROM item_unindexed {USING ROWS}
			WHERE place = :at AND seq = :number RETURNING place`, func(rows *sql.Rows) error {
			var place int64
			err := rows.Scan(&place)
			if docs[place] = words[place]; changed[place] {
				old = append(old, place)
			}
			return err
		}, rows)
		if err != nil {
			return err
		}
		if err := deleteWords(ctx, c, old); err != nil {
			return err
		}
		return s.insertWords(ctx, c, docs)
	})
}

// deleteWords and insertWords use one statement each: FTS5 writes one index segment per statement
// and merges the segments later.
func deleteWords(ctx context.Context, c sqldb.Conn, places []int64) error {
	if len(places) == 0 {
		return nil
	}
	list, _ := json.Marshal(places) // encoding numbers never fails
	_, err := c.Exec(ctx, `DELETE FROM item_word WHERE {DOC} {ALL} $1 {END ALL}`, string(list))
	return err
}

func (s *itemStore) insertWords(ctx context.Context, c sqldb.Conn, docs map[int64]string) error {
	var rows [][]any
	for _, place := range slices.Sorted(maps.Keys(docs)) {
		rows = append(rows, []any{place, docs[place]})
	}
	if s.words == TSVector {
		_, err := c.Bulk(ctx, `rows(place i, words t) INSERT INTO item_word (place, words)
			SELECT :place, CAST(:words AS tsvector) {FROM ROWS} WHERE true`, rows)
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO item_word (rowid, words) SELECT value ->> 0, value ->> 1 FROM json_each($1)`, string(list))
	return err
}

// find returns up to n places in [lo, hi) whose items match the search query, in order.
func (s *itemStore) find(ctx context.Context, c sqldb.Conn, query string, lo, hi int64, oldest bool, n int) ([]int64, error) {
	if s.words == FTS5 {
		order := " DESC"
		if oldest {
			order = ""
		}
		return sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT rowid FROM item_word WHERE item_word MATCH $1 AND rowid >= $2 AND rowid < $3
			ORDER BY rowid`+order+` LIMIT $4`, query, lo, hi, n)
	}
	return sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT f FROM item_found(CAST($1 AS tsquery), $2, $3, $4, $5) AS f`, query, hi, lo, !oldest, n)
}

// probe searches the nearest n of all items by a scan. A scan finds frequent words quickly, for
// which PostgreSQL's word index is slow. end is the place that the scan reached; done reports that
// no items are left.
func (p *itemPlan) probe(ctx context.Context, c sqldb.Conn, query string, lo, hi int64, n int) (found []int64, end int64, done bool, err error) {
	order, end := " DESC", lo
	if p.Oldest {
		order, end = "", hi
	}
	bound, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT place FROM item_word WHERE place >= $1 AND place < $2 ORDER BY place`+order+` LIMIT 1 OFFSET $3`, lo, hi, n)
	if err != nil {
		return nil, end, false, err
	}
	if done = len(bound) == 0; !done {
		if end = bound[0]; p.Oldest {
			hi = end
		} else {
			lo = end
		}
	}
	found, err = sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT place FROM item_word WHERE place >= $1 AND place < $2 AND words @@ CAST($3 AS tsquery)
		ORDER BY place`+order, lo, hi, query)
	return found, end, done, err
}

const (
	maxSearch     = 5000 // maximum number of places per query
	searchStarred = 300  // maximum number of starred items to check individually
	searchSources = 1000 // maximum number of words for sources in a query
	searchRange   = 300  // number of items in the first range
	searchOwn     = 1000 // number of the reader's own items to scan at once
	searchCommon  = 30   // scanning is fast enough if one in this many items matches
)

// searching is the progress of a search.
type searching struct {
	*itemPlan
	s      *itemStore
	query  string
	lo, hi int64
	all    []int64
	sure   bool // the query is already restricted to the reader's sources
}

// take adds those of the found items that match the query, and continues the search at end.
func (f *searching) take(ctx context.Context, c sqldb.Conn, found []int64, end int64) error {
	if f.Oldest {
		f.lo = end
	} else {
		f.hi = end
	}
	kept, err := f.keep(ctx, c, found)
	f.all = append(f.all, kept...)
	return err
}

// narrow restricts the query to the reader's sources if most matches are from other sources.
func (f *searching) narrow(ctx context.Context, c sqldb.Conn, found []int64) (narrowed bool, err error) {
	if f.sure || len(found) == 0 {
		return false, nil
	}
	f.sure = true
	q := *f.itemPlan
	q.Unread, q.Read = false, false
	kept, err := q.keep(ctx, c, found)
	if err != nil || 2*len(kept) > len(found) {
		return false, err
	}
	sources, err := f.sourceIDs(ctx, c, searchSources)
	if err == nil && sources != nil {
		f.query = f.s.words.query(f.terms, sources)
	}
	return sources != nil, err
}

// scanRanges scans ranges of items as long as matches are frequent. done reports that no items are
// left.
func (f *searching) scanRanges(ctx context.Context, c sqldb.Conn) (done bool, err error) {
	for n := searchRange; f.lo < f.hi && len(f.all) < f.limit; n = min(4*n, maxSearch) {
		found, end, last, err := f.probe(ctx, c, f.query, f.lo, f.hi, n)
		if err != nil {
			return false, err
		}
		if err := f.take(ctx, c, found, end); err != nil || last {
			return last, err
		}
		if len(found)*searchCommon < n {
			return false, nil
		}
		if len(f.all) < f.limit/2 {
			if narrowed, err := f.narrow(ctx, c, found); narrowed || err != nil {
				if err == nil {
					done, err = f.own(ctx, c)
				}
				return done, err
			}
		}
	}
	return true, nil
}

// own scans the reader's own items. This quickly finds words that are frequent in all items. done
// reports that no items are left.
func (f *searching) own(ctx context.Context, c sqldb.Conn) (done bool, err error) {
	q := *f.itemPlan
	for q.limit = 2 * f.limit; len(f.all) < f.limit; q.limit = searchOwn {
		q.lo, q.hi = f.lo, f.hi
		places, err := q.river(ctx, c)
		if err != nil || len(places) == 0 {
			return true, err
		}
		found, err := q.matching(ctx, f.s, c, places)
		if err != nil {
			return false, err
		}
		f.all = append(f.all, found...)
		end := places[len(places)-1]
		if f.Oldest {
			f.lo = end + 1
		} else {
			f.hi = end
		}
		if len(places) < q.limit {
			return true, nil
		}
		if len(found)*searchCommon < len(places) {
			return false, nil
		}
	}
	return true, nil
}

// search returns the places of the matching items, in the order of the river.
func (p *itemPlan) search(ctx context.Context, s *itemStore, c sqldb.Conn) ([]int64, error) {
	f := &searching{itemPlan: p, s: s, query: s.words.query(p.terms, nil), lo: p.lo, hi: p.hi}
	if s.words == TSVector {
		if done, err := f.scanRanges(ctx, c); done || err != nil {
			return f.all, err
		}
	}
	for n := p.limit + p.limit/4 + 10; f.lo < f.hi && len(f.all) < p.limit; n = min(4*n, max(maxSearch, p.limit)) {
		found, err := s.find(ctx, c, f.query, f.lo, f.hi, p.Oldest, n)
		if err != nil || len(found) == 0 {
			return f.all, err
		}
		end := found[len(found)-1]
		if p.Oldest {
			end++
		}
		if err := f.take(ctx, c, found, end); err != nil || len(found) < n {
			return f.all, err
		}
		if len(f.all) < p.limit/2 {
			if narrowed, err := f.narrow(ctx, c, found); err != nil {
				return nil, err
			} else if narrowed {
				n = p.limit/4 + 1
			}
		}
	}
	return f.all, nil
}

// searchStars searches the starred items, which are few.
func (p *itemPlan) searchStars(ctx context.Context, s *itemStore, c sqldb.Conn) ([]int64, error) {
	q := *p
	q.limit = maxFound
	stars, err := q.starred(ctx, c)
	if err != nil {
		return nil, err
	}
	found := stars
	if s.words == TSVector || len(stars) <= searchStarred {
		if found, err = p.matching(ctx, s, c, stars); err != nil {
			return nil, err
		}
		return found[:min(len(found), p.limit)], nil
	}
	of := make(map[int64]bool, len(stars))
	for _, place := range stars {
		of[place] = true
	}
	query, lo, hi := s.words.query(p.terms, nil), p.lo, p.hi
	for found = nil; len(found) < p.limit; {
		some, err := s.find(ctx, c, query, lo, hi, p.Oldest, maxSearch)
		if err != nil {
			return nil, err
		}
		for _, place := range some {
			if of[place] {
				found = append(found, place)
			}
		}
		if len(some) < maxSearch {
			break
		}
		if hi = some[len(some)-1]; p.Oldest {
			lo, hi = hi+1, p.hi
		}
	}
	return found[:min(len(found), p.limit)], nil
}

// matching returns the places of items that contain the words of the query.
func (p *itemPlan) matching(ctx context.Context, s *itemStore, c sqldb.Conn, places []int64) ([]int64, error) {
	text := `rows(place i, query t) SELECT rowid FROM item_word WHERE item_word MATCH :query AND rowid = :place`
	if s.words == TSVector {
		text = `rows(place i, query t) SELECT w.place FROM item_word AS w {AND ROWS} WHERE w.place = :place AND w.words @@ CAST(:query AS tsquery)`
	}
	query, rows, has := s.words.query(p.terms, nil), make([][]any, len(places)), make(map[int64]bool, len(places))
	for i, place := range places {
		rows[i] = []any{place, query}
	}
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var place int64
		err := rows.Scan(&place)
		has[place] = true
		return err
	}, rows)
	return slices.DeleteFunc(slices.Clone(places), func(place int64) bool { return !has[place] }), err
}
