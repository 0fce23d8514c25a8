package riversql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/lease"
	"cloudburst/internal/store/sqldb"
)

var _ fulltext.Store = (*Store)(nil)

// maxQueuedFull is the maximum number of pages that one check of a feed queues, newest first.
const maxQueuedFull = 50

// queueFullTexts makes the pages of new items due, if a user has chosen full texts for the feed.
func queueFullTexts(ctx context.Context, c sqldb.Conn, source int64, places []int64, now time.Time) error {
	wanted, err := wantsFull(ctx, c, source)
	if err != nil || !wanted {
		return err
	}
	places = slices.SortedFunc(slices.Values(places), func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	_, err = c.Exec(ctx, `INSERT INTO item_full (place, next_at, claim, tries, read_at, problem, html)
		SELECT i.place, CAST($1 AS BIGINT), 0, 0, 0, '', '' FROM item AS i WHERE i.place {ALL} $2 {END ALL} AND i.link <> ''
		ON CONFLICT (place) DO NOTHING`, sqldb.Millis(now), idList(places[:min(len(places), maxQueuedFull)]))
	return err
}

// wantsFull reports whether a user wants the full text of the items of a source.
func wantsFull(ctx context.Context, c sqldb.Conn, source int64) (bool, error) {
	n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM river_subscription WHERE source_id = $1 AND full_text LIMIT 1) AS n`, source)
	return n > 0, err
}

// loadFullTexts adds the full texts to entries of sources for which the reader chose them.
func loadFullTexts(ctx context.Context, c sqldb.Conn, all []entryRow) error {
	at := map[int64]int{}
	var places []int64
	for i := range all {
		if all[i].source.full.Bool {
			at[all[i].place] = i
			places = append(places, all[i].place)
		}
	}
	if len(places) == 0 {
		return nil
	}
	return c.Query(ctx, `SELECT place, html, read_at FROM item_full WHERE place {ALL} $1 {END ALL} AND html <> ''`, func(rows *sql.Rows) error {
		var place int64
		var html string
		var read time.Time
		err := rows.Scan(&place, &html, (*sqldb.Time)(&read))
		full := &all[at[place]].full
		full.HTML, full.At = html, read
		return err
	}, idList(places))
}

// fullRow is a row of item_full with its item. If there is no row, place is 0.
type fullRow struct {
	text fulltext.Text
	link string
	next sql.NullInt64
	has  bool
}

func (s *itemStore) fullRow(ctx context.Context, c sqldb.Conn, item int64) (fullRow, error) {
	found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, r *fullRow) error {
		var html, problem sql.NullString
		var read sql.NullInt64
		err := rows.Scan(&r.link, &r.next, &html, &problem, &read)
		r.has, r.text.HTML, r.text.Problem = read.Valid, html.String, problem.String
		if read.Int64 != 0 {
			r.text.At = time.UnixMilli(read.Int64).UTC()
		}
		if r.next.Valid {
			r.text.NextAt = time.UnixMilli(r.next.Int64).UTC()
		}
		return err
	}, `SELECT i.link, x.next_at, x.html, x.problem, x.read_at FROM item AS i LEFT JOIN item_full AS x ON x.place = i.place WHERE i.id = $1`, item)
	return sqldb.First(found, err, "There is no such item.")
}

// FullText implements fulltext.Store.
func (s *itemStore) FullText(ctx context.Context, item int64) (fulltext.Text, error) {
	r, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (fullRow, error) { return s.fullRow(ctx, c, item) })
	return r.text, err
}

// wantedBefore is how much earlier a page is due if a user waits for it.
const wantedBefore = 24 * time.Hour

// WantFullText implements fulltext.Store.
func (s *itemStore) WantFullText(ctx context.Context, item int64, now time.Time, limit int) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		r, err := s.fullRow(ctx, c, item)
		switch {
		case err != nil || r.text.HTML != "" || r.text.Pending():
			return err
		case r.link == "":
			return fault.New(fault.Invalid, "This item has no link, so there is no page with its full text.")
		}
		waiting, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM item_full WHERE next_at IS NOT NULL LIMIT $1) AS n`, limit)
		if err != nil {
			return err
		}
		if waiting >= int64(limit) {
			return fault.New(fault.TooMany, "This server is still reading %d other pages. Try again in a few minutes.", waiting)
		}
		_, err = c.Exec(ctx, `INSERT INTO item_full (place, next_at, claim, tries, read_at, problem, html)
			SELECT i.place, CAST($1 AS BIGINT), 0, 0, 0, '', '' FROM item AS i WHERE i.id = $2
			ON CONFLICT (place) DO UPDATE SET next_at = excluded.next_at, claim = 0, tries = 0, read_at = 0, problem = ''`,
			sqldb.Millis(now.Add(-wantedBefore)), item)
		return err
	})
}

// ClaimFullTexts implements fulltext.Store.
func (s *itemStore) ClaimFullTexts(ctx context.Context, now, until time.Time, limit int, claim int64) ([]fulltext.Page, error) {
	type row struct {
		itemRow
		page fulltext.Page
	}
	table := sqldb.DueTable{Name: "item_full", Alias: "f", Due: "next_at"}
	list, err := sqldb.Claim(ctx, s.db, table, now, limit, func(ctx context.Context, c sqldb.Conn, d sqldb.Due) ([]row, error) {
		tries := map[int64]int{}
		var places []int64
		err := c.Query(ctx, `SELECT place, tries FROM item_full WHERE next_at <= $1 ORDER BY next_at LIMIT $2 {CLAIM}`, func(rows *sql.Rows) error {
			var place int64
			var n int
			err := rows.Scan(&place, &n)
			tries[place] = n
			places = append(places, place)
			return err
		}, sqldb.Millis(now), max(limit, 0))
		if err != nil || len(places) == 0 {
			return nil, err
		}
		_, err = c.Exec(ctx, `UPDATE item_full SET claim = $1, next_at = $2 WHERE place {ALL} $3 {END ALL}`, claim, sqldb.Millis(until), idList(places))
		if err != nil {
			return nil, err
		}
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *row) error {
			err := rows.Scan(append([]any{&r.content}, r.fields()...)...)
			r.page = fulltext.Page{Item: r.ID, Source: r.SourceID, Claim: claim, Link: r.Link, Tries: tries[r.place]}
			return err
		}, `SELECT t.content, `+itemColumns+` FROM item AS i LEFT JOIN item_content AS t ON t.place = i.place WHERE i.place {ALL} $1 {END ALL}`, idList(places))
	})
	pages := make([]fulltext.Page, len(list))
	for i := range list {
		if err := list[i].unpack(); err != nil {
			return nil, err
		}
		pages[i] = list[i].page
		pages[i].Words = list[i].Text
	}
	return pages, err
}

// NextFullText implements fulltext.Store.
func (s *itemStore) NextFullText(ctx context.Context) (time.Time, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (next time.Time, err error) {
		err = c.Query(ctx, `SELECT next_at FROM item_full WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`, func(rows *sql.Rows) error {
			return rows.Scan((*sqldb.Time)(&next))
		})
		return next, err
	})
}

// PutOffFullTexts implements fulltext.Store.
func (s *itemStore) PutOffFullTexts(ctx context.Context, list []lease.Back[fulltext.Page]) error {
	rows := make([][]any, len(list))
	for i, b := range list {
		rows[i] = []any{b.Row.Item, b.Row.Claim, sqldb.Millis(b.At)}
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Bulk(ctx, `rows(id i, claim i, at i) UPDATE item_full AS x SET next_at = :at, claim = 0 {FROM ROWS}
			WHERE x.place = (SELECT i.place FROM item AS i WHERE i.id = :id) AND x.claim = :claim`, rows)
		return err
	})
}

// SaveFullText implements fulltext.Store.
func (s *itemStore) SaveFullText(ctx context.Context, r fulltext.Result) (saved, followed bool, err error) {
	type result struct{ saved, followed bool }
	var next any
	if !r.NextAt.IsZero() {
		next = sqldb.Millis(r.NextAt)
	}
	got, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (out result, err error) {
		place := int64(0)
		err = c.Query(ctx, `UPDATE item_full SET html = $1, problem = $2, read_at = $3, tries = $4, next_at = CAST($5 AS BIGINT), claim = 0
			WHERE place = (SELECT i.place FROM item AS i WHERE i.id = $6) AND claim = $7 RETURNING place`, func(rows *sql.Rows) error {
			out.saved = true
			return rows.Scan(&place)
		}, sqldb.Clean(r.HTML), sqldb.Clean(r.Problem), sqldb.Millis(r.At), r.Tries, next, r.Item, r.Claim)
		if err != nil || !out.saved || r.HTML == "" {
			return out, err
		}
		if out.followed, err = wantsFull(ctx, c, r.Source); err != nil {
			return out, err
		}
		if out.followed && r.Seq != 0 {
			if _, err := c.Exec(ctx, `UPDATE item SET seq = $1 WHERE place = $2`, r.Seq, place); err != nil {
				return out, err
			}
		}
		_, err = c.Exec(ctx, `INSERT INTO item_unindexed (place, seq) SELECT place, seq FROM item WHERE place = $1
			ON CONFLICT (place) DO UPDATE SET seq = excluded.seq`, place)
		return out, err
	})
	return got.saved, got.followed, err
}
