package riversql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/store/sqldb"
)

// keptRule contains the fields of a rule that no query needs. They are stored as JSON.
type keptRule struct {
	Name string             `json:"name,omitempty"`
	When []filter.Condition `json:"when"`
	filter.Actions
}

// ruleRow is a rule as stored.
type ruleRow struct {
	filter.Rule
	apply sql.NullInt64 // place below which existing items are not compared with the rule yet; NULL: none
	kept  string
}

const filterColumns = `f.id, f.reader, f.source_id, f.category, f.position, NOT f.enabled, f.version, f.created_at, f.matched, f.last_at, f.apply_place, f.applied, f.rule`

func scanRule(rows *sql.Rows, r *ruleRow) error {
	err := rows.Scan(&r.ID, &r.Reader, &r.SourceID, &r.Category, &r.Position, &r.Off, &r.Version, (*sqldb.Time)(&r.CreatedAt), &r.Matched,
		(*sqldb.Time)(&r.LastAt), &r.apply, &r.Applied, &r.kept)
	r.Applying = r.apply.Valid
	return err
}

// unpackRules decodes the conditions and actions of rules.
func unpackRules(rows []ruleRow, err error) ([]filter.Rule, error) {
	if err != nil {
		return nil, err
	}
	list := make([]filter.Rule, len(rows))
	for i := range rows {
		r := &rows[i]
		var kept keptRule
		if err := json.Unmarshal([]byte(r.kept), &kept); err != nil {
			return nil, fmt.Errorf("read filter %d: %w", r.ID, err)
		}
		r.Name, r.Conditions, r.Actions = kept.Name, kept.When, kept.Actions
		list[i] = r.Rule
	}
	return list, nil
}

// Filters implements river.Store.
func (s *filterStore) Filters(ctx context.Context, reader string) ([]filter.Rule, error) {
	return unpackRules(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ruleRow, error) {
		return sqldb.Collect(ctx, c, scanRule, `SELECT `+filterColumns+` FROM river_filter AS f
			WHERE f.reader = $1 AND f.dropped_at = 0 ORDER BY f.position, f.id`, sqldb.Clean(reader))
	}))
}

// PutFilter implements river.Store.
func (s *filterStore) PutFilter(ctx context.Context, r filter.Rule, limit int) (filter.Rule, error) {
	r.Reader, r.Category = sqldb.Clean(r.Reader), sqldb.Clean(r.Category)
	kept, err := sqldb.JSON(keptRule{r.Name, r.Conditions, r.Actions})
	if err != nil {
		return r, err
	}
	rows, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ruleRow, error) {
		id := r.ID
		if id == 0 {
			if id, err = addFilter(ctx, c, &r, limit); err != nil {
				return nil, err
			}
		}
		var apply any
		if r.Applying && !r.Off {
			apply = int64(math.MaxInt64)
		}
		n, err := c.Exec(ctx, `UPDATE river_filter SET source_id = $1, category = $2, enabled = $3, version = version + 1, apply_place = $4,
				applied = CASE WHEN $5 THEN 0 ELSE applied END, rule = $6 WHERE id = $7 AND reader = $8 AND dropped_at = 0`,
			r.SourceID, r.Category, !r.Off, apply, apply != nil, kept, id, r.Reader)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, noFilter()
		}
		if apply != nil || !r.Hide { // the next application of the rule decides again which items it hides
			_, err = c.Exec(ctx, `UPDATE item_mark SET hidden_by = 0 WHERE reader = $1 AND hidden_by = $2 AND hidden_by <> 0`, r.Reader, id)
			if err != nil {
				return nil, err
			}
		}
		return sqldb.Collect(ctx, c, scanRule, `SELECT `+filterColumns+` FROM river_filter AS f WHERE f.id = $1`, id)
	})
	list, err := unpackRules(rows, err)
	return sqldb.First(list, err, "There is no such filter.")
}

func noFilter() error { return fault.New(fault.NotFound, "There is no such filter.") }

// addFilter adds a rule without conditions and actions as the last rule of its reader.
func addFilter(ctx context.Context, c sqldb.Conn, r *filter.Rule, limit int) (int64, error) {
	have, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM river_filter WHERE reader = $1 AND dropped_at = 0`, r.Reader)
	if err != nil {
		return 0, err
	}
	if have >= int64(limit) {
		return 0, fault.New(fault.TooMany, "You already have %d filters, which is the limit: delete one first.", have)
	}
	id, err := sqldb.Count(ctx, c, `SELECT COALESCE(MAX(id), 0) + 1 FROM river_filter`)
	if err != nil {
		return 0, err
	}
	_, err = c.Exec(ctx, `INSERT INTO river_filter (id, reader, source_id, category, position, enabled, version, created_at, dropped_at, matched, last_at, apply_place, applied, rule)
		VALUES ($1, $2, 0, '', (SELECT COALESCE(MAX(p.position), 0) + 1 FROM river_filter AS p WHERE p.reader = $2), FALSE, $3, $3, 0, 0, 0, NULL, 0, '')`,
		id, r.Reader, sqldb.Millis(r.CreatedAt))
	return id, err
}

// DropFilter implements river.Store.
func (s *filterStore) DropFilter(ctx context.Context, reader string, id int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE river_filter SET dropped_at = $1, apply_place = NULL, version = version + 1 WHERE id = $2 AND reader = $3 AND dropped_at = 0`,
			sqldb.Millis(now), id, sqldb.Clean(reader))
		if err == nil && n == 0 {
			err = noFilter()
		}
		return err
	})
}

// RestoreFilter implements river.Store.
func (s *filterStore) RestoreFilter(ctx context.Context, reader string, id int64, since time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE river_filter SET dropped_at = 0, version = version + 1 WHERE id = $1 AND reader = $2 AND dropped_at >= $3 AND dropped_at > 0`,
			id, sqldb.Clean(reader), sqldb.Millis(since))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "You have not deleted this filter in the last minute.")
		}
		return err
	})
}

// MoveFilter implements river.Store.
func (s *filterStore) MoveFilter(ctx context.Context, reader string, id int64, down bool) error {
	reader = sqldb.Clean(reader)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM river_filter WHERE reader = $1 AND dropped_at = 0 ORDER BY position, id {LOCK}`, reader)
		if err != nil {
			return err
		}
		at := slices.Index(ids, id)
		if at < 0 {
			return noFilter()
		}
		to := at - 1
		if down {
			to = at + 1
		}
		if to < 0 || to >= len(ids) {
			return nil
		}
		ids[at], ids[to] = ids[to], ids[at]
		rows := make([][]any, len(ids))
		for i, id := range ids {
			rows[i] = []any{id, int64(i + 1)}
		}
		_, err = c.Bulk(ctx, `rows(id i, position i) UPDATE river_filter AS f SET position = :position {FROM ROWS} WHERE f.id = :id`, rows)
		return err
	})
}

// ShowHidden implements river.Store.
func (s *filterStore) ShowHidden(ctx context.Context, reader string, ids []int64) error {
	rows, places := make([][]any, len(ids)), [][]any(nil)
	for i, id := range ids {
		rows[i] = []any{id}
	}
	reader = sqldb.Clean(reader)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		found, err := itemPlaces(ctx, c, rows)
		if err != nil {
			return err
		}
		places = nil
		for _, place := range found {
			places = append(places, []any{reader, place})
		}
		_, err = c.Bulk(ctx, `rows(reader t, place i) UPDATE item_mark AS k SET hidden_by = 0 {FROM ROWS} WHERE k.reader = :reader AND k.place = :place`, places)
		return err
	})
}
