package hubsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

const topicColumns = `t.id, t.url, t.version, t.hash, t.etag, t.last_modified, t.content_type, t.size,
	t.checked_at, t.changed_at, t.failures, t.error, t.pinged_at, t.is_full, t.about,
	t.proof, t.recent, t.believed, t.full_at, t.again_at, t.not_modified, t.full_reads, t.full_bytes`

func topicFields(t *hub.Topic) []any {
	return []any{&t.ID, &t.URL, &t.Version, &t.Hash, (*sqldb.ByteString)(&t.ETag), (*sqldb.ByteString)(&t.LastModified), (*sqldb.ByteString)(&t.ContentType), &t.Size,
		(*sqldb.Time)(&t.CheckedAt), (*sqldb.Time)(&t.ChangedAt), (*sqldb.Int)(&t.Failures), &t.Error, (*sqldb.Time)(&t.PingedAt),
		&t.KeepContent, (*aboutJSON)(&t.About),
		&t.Evidence.Proof, &t.Evidence.Recent, &t.Evidence.Believed, (*sqldb.Time)(&t.Evidence.FullAt), (*sqldb.Time)(&t.AgainAt),
		&t.NotModified, &t.FullReads, &t.FullBytes}
}

func scanTopic(rows *sql.Rows, t *hub.Topic) error { return rows.Scan(topicFields(t)...) }

// Topic implements hub.Store.
func (s *topicStore) Topic(ctx context.Context, id int64) (hub.Topic, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (hub.Topic, error) {
		found, err := sqldb.Collect(ctx, c, scanTopic, `SELECT `+topicColumns+` FROM topic AS t WHERE t.id = $1`, id)
		return sqldb.First(found, err, "There is no topic with the number %d.", id)
	})
}

// Topics implements hub.Store.
func (s *topicStore) Topics(ctx context.Context, q hub.TopicQuery) ([]hub.TopicInfo, error) {
	text, args, err := topicList(q)
	if err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.TopicInfo, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, t *hub.TopicInfo) error {
			return rows.Scan(append(topicFields(&t.Topic), &t.Subscribers)...)
		}, text, args...)
	})
}

// topicList returns the SQL statement of a query, with its arguments.
func topicList(q hub.TopicQuery) (text string, args []any, err error) {
	var w sqldb.Where
	from, count, order := `topic AS t`, `0`, `t.url`
	if q.IDs == nil {
		w.Conds = append(w.Conds, `t.url NOT LIKE '%`+event.PrivateTopics+`%'`)
		now := w.Arg(sqldb.Millis(q.Now))
		count = `(SELECT COUNT(*) FROM subscription AS s WHERE s.topic_id = t.id AND s.expires_at + 0 > ` + now + `)`
		if q.Order == hub.TopicsBySubscribers { // one count over all topics is cheaper than one count per topic
			from += ` LEFT JOIN (SELECT s.topic_id, COUNT(*) AS n FROM subscription AS s WHERE s.expires_at > ` + now + ` GROUP BY s.topic_id) AS l ON l.topic_id = t.id`
			count = `COALESCE(l.n, 0)`
		}
	} else {
		ids, err := json.Marshal(q.IDs)
		if err != nil {
			return "", nil, err
		}
		w.Conds = append(w.Conds, `t.id {ALL} `+w.Arg(string(ids))+` {END ALL}`)
	}
	value := map[hub.TopicOrder]string{hub.TopicsByChange: `t.changed_at`, hub.TopicsBySubscribers: count}[q.Order]
	switch {
	case value != "":
		order = value + ` DESC, t.id DESC`
		if q.Behind != (hub.TopicPlace{}) {
			w.Add("("+value+", t.id) < (?, ?)", q.Behind.Value, q.Behind.ID)
		}
	case q.After != "":
		w.Add("t.url > ?", q.After)
	}
	if err := w.Like(q.Match, "t.url", "t.title"); err != nil {
		return "", nil, err
	}
	text = `SELECT ` + topicColumns + `, ` + count + ` FROM ` + from + w.String() + ` ORDER BY ` + order + ` LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return text, w.Args, nil
}

// Followed implements hub.Store.
func (s *topicStore) Followed(ctx context.Context, topicID int64, now time.Time) (bool, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (followed bool, err error) {
		err = c.Query(ctx, `SELECT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = $1 AND s.expires_at + 0 > $2)`,
			func(rows *sql.Rows) error { return rows.Scan(&followed) }, topicID, sqldb.Millis(now))
		return followed, err
	})
}

// Subscribers implements hub.Store.
func (s *topicStore) Subscribers(ctx context.Context, topicID int64, now time.Time) (map[string]int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]int64, error) {
		counts := map[string]int64{}
		err := c.Query(ctx, `SELECT s.protocol, COUNT(*) FROM subscription AS s WHERE s.topic_id = $1 AND s.expires_at + 0 > $2 GROUP BY s.protocol`,
			func(rows *sql.Rows) error {
				var protocol string
				var n int64
				err := rows.Scan(&protocol, &n)
				counts[protocol] = n
				return err
			}, topicID, sqldb.Millis(now))
		return counts, err
	})
}

// topicsByID reads the topics with these ids.
func topicsByID(ctx context.Context, c sqldb.Conn, ids []int64) (map[int64]hub.Topic, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows := sqldb.Rows(ids)
	found := make(map[int64]hub.Topic, len(ids))
	err := c.BulkQuery(ctx, `rows(id i) SELECT `+topicColumns+` FROM topic AS t {AND ROWS} WHERE t.id = :id`,
		func(rows *sql.Rows) error {
			var t hub.Topic
			if err := scanTopic(rows, &t); err != nil {
				return err
			}
			found[t.ID] = t
			return nil
		}, rows)
	return found, err
}

// touchTopics records that the topics were used at a time.
func touchTopics(ctx context.Context, c sqldb.Conn, ids []int64, at int64) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id, at}
	}
	_, err := c.Bulk(ctx, `rows(id i, at i) UPDATE topic AS t SET used_at = :at {FROM ROWS} WHERE t.id = :id AND t.used_at < :at`, rows)
	return err
}

// ensureTopics creates missing topics and the first shard of each. Until the transaction ends, the
// sweep cannot remove these topics.
func ensureTopics(ctx context.Context, c sqldb.Conn, shared bool, urls map[int64]string, now int64) error {
	ids := make([]int64, 0, len(urls))
	for id := range urls {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	rows := sqldb.Rows(ids)
	// Try three times: the sweep of another node may remove a topic in between.
	for range 3 {
		ready := make(map[int64]bool, len(ids))
		note := func(r *sql.Rows) error {
			var id int64
			err := r.Scan(&id)
			ready[id] = true
			return err
		}
		// The part comes from the row, and a column that is in no index is compared: otherwise
		// PostgreSQL may read the whole table.
		err := c.BulkQuery(ctx, `rows(id i) SELECT p.topic_id FROM part AS p {AND ROWS} WHERE p.topic_id = :id AND p.part = 0 * :id AND p.epoch >= 0`, note, rows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !ready[id] {
				if err := makeTopic(ctx, c, id, urls[id], now); err != nil {
					return err
				}
			}
		}
		if !shared {
			return nil
		}
		clear(ready)
		err = c.BulkQuery(ctx, `rows(id i) SELECT t.id FROM topic AS t {AND ROWS} WHERE t.id = :id FOR KEY SHARE OF t`, note, rows)
		if err != nil || len(ready) == len(ids) {
			return err
		}
	}
	return fault.New(fault.Unavailable, "The database is too busy to add the subscription; please try again.")
}

// makeTopic creates a topic's row and its first shard if they are missing. It locks the row, so
// that no check raises the version between reading and using it.
func makeTopic(ctx context.Context, c sqldb.Conn, id int64, url string, now int64) error {
	if url == "" {
		return fault.New(fault.Invalid, "The topic %d of a subscription does not exist, and its URL is not given.", id)
	}
	_, err := c.Exec(ctx, `INSERT INTO topic (id, url, used_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, id, sqldb.Clean(url), now)
	if err != nil {
		return err
	}
	versions, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.version FROM topic AS t WHERE t.id = $1 {LOCK}`, id)
	if err != nil || len(versions) == 0 {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO part (topic_id, part, lo, hi, want, done, pass) VALUES ($1, 0, 0, $2, $3, $3, $3)
		ON CONFLICT (topic_id, part) DO NOTHING`, id, int64(hub.Buckets-1), versions[0])
	return err
}

// topicURLs returns a map from topic id to URL. The URL is "" for a topic that only subs contains.
func topicURLs(urls []string, subs []hub.Subscription) map[int64]string {
	m := make(map[int64]string, len(urls))
	for _, s := range subs {
		m[s.TopicID] = ""
	}
	for _, u := range urls {
		m[hub.TopicID(u)] = strings.Clone(u)
	}
	return m
}

// FollowedUnder implements hub.Store.
func (s *topicStore) FollowedUnder(ctx context.Context, prefix, after string, now time.Time, n int) ([]string, error) {
	return s.db.Strings(ctx, `SELECT t.url FROM topic AS t WHERE t.url >= $1 AND t.url < $2 AND t.url > $3 AND `+isFollowed("t.id", "$4")+`
		ORDER BY t.url LIMIT $5`, sqldb.Clean(prefix), sqldb.Clean(prefix)+"\U0010FFFF", sqldb.Clean(after), sqldb.Millis(now), sqldb.Limit(n))
}
