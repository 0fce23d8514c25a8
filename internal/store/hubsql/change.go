package hubsql

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Announce implements hub.Store.
func (s *changeStore) Announce(ctx context.Context, list []hub.Change, pings []string, now, due time.Time, events []event.Event) error {
	topics := topicsOf(topicsOf(nil, pings, hub.TopicID), events, eventTopic)
	slices.Sort(topics)
	if s.db.Shared && len(slices.Compact(topics)) > 1 {
		// Listing the change is the last step before the acknowledgement. If only the ping is
		// recorded, the feed is checked once without need.
		err := perTopic(ctx, s.db, topicsOf(nil, pings, hub.TopicID), func(ctx context.Context, c sqldb.Conn, sc scope) error {
			return recordPings(ctx, c, inScope(sc, pings, hub.TopicID), now, due)
		})
		if err != nil {
			return err
		}
		pings = nil
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if err := recordPings(ctx, c, pings, now, due); err != nil {
			return err
		}
		if err := sqldb.AppendEvents(ctx, c, events); err != nil {
			return err
		}
		return listChanges(ctx, c, s.db.Shared, list)
	})
}

// tagSeparator separates tags in a column; joinTags removes it from the tags themselves.
const tagSeparator = "\x1f"

func joinTags(tags []string) string {
	tags = slices.Clone(tags)
	for i, t := range tags {
		tags[i] = strings.ReplaceAll(sqldb.Clean(t), tagSeparator, " ")
	}
	return strings.Join(slices.DeleteFunc(tags, func(t string) bool { return t == "" }), tagSeparator)
}

// changeCounters is the number of rows of the change counter if several processes write.
const changeCounters = 16

// listChanges adds changes to the list of changes and updates their count. It runs last in a
// transaction because all transactions update the same few counter rows.
func listChanges(ctx context.Context, c sqldb.Conn, shared bool, list []hub.Change) error {
	rows := make([][]any, 0, len(list))
	for _, v := range list {
		if event.IsPrivate(v.URL) || event.IsPrivate(v.Feed) || event.IsPrivate(v.Page) {
			continue
		}
		rows = append(rows, []any{v.Node, v.Seq, sqldb.Millis(v.At), sqldb.Clean(v.Name), sqldb.Clean(v.URL), sqldb.Clean(v.Feed), sqldb.Clean(v.Page), joinTags(v.Tags), sqldb.Clean(v.Via)})
	}
	if len(rows) == 0 {
		return nil
	}
	// A row with this key was written by an earlier attempt whose reply was lost.
	n, err := c.Bulk(ctx, `rows(node i, seq i, at i, name t, url t, feed t, page t, tags t, door t)
		INSERT INTO change (node, seq, at, name, url, feed, page, tags, door)
		SELECT :node, :seq, :at, :name, :url, :feed, :page, :tags, :door
		{FROM ROWS} WHERE true ON CONFLICT (node, seq) DO NOTHING`, rows)
	if err != nil || n == 0 {
		return err
	}
	shard := int64(0)
	if shared {
		shard = list[0].Seq & (changeCounters - 1)
	}
	_, err = c.Exec(ctx, `INSERT INTO change_count (shard, n) VALUES ($1, $2) ON CONFLICT (shard) DO UPDATE SET n = change_count.n + excluded.n`,
		shard, n)
	return err
}

func scanChange(rows *sql.Rows, v *hub.Change) error {
	var tags string
	err := rows.Scan(&v.Node, &v.Seq, (*sqldb.Time)(&v.At), &v.Name, &v.URL, &v.Feed, &v.Page, &tags, &v.Via)
	if tags != "" {
		v.Tags = strings.Split(tags, tagSeparator)
	}
	return err
}

// Changes implements hub.Store.
func (s *changeStore) Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	var w sqldb.Where
	if !q.Since.IsZero() {
		w.Add("c.at >= ?", sqldb.Millis(q.Since))
	}
	if !q.Until.IsZero() {
		w.Add("c.at < ?", sqldb.Millis(q.Until))
	}
	if p := q.Before; p != (event.Cursor{}) {
		w.Add("(c.at, c.node, c.seq) < (?, ?, ?)", p.At, p.Node, p.Seq)
	}
	if p := q.After; p != (event.Cursor{}) {
		w.Add("(c.at, c.node, c.seq) > (?, ?, ?)", p.At, p.Node, p.Seq)
	}
	if err := w.Like(q.Text, "c.name", "c.url", "c.feed", "c.tags"); err != nil {
		return nil, err
	}
	order := " ORDER BY c.at DESC, c.node DESC, c.seq DESC"
	if q.Forward {
		order = " ORDER BY c.at, c.node, c.seq"
	}
	text := `SELECT c.node, c.seq, c.at, c.name, c.url, c.feed, c.page, c.tags, c.door FROM change AS c` +
		w.String() + order + ` LIMIT ` + w.Arg(sqldb.LimitTo(q.Limit, 10_000))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.Change, error) {
		return sqldb.Collect(ctx, c, scanChange, text, w.Args...)
	})
}

// CountChanges implements hub.Store.
func (s *changeStore) CountChanges(ctx context.Context) (int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (total int64, err error) {
		err = c.Query(ctx, `SELECT n FROM change_count WHERE shard >= 0`, func(rows *sql.Rows) error {
			var n int64
			err := rows.Scan(&n)
			total += n
			return err
		})
		return total, err
	})
}

// TrimChanges implements hub.Store.
func (s *changeStore) TrimChanges(ctx context.Context, before time.Time, limit int) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		n, err := c.Exec(ctx, `DELETE FROM change WHERE (node, seq) IN
			(SELECT c.node, c.seq FROM change AS c WHERE c.at < $1 ORDER BY c.at, c.node, c.seq LIMIT $2)`, sqldb.Millis(before), max(limit, 0))
		return int(n), err
	})
}
