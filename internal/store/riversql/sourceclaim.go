package riversql

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// ClaimSources implements river.Store. It claims rows in one transaction and reads the sources
// afterwards. It omits sources whose claim was lost in between.
func (s *sourceStore) ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.Source, error) {
	table := sqldb.DueTable{Name: "source", Alias: "s", Due: "next_at"}
	ids, err := sqldb.Claim(ctx, s.db, table, now, limit, func(ctx context.Context, c sqldb.Conn, d sqldb.Due) ([]int64, error) {
		return claimSources(ctx, c, now, until, max(d.Limit, 0), claim)
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	list, err := unpackSources(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) {
		return sourcesByID(ctx, c, ids, claim)
	}))
	order := make(map[int64]int, len(ids))
	for i, id := range ids {
		order[id] = i
	}
	slices.SortFunc(list, func(a, b river.Source) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	return list, err
}

// claimSources returns the ids of the claimed sources. Sources that received a push come first.
func claimSources(ctx context.Context, c sqldb.Conn, now, until time.Time, limit int, claim int64) ([]int64, error) {
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM source WHERE heard_at > 0 AND next_at <= $1 ORDER BY next_at LIMIT $2 {CLAIM}`, sqldb.Millis(now), limit)
	if err != nil {
		return nil, err
	}
	if len(ids) < limit {
		due, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM source WHERE next_at <= $1 ORDER BY next_at LIMIT $2 {CLAIM}`, sqldb.Millis(now), limit)
		if err != nil {
			return nil, err
		}
		for _, id := range due {
			if len(ids) < limit && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	_, err = c.Exec(ctx, `UPDATE source SET claim = $1, next_at = $2, heard_in = FALSE WHERE id {ALL} $3 {END ALL}`, claim, sqldb.Millis(until), idList(ids))
	return ids, err
}

// idList encodes ids as JSON for the token {ALL} of [sqldb.Dialect].
func idList(ids []int64) string {
	b := append(make([]byte, 0, 20*len(ids)+2), '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

// sourcesByID reads those of the sources that have this claim, in no particular order.
func sourcesByID(ctx context.Context, c sqldb.Conn, ids []int64, claim int64) ([]sourceRow, error) {
	return sqldb.Collect(ctx, c, scanSource, `SELECT `+sourceColumns+sourceTables+` WHERE s.claim = $1 AND s.id {ALL} $2 {END ALL}`, claim, idList(ids))
}

// ClaimSource implements river.Store.
func (s *sourceStore) ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (river.Source, error) {
	rows, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) {
		n, err := c.Exec(ctx, `UPDATE source SET claim = $1, next_at = $2, heard_in = FALSE
			WHERE id = $3 AND (claim = 0 OR next_at IS NULL OR next_at <= $4)`, claim, sqldb.Millis(until), id, sqldb.Millis(now))
		if err != nil {
			return nil, err
		}
		rows, err := sourceByID(ctx, c, id)
		if err == nil && n == 0 && len(rows) > 0 {
			err = fault.New(fault.Conflict, "The feed %s is being read.", rows[0].URL)
		}
		return rows, err
	})
	return oneSource(rows, err)
}

// NextSource implements river.Store.
func (s *sourceStore) NextSource(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT next_at FROM source WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`)
}

// PlanChecks implements river.Store.
func (s *sourceStore) PlanChecks(ctx context.Context, ids []int64, plan func(s *river.Source) bool) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		list := idList(ids)
		if _, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM source WHERE id {ALL} $1 {END ALL} ORDER BY id {LOCK}`, list); err != nil {
			return 0, err
		}
		sources, err := unpackSources(sqldb.Collect(ctx, c, scanSourceHead, `SELECT `+sourceHead+sourceTables+` WHERE s.id {ALL} $1 {END ALL}`, list))
		if err != nil {
			return 0, err
		}
		var rows [][]any
		for i := range sources {
			one := &sources[i]
			if !plan(one) {
				continue
			}
			state, err := one.State.AppendJSON(nil)
			if err != nil {
				return 0, err
			}
			rows = append(rows, []any{one.ID, string(state), sqldb.Millis(one.NextAt)})
		}
		if len(rows) > 0 {
			_, err = c.Bulk(ctx, `rows(id i, state t, next i) UPDATE source AS s SET state = :state, claim = 0, heard_in = FALSE,
					next_at = CASE WHEN s.readers = 0 OR :next = 0 THEN NULL ELSE :next END
				{FROM ROWS} WHERE s.id = :id`, rows)
		}
		return len(rows), err
	})
}

// PutOff implements river.Store.
func (s *sourceStore) PutOff(ctx context.Context, list []river.PutOff) error {
	if len(list) == 0 {
		return nil
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b river.PutOff) int { return cmp.Compare(a.ID, b.ID) })
	rows := make([][]any, len(list))
	for i, p := range list {
		rows[i] = []any{p.ID, p.Claim, sqldb.Millis(p.NextAt)}
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Bulk(ctx, `rows(id i, claim i, next i) UPDATE source AS s SET claim = 0, heard_in = FALSE,
				next_at = CASE WHEN s.readers = 0 OR :next = 0 THEN NULL ELSE :next END
			{FROM ROWS} WHERE s.id = :id AND s.claim = :claim AND s.claim <> 0`, rows)
		return err
	})
}

// ReleaseClaims implements river.Store.
func (s *sourceStore) ReleaseClaims(ctx context.Context, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		for _, text := range []string{
			`UPDATE source SET claim = 0, heard_in = FALSE, next_at = CASE WHEN readers = 0 THEN NULL ELSE CAST($1 AS BIGINT) END
				WHERE id IN (SELECT id FROM source WHERE next_at IS NOT NULL AND claim <> 0)`,
			`UPDATE reading_list SET claim = 0, next_at = $1 WHERE next_at IS NOT NULL AND claim <> 0`,
			`UPDATE notice SET claim = 0, next_at = $1 WHERE next_at IS NOT NULL AND claim <> 0`,
		} {
			if _, err := c.Exec(ctx, text, sqldb.Millis(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// MarkPushed implements river.Store. A push that arrives during a check (heard_in) may or may not
// be contained in the result of the check, so the source is due again after the check.
func (s *sourceStore) MarkPushed(ctx context.Context, url, via string, now time.Time) ([]int64, error) {
	url, via = sqldb.Clean(url), sqldb.Clean(via)
	named, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]int64, error) { return sourcesNamed(ctx, c, url) })
	if err != nil || len(named) == 0 {
		return nil, err
	}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]int64, error) {
		if named, err = sourcesNamed(ctx, c, url); err != nil {
			return nil, err
		}
		rows := make([][]any, len(named))
		for i, id := range named {
			rows[i] = []any{id, sqldb.Millis(now), via}
		}
		_, err := c.Bulk(ctx, `rows(id i, now i, door t) UPDATE source AS s SET heard_at = :now, heard = :door,
				heard_in = (s.claim <> 0 AND s.next_at > :now),
				next_at = CASE WHEN s.next_at <= :now OR s.claim <> 0 AND s.next_at > :now THEN s.next_at ELSE :now END
			{FROM ROWS} WHERE s.id = :id AND s.readers > 0 AND NOT s.gone`, rows)
		return named, err
	})
}

// sourcesNamed returns the ids, sorted, of the followed sources that a URL refers to. It omits
// sources with a login.
func sourcesNamed(ctx context.Context, c sqldb.Conn, url string) ([]int64, error) {
	return sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s WHERE s.readers > 0 AND NOT s.gone AND s.login = '' AND s.id IN
		(SELECT id FROM source WHERE url = $1 UNION SELECT id FROM source WHERE first_url = $1 AND first_url <> url
			UNION SELECT id FROM source WHERE topic = $1 AND topic <> '' AND topic <> url) ORDER BY s.id`, url)
}
