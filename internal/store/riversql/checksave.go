package riversql

import (
	"context"
	"database/sql"
	"encoding/binary"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/store/sqldb"
)

// saving is a check to be written. Its contents are encoded before the transaction, to keep the
// transaction short.
type saving struct {
	river.Saved
	state, check, host string
	hostUntil          time.Time
	details            details
	contents           []string // encoded contents, by index in Put
	filters            filtering
}

// SaveCheck implements river.Store. A check that found no new items runs two statements.
func (s *sourceStore) SaveCheck(ctx context.Context, saved river.Saved) (bool, error) {
	if saved.Source.Claim == 0 {
		return false, nil // only the owner of a claim may write
	}
	v, err := packSaved(saved)
	if err != nil {
		return false, err
	}
	if s.filtered.Load() {
		if err := v.match(ctx, s.db); err != nil {
			return false, err
		}
	}
	done, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) { return v.write(ctx, c) })
	if len(v.filters.matches) > 0 {
		s.filtered.Store(true)
	}
	return done, err
}

func packSaved(saved river.Saved) (*saving, error) {
	v := &saving{Saved: saved, filters: newFiltering()}
	var err error
	if v.state, v.details, err = packSource(&v.Source); err != nil {
		return nil, err
	}
	if v.check, err = sqldb.JSON(v.Check); err != nil {
		return nil, err
	}
	if v.Host != nil {
		if v.host, err = sqldb.JSON(v.Host); err != nil {
			return nil, err
		}
		for _, w := range v.Host.Waits {
			if w.Until.After(v.hostUntil) {
				v.hostUntil = w.Until
			}
		}
	}
	// If saved.Put has several entries for an item, the last one wins: no two rows of a bulk
	// statement may have the same key.
	at := map[int64]int{}
	v.Put = nil
	for _, it := range saved.Put {
		if it.SourceID = v.Source.ID; it.At.IsZero() {
			it.At = v.Now
		}
		if n, again := at[it.ID]; again {
			v.Put[n] = it
			continue
		}
		at[it.ID] = len(v.Put)
		v.Put = append(v.Put, it)
	}
	for i := range v.Put {
		content, err := packContent(v.Put[i].Content, v.TextFromHTML)
		if err != nil {
			return nil, err
		}
		v.contents = append(v.contents, content)
	}
	return v, nil
}

// before is the row of the source before the check.
type before struct {
	checks, hash, items int64
	url, topic          string
}

func (v *saving) write(ctx context.Context, c sqldb.Conn) (bool, error) {
	src, found := &v.Source, false
	var was before
	// A push that arrived during the claim makes the source due again, unless the check began after
	// the push.
	err := c.Query(ctx, `UPDATE source SET state = $1, claim = 0, heard_in = FALSE, checks = checks + 1, checked_at = $2,
			next_at = CASE WHEN readers = 0 OR CAST($3 AS BIGINT) = 0 THEN NULL
				WHEN heard_in AND heard_at >= CAST($4 AS BIGINT) THEN CAST($5 AS BIGINT) ELSE CAST($3 AS BIGINT) END,
			heard_at = CASE WHEN heard_in AND heard_at >= CAST($4 AS BIGINT) THEN heard_at ELSE 0 END,
			heard = CASE WHEN heard_in AND heard_at >= CAST($4 AS BIGINT) THEN heard ELSE '' END
		WHERE id = $6 AND claim = $7 RETURNING checks, told_hash, items, url, topic`,
		func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&was.checks, &was.hash, &was.items, &was.url, &was.topic)
		}, v.state, sqldb.Millis(src.State.CheckedAt), sqldb.Millis(src.NextAt), sqldb.Millis(v.Check.At), sqldb.Millis(v.Now), src.ID, src.Claim)
	if err != nil || !found {
		return false, err
	}
	_, err = c.Exec(ctx, `INSERT INTO source_check (id, source_id, n, data) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET source_id = excluded.source_id, n = excluded.n, data = excluded.data`,
		checkBase(src.ID)+was.checks%river.KeptChecks, src.ID, was.checks, v.check)
	if err != nil {
		return false, err
	}
	if err := v.writeHost(ctx, c); err != nil {
		return false, err
	}
	if was.hash == v.details.hash && len(v.Put) == 0 && len(v.Withdrawn) == 0 {
		return true, nil
	}
	return true, v.writeNews(ctx, c, was)
}

func (v *saving) writeHost(ctx context.Context, c sqldb.Conn) error {
	if v.Host == nil {
		return nil
	}
	_, err := c.Exec(ctx, `INSERT INTO river_host (host, until_at, data) VALUES ($1, $2, $3)
		ON CONFLICT (host) DO UPDATE SET until_at = excluded.until_at, data = excluded.data`,
		sqldb.Clean(v.Source.Host()), sqldb.Millis(v.hostUntil), v.host)
	return err
}

// writeNews writes the items that the previous document did not contain.
func (v *saving) writeNews(ctx context.Context, c sqldb.Conn, was before) error {
	first := was.hash&1 == 0
	held, err := v.hold(ctx, c, first)
	if err != nil {
		return err
	}
	places, err := v.putItems(ctx, c, held, was.items > 0)
	if err != nil {
		return err
	}
	if err := countPassed(ctx, c, v.Source.ID, places, 1); err != nil {
		return err
	}
	if err := v.withdraw(ctx, c); err != nil {
		return err
	}
	if was.hash != v.details.hash || len(places) > 0 {
		if err := saveDetails(ctx, c, &v.Source, &v.details, was, places); err != nil {
			return err
		}
	}
	if first {
		if err := v.dropTitles(ctx, c); err != nil {
			return err
		}
	}
	if len(places) == 0 {
		return nil
	}
	if !first {
		if err := queueForwardings(ctx, c, v.Source.ID, places, v.Now); err != nil {
			return err
		}
		if err := queueFullTexts(ctx, c, v.Source.ID, places, v.Now); err != nil {
			return err
		}
	}
	return v.runFilters(ctx, c, places, first)
}

// dropTitles removes the users' own titles that are the feed's own title. An import stores the names
// of a list before the title of the feed is known.
//
// spec:cloudburst#opml-own-title
func (v *saving) dropTitles(ctx context.Context, c sqldb.Conn) error {
	title := sqldb.Clean(naming.TitleOf(v.Source.About.Title))
	if title == "" || v.Source.State.ReadAt.IsZero() {
		return nil
	}
	_, err := c.Exec(ctx, `UPDATE river_subscription SET title = '' WHERE source_id = $1 AND title = $2`, v.Source.ID, title)
	return err
}

// hold marks the items that entered the document and the items that left it. It returns the current
// items, with true. Current items are kept at any age: otherwise they would count as new at the
// next check.
func (v *saving) hold(ctx context.Context, c sqldb.Conn, first bool) (map[int64]bool, error) {
	var last []byte
	var err error
	if !first {
		err = c.Query(ctx, `SELECT last FROM source_document WHERE id = $1`, func(rows *sql.Rows) error { return rows.Scan(&last) }, v.Source.ID)
		if err != nil {
			return nil, err
		}
	}
	had := map[int64]bool{}
	for b := last; len(b) >= 16; b = b[16:] {
		had[int64(binary.BigEndian.Uint64(b))] = true
	}
	held := make(map[int64]bool, len(v.Source.Last))
	put := make(map[int64]bool, len(v.Put))
	for i := range v.Put {
		put[v.Put[i].ID] = true
	}
	var change [][]any
	for _, k := range v.Source.Last {
		if !held[k.ID] && !had[k.ID] && !put[k.ID] {
			change = append(change, []any{k.ID, v.Source.ID, true})
		}
		held[k.ID] = true
	}
	for id := range had {
		if !held[id] {
			change = append(change, []any{id, v.Source.ID, false})
		}
	}
	_, err = c.Bulk(ctx, `rows(id i, source i, held o) UPDATE item AS i SET held = :held {FROM ROWS}
		WHERE i.id = :id AND i.source_id = :source AND i.held <> :held`, change)
	return held, err
}

func (v *saving) withdraw(ctx context.Context, c sqldb.Conn) error {
	var rows [][]any
	for i := range v.Withdrawn {
		it := &v.Withdrawn[i]
		rows = append(rows, []any{it.ID, v.Source.ID, it.Seq, sqldb.Millis(it.WithdrawnAt)})
	}
	_, err := c.Bulk(ctx, `rows(id i, source i, seq i, at i) UPDATE item AS i SET seq = :seq, withdrawn_at = :at {FROM ROWS}
		WHERE i.id = :id AND i.source_id = :source`, rows)
	return err
}
