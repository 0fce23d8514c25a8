package riversql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// listRow is a reading list as stored.
type listRow struct {
	river.ReadingList
	state, memory string
}

const listColumns = `l.id, l.reader, l.url, l.title, l.category, l.state, l.memory, l.feeds, l.read_at, l.next_at, l.claim, l.problem`

func scanList(rows *sql.Rows, r *listRow) error {
	l := &r.ReadingList
	return rows.Scan(&l.ID, &l.Reader, &l.URL, &l.Title, &l.Category, &r.state, &r.memory, (*sqldb.Int)(&l.Feeds), (*sqldb.Time)(&l.ReadAt),
		(*sqldb.Time)(&l.NextAt), &l.Claim, &l.Problem)
}

func unpackLists(rows []listRow, err error) ([]river.ReadingList, error) {
	if err != nil {
		return nil, err
	}
	var list []river.ReadingList
	for _, r := range rows {
		if err := json.Unmarshal([]byte(r.state), &r.State); err != nil {
			return nil, fmt.Errorf("read the state of the reading list %s: %w", r.URL, err)
		}
		if err := json.Unmarshal([]byte(r.memory), &r.Memory); err != nil {
			return nil, fmt.Errorf("read the memory of the reading list %s: %w", r.URL, err)
		}
		list = append(list, r.ReadingList)
	}
	return list, nil
}

func packList(l *river.ReadingList) (state, memory string, err error) {
	s, err := json.Marshal(l.State)
	if err != nil {
		return "", "", err
	}
	m, err := json.Marshal(l.Memory)
	return string(s), string(m), err
}

// atOnce is a due time in the past, in Unix milliseconds.
const atOnce = 1

func dueOrOnce(t time.Time) int64 { return max(sqldb.Millis(t), atOnce) }

// AddReadingList implements river.Store. It assigns a missing ID. A list without NextAt is due
// immediately.
func (s *readingListStore) AddReadingList(ctx context.Context, l river.ReadingList) error {
	l.Reader, l.URL = sqldb.Clean(l.Reader), sqldb.Clean(l.URL)
	if l.ID == 0 {
		l.ID = river.SourceID(l.Reader + "\x00" + l.URL)
	}
	state, memory, err := packList(&l)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `INSERT INTO reading_list (id, reader, url, title, category, state, memory, feeds, read_at, next_at, claim, problem)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11) ON CONFLICT DO NOTHING`,
			l.ID, l.Reader, l.URL, sqldb.Clean(l.Title), sqldb.Clean(l.Category), state, memory, int64(l.Feeds), sqldb.Millis(l.ReadAt), dueOrOnce(l.NextAt), sqldb.Clean(l.Problem))
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "You already follow the reading list %s.", l.URL)
		}
		return err
	})
}

// ReadingLists implements river.Store.
func (s *readingListStore) ReadingLists(ctx context.Context, reader string) ([]river.ReadingList, error) {
	return unpackLists(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]listRow, error) {
		return sqldb.Collect(ctx, c, scanList, `SELECT `+listColumns+` FROM reading_list AS l WHERE l.reader = $1 ORDER BY l.url`, sqldb.Clean(reader))
	}))
}

// DropReadingList implements river.Store.
func (s *readingListStore) DropReadingList(ctx context.Context, reader string, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM reading_list WHERE id = $1 AND reader = $2`, id, sqldb.Clean(reader))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "There is no such reading list.")
		}
		_, err = c.Exec(ctx, `UPDATE river_subscription SET list_id = 0 WHERE reader = $1 AND list_id = $2`, sqldb.Clean(reader), id)
		return err
	})
}

// ClaimReadingLists implements river.Store.
func (s *readingListStore) ClaimReadingLists(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.ReadingList, error) {
	table := sqldb.DueTable{Name: "reading_list", Alias: "l", Columns: listColumns, Key: "id i", Due: "next_at", Claim: "claim"}
	return unpackLists(sqldb.ClaimDue(ctx, s.db, table, scanList, now, until, limit, claim, func(l *listRow, until time.Time) []any {
		l.Claim, l.NextAt = claim, until
		return []any{l.ID}
	}))
}

// SaveReadingList implements river.Store.
func (s *readingListStore) SaveReadingList(ctx context.Context, l river.ReadingList) (bool, error) {
	if l.Claim == 0 {
		return false, nil
	}
	state, memory, err := packList(&l)
	if err != nil {
		return false, err
	}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) {
		n, err := c.Exec(ctx, `UPDATE reading_list SET title = $1, category = $2, state = $3, memory = $4, feeds = $5, read_at = $6,
				next_at = $7, claim = 0, problem = $8 WHERE id = $9 AND claim = $10`,
			sqldb.Clean(l.Title), sqldb.Clean(l.Category), state, memory, int64(l.Feeds), sqldb.Millis(l.ReadAt), msOrNull(l.NextAt), sqldb.Clean(l.Problem), l.ID, l.Claim)
		return n > 0, err
	})
}

// NextReadingList implements river.Store.
func (s *readingListStore) NextReadingList(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT MIN(next_at) FROM reading_list WHERE next_at IS NOT NULL`)
}
