package riversql

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// sourceRow is a source as stored.
type sourceRow struct {
	river.Source
	login, state, title string
	about, endpoints    sql.NullString
	last                []byte
	wish                int64
}

const (
	sourceHead = `s.id, s.url, s.topic, s.items, s.newest, s.readers, s.created_at, s.next_at, s.claim, s.heard_at, s.heard,
		s.wish, s.login, s.state, s.title, d.about, d.doors`
	sourceColumns = sourceHead + `, d.last` // with the items of the last document
	sourceTables  = ` FROM source AS s LEFT JOIN source_document AS d ON d.id = s.id`
)

func (r *sourceRow) fields() []any {
	s := &r.Source
	return []any{&s.ID, &s.URL, &s.Topic, &s.Items, (*placed)(&s.NewestAt), &s.Readers, (*sqldb.Time)(&s.CreatedAt), (*sqldb.Time)(&s.NextAt), &s.Claim,
		(*sqldb.Time)(&s.PushedAt), &s.PushedVia, &r.wish, &r.login, &r.state, &r.title, &r.about, &r.endpoints}
}

func scanSource(rows *sql.Rows, r *sourceRow) error { return rows.Scan(append(r.fields(), &r.last)...) }

func scanSourceHead(rows *sql.Rows, r *sourceRow) error { return rows.Scan(r.fields()...) }

// source unpacks a row, outside of the transaction to keep it short.
func (r *sourceRow) source() (river.Source, error) {
	s := r.Source
	if err := s.State.ParseJSON([]byte(r.state)); err != nil {
		return s, fmt.Errorf("read source %d: %w", s.ID, err)
	}
	for _, one := range []struct {
		text string
		into any
	}{{r.login, &s.Login}, {r.about.String, &s.About}, {r.endpoints.String, &s.PushEndpoints}} {
		if one.text == "" || one.text == "null" {
			continue
		}
		if err := json.Unmarshal([]byte(one.text), one.into); err != nil {
			return s, fmt.Errorf("read source %d: %w", s.ID, err)
		}
	}
	if !r.about.Valid { // the source was never read
		s.About.Title = r.title
	}
	// Users may have changed the interval while a check held a copy of the state.
	s.State.Interval = time.Duration(r.wish)
	for b := r.last; len(b) >= 16; b = b[16:] {
		s.Last = append(s.Last, river.Known{ID: int64(binary.BigEndian.Uint64(b)), Hash: int64(binary.BigEndian.Uint64(b[8:]))})
	}
	return s, nil
}

func unpackSources(rows []sourceRow, err error) ([]river.Source, error) {
	if err != nil {
		return nil, err
	}
	var list []river.Source
	for i := range rows {
		s, err := rows[i].source()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func noSource() error { return fault.New(fault.NotFound, "There is no such feed here.") }

func oneSource(rows []sourceRow, err error) (river.Source, error) {
	list, err := unpackSources(rows, err)
	if err == nil && len(list) == 0 {
		err = noSource()
	}
	if err != nil {
		return river.Source{}, err
	}
	return list[0], nil
}

// details contains the results of a check in addition to the state. hash changes if any other field
// changes, and is odd once the source was read. Most checks need only the hash.
type details struct {
	title, icon, home    string
	last                 []byte
	failing, gone, moved bool
	pushedUntil          int64
	hash                 int64
}

// packSource encodes a source before the transaction that writes it.
func packSource(s *river.Source) (state string, t details, err error) {
	raw, err := s.State.AppendJSON(make([]byte, 0, 1024))
	if err != nil {
		return "", t, err
	}
	t = details{title: sqldb.Clean(s.About.Title), icon: sqldb.Clean(s.About.Icon), home: sqldb.Clean(s.About.Home), last: make([]byte, 0, 16*len(s.Last)),
		failing: s.State.Failure != nil || s.State.Failures > 0, gone: s.State.Gone != nil, moved: len(s.State.Moves) > 0}
	for _, k := range s.Last {
		t.last = binary.BigEndian.AppendUint64(t.last, uint64(k.ID))
		t.last = binary.BigEndian.AppendUint64(t.last, uint64(k.Hash))
	}
	if p := s.State.Push; p.Live(p.Since) {
		if t.pushedUntil = sqldb.Millis(p.Until); t.pushedUntil == 0 {
			t.pushedUntil = math.MaxInt64
		}
	}
	t.hash = t.sum(s)
	return string(raw), t, nil
}

// sum returns the hash of all details.
func (t *details) sum(s *river.Source) int64 {
	b := make([]byte, 0, 1024)
	add := func(list ...string) {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, one := range list {
			b = append(binary.AppendUvarint(b, uint64(len(one))), one...)
		}
	}
	a := &s.About
	add(s.URL, s.Topic, a.Title, a.Description, a.Home, a.Icon, a.Language, a.Format, a.Problem)
	for _, d := range s.PushEndpoints {
		add(d.Protocol, d.Hub, d.Wire, d.Procedure)
	}
	for _, yes := range []bool{t.failing, t.gone, t.moved, !s.State.ReadAt.IsZero()} {
		b = strconv.AppendBool(b, yes)
	}
	h := fnv.New64a()
	_, _ = h.Write(append(binary.AppendVarint(b, t.pushedUntil), t.last...)) // a hash's Write returns no error
	sum := int64(h.Sum64() &^ 1)
	if !s.State.ReadAt.IsZero() {
		sum |= 1
	}
	return sum
}

// saveDetails writes the rarely changing columns and counts new items. Indexed columns are only
// written when they change, because SQLite would also write the index.
func saveDetails(ctx context.Context, c sqldb.Conn, s *river.Source, t *details, was before, places []int64) error {
	if url, topic := sqldb.Clean(s.URL), sqldb.Clean(s.Topic); url != was.url || topic != was.topic {
		if _, err := c.Exec(ctx, `UPDATE source SET url = $1, topic = $2 WHERE id = $3`, url, topic, s.ID); err != nil {
			return err
		}
	}
	var newest any
	if len(places) > 0 {
		newest = slices.Max(places)
	}
	_, err := c.Exec(ctx, `UPDATE source SET title = $1, failing = $2, gone = $3, moved = $4, pushed_until = $5, told_hash = $6, items = items + $7,
			newest = CASE WHEN newest >= CAST($8 AS BIGINT) OR CAST($8 AS BIGINT) IS NULL THEN newest ELSE CAST($8 AS BIGINT) END, icon = $9, home = $10 WHERE id = $11`,
		t.title, t.failing, t.gone, t.moved, t.pushedUntil, t.hash, len(places), newest, t.icon, t.home, s.ID)
	if err != nil || t.hash == was.hash {
		return err
	}
	about, err := sqldb.JSON(s.About)
	if err != nil {
		return err
	}
	endpoints, err := sqldb.JSON(s.PushEndpoints)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO source_document (id, about, doors, last) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET about = excluded.about, doors = excluded.doors, last = excluded.last`, s.ID, about, endpoints, t.last)
	return err
}

// Source implements river.Store.
func (s *sourceStore) Source(ctx context.Context, id int64) (river.Source, error) {
	return readSource(ctx, s.db, id)
}

// readSource reads one source; fault.NotFound if it does not exist.
func readSource(ctx context.Context, db *sqldb.DB, id int64) (river.Source, error) {
	return oneSource(sqldb.Read(ctx, db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) { return sourceByID(ctx, c, id) }))
}

func sourceByID(ctx context.Context, c sqldb.Conn, id int64) ([]sourceRow, error) {
	return sqldb.Collect(ctx, c, scanSource, `SELECT `+sourceColumns+sourceTables+` WHERE s.id = $1`, id)
}

// SourcesAt implements river.Store.
func (s *sourceStore) SourcesAt(ctx context.Context, url string) ([]river.Source, error) {
	return unpackSources(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) {
		return sqldb.Collect(ctx, c, scanSource, `SELECT `+sourceColumns+sourceTables+` WHERE s.id IN
			(SELECT id FROM source WHERE url = $1 UNION SELECT id FROM source WHERE first_url = $1 AND first_url <> url)
			ORDER BY s.login <> '', s.url <> $1, s.id`, sqldb.Clean(url))
	}))
}

// Sources implements river.Store. It omits Last.
func (s *sourceStore) Sources(ctx context.Context, q river.SourceQuery) ([]river.Source, error) {
	var w sqldb.Where
	if q.After != "" {
		w.Add("s.url > ?", sqldb.Clean(q.After))
	}
	if q.Broken {
		w.Add("(s.failing OR s.gone)")
	}
	if err := w.Like(q.Match, "s.url", "s.title"); err != nil {
		return nil, err
	}
	limit := sqldb.Limit(q.Limit)
	text := `SELECT ` + sourceHead + sourceTables + w.String() + ` ORDER BY s.url, s.id LIMIT ` + w.Arg(limit)
	return unpackSources(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) {
		rows, err := sqldb.Collect(ctx, c, scanSourceHead, text, w.Args...)
		if err != nil || len(rows) < limit {
			return rows, err
		}
		// Several subscriptions with different logins may have one source each for the same URL: a
		// page must not end between these sources.
		last := rows[len(rows)-1]
		rest, err := sqldb.Collect(ctx, c, scanSourceHead, `SELECT `+sourceHead+sourceTables+` WHERE s.url = $1 AND s.id > $2 ORDER BY s.id`, last.URL, last.ID)
		return append(rows, rest...), err
	}))
}

// ChangeSource implements river.Store.
func (s *sourceStore) ChangeSource(ctx context.Context, id int64, change func(s *river.Source) error) (river.Source, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (river.Source, error) {
		if _, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM source WHERE id = $1 {LOCK}`, id); err != nil {
			return river.Source{}, err
		}
		src, err := oneSource(sourceByID(ctx, c, id))
		if err != nil {
			return src, err
		}
		was, wish := before{url: src.URL, topic: src.Topic}, src.State.Interval
		if err := change(&src); err != nil {
			return src, err
		}
		src.ID, src.URL, src.Claim = id, src.State.URL, 0
		if err := rewriteSource(ctx, c, &src, was); err != nil {
			return src, err
		}
		if src.State.Interval != wish {
			if _, err := c.Exec(ctx, `UPDATE source SET wish = $1 WHERE id = $2`, int64(src.State.Interval), id); err != nil {
				return src, err
			}
		}
		return oneSource(sourceByID(ctx, c, id))
	})
}

func rewriteSource(ctx context.Context, c sqldb.Conn, src *river.Source, was before) error {
	if src.Readers == 0 {
		src.NextAt = time.Time{}
	}
	state, t, err := packSource(src)
	if err != nil {
		return err
	}
	login, err := packLogin(src.Login)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `UPDATE source SET state = $1, login = $2, next_at = $3, checked_at = $4, claim = 0, heard_in = FALSE WHERE id = $5`,
		state, login, msOrNull(src.NextAt), sqldb.Millis(src.State.CheckedAt), src.ID)
	if err != nil {
		return err
	}
	return saveDetails(ctx, c, src, &t, was, nil)
}

func packLogin(l river.Login) (string, error) {
	if l.Kind == "" {
		return "", nil
	}
	b, err := json.Marshal(l)
	return string(b), err
}

// msOrNull returns t for a column whose index omits NULL; the zero time becomes NULL.
func msOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// checkSlots is the number of keys reserved for the checks of a source. KeptChecks of these are
// used.
const checkSlots = 32

func checkBase(source int64) int64 { return source &^ (checkSlots - 1) }

// Checks implements river.Store.
func (s *sourceStore) Checks(ctx context.Context, source int64) ([]river.Check, error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]string, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, data *string) error { return rows.Scan(data) },
			`SELECT data FROM source_check WHERE id >= $1 AND id < $2 AND source_id = $3 ORDER BY n DESC`,
			checkBase(source), checkBase(source)+river.KeptChecks, source)
	})
	if err != nil {
		return nil, err
	}
	var list []river.Check
	for _, data := range rows {
		var one river.Check
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			return nil, fmt.Errorf("read a check of source %d: %w", source, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// Hosts implements river.Store.
func (s *sourceStore) Hosts(ctx context.Context, hosts []string) (map[string]river.Host, error) {
	var rows [][]any
	for _, h := range hosts {
		rows = append(rows, []any{sqldb.Clean(h)})
	}
	all := map[string]river.Host{}
	err := s.db.Read(ctx, func(ctx context.Context, c sqldb.Conn) error {
		clear(all)
		return c.BulkQuery(ctx, `rows(host t) SELECT h.host, h.data FROM river_host AS h {AND ROWS} WHERE h.host = :host`, func(rows *sql.Rows) error {
			var host, data string
			if err := rows.Scan(&host, &data); err != nil {
				return err
			}
			var known river.Host
			if err := json.Unmarshal([]byte(data), &known); err != nil {
				return fmt.Errorf("read the state of host %q: %w", host, err)
			}
			all[host] = known
			return nil
		}, rows)
	})
	return all, err
}

// CountSources implements river.Store.
func (s *sourceStore) CountSources(ctx context.Context, now time.Time) (river.SourceCounts, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (n river.SourceCounts, err error) {
		err = c.Query(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN readers > 0 THEN 1 ELSE 0 END), 0),
				COALESCE(SUM(CASE WHEN failing AND NOT gone THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN gone THEN 1 ELSE 0 END), 0),
				COALESCE(SUM(CASE WHEN pushed_until > $1 THEN 1 ELSE 0 END), 0), CAST(COALESCE(SUM(items), 0) AS BIGINT) FROM source`,
			func(rows *sql.Rows) error {
				return rows.Scan(&n.Sources, &n.Followed, &n.Failing, &n.Gone, &n.Pushed, &n.Items)
			}, sqldb.Millis(now))
		if err != nil {
			return n, err
		}
		if n.Due, err = sqldb.Count(ctx, c, `SELECT COUNT(*) FROM source WHERE next_at <= $1 AND claim = 0`, sqldb.Millis(now)); err != nil {
			return n, err
		}
		err = c.Query(ctx, `SELECT COUNT(*), COUNT(DISTINCT reader) FROM river_subscription`, func(rows *sql.Rows) error {
			return rows.Scan(&n.Subscriptions, &n.Readers)
		})
		return n, err
	})
}
