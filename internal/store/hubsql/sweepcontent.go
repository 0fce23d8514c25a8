package hubsql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// intentAge is the maximum age of an intent. A running node finishes each intent long before that.
const intentAge = 3 * 24 * time.Hour

// orphans are rows other than subscriptions that the sweep may remove. The conditions are
// checked again after the rows are locked.
type orphans struct {
	withoutWebSub []int64   // topics that keep content but have no WebSub subscription
	delivered     []int64   // topics whose content is delivered to all subscribers
	intents       []hub.Key // intents older than before
	before        int64     // Unix milliseconds
}

// noWebSub is the condition that a topic has no WebSub subscription. topic is the SQL of its id. The
// condition uses only indexed columns; the sweep removes expired subscriptions separately.
func noWebSub(topic string) string {
	return `NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = ` + topic + ` AND s.protocol = 'websub')`
}

// allDelivered is the condition that the newest version of a topic is delivered: no shard has
// work, and no WebSub subscription has a pending delivery. topic is the SQL of its id.
func allDelivered(topic string) string {
	return `NOT EXISTS (SELECT 1 FROM part AS p WHERE p.topic_id = ` + topic + ` AND (p.due_at IS NOT NULL OR p.want <> p.done))
		AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = ` + topic + ` AND s.protocol = 'websub' AND s.next_at > 0)`
}

// orphansAt finds up to limit rows of each kind.
func orphansAt(ctx context.Context, c sqldb.Conn, now time.Time, limit int) (orphans, error) {
	l := orphans{before: sqldb.Millis(now.Add(-intentAge))}
	limit = max(limit, 0)
	var err error
	if l.withoutWebSub, err = sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t WHERE t.is_full AND `+noWebSub(`t.id`)+` LIMIT $1`, limit); err != nil {
		return l, err
	}
	if l.delivered, err = sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t JOIN body AS b ON b.topic_id = t.id
		WHERE t.is_full AND `+allDelivered(`b.topic_id`)+` LIMIT $1`, limit); err != nil {
		return l, err
	}
	l.intents, err = sqldb.Collect(ctx, c, func(rows *sql.Rows, k *hub.Key) error { return rows.Scan(&k.TopicID, &k.ID) },
		`SELECT i.topic_id, i.id FROM intent AS i WHERE i.at < $1 ORDER BY i.at LIMIT $2`, l.before, limit)
	return l, err
}

// largest returns the number of rows of the largest kind.
func (l orphans) largest() int { return max(len(l.withoutWebSub), len(l.delivered), len(l.intents)) }

// in returns the rows of a scope.
func (l orphans) in(sc scope) orphans {
	same := func(id int64) int64 { return id }
	l.withoutWebSub, l.delivered = inScope(sc, l.withoutWebSub, same), inScope(sc, l.delivered, same)
	l.intents = inScope(sc, l.intents, keyTopic)
	return l
}

// sweep deletes the rows that are still orphans and returns the number of deleted rows.
func (l orphans) sweep(ctx context.Context, c sqldb.Conn) (int64, error) {
	rows := make([][]any, len(l.intents))
	for i, k := range l.intents {
		rows[i] = []any{k.TopicID, k.ID, l.before}
	}
	gone, err := c.Bulk(ctx, `rows(topic_id i, id i, before i) DELETE FROM intent AS i {USING ROWS}
		WHERE i.topic_id = :topic_id AND i.id = :id AND i.at < :before`, rows)
	if err != nil {
		return 0, err
	}
	full, err := takeTopics(ctx, c, l.withoutWebSub)
	if err != nil {
		return 0, err
	}
	delivered, err := takeTopics(ctx, c, l.delivered)
	if err != nil {
		return 0, err
	}
	// Check the condition again under the lock. A transaction that was adding a subscription or
	// writing a check either holds the topic's lock, so that takeTopics skipped the topic, or its
	// rows are visible now.
	n, err := c.Bulk(ctx, `rows(id i) DELETE FROM body AS b {USING ROWS} WHERE b.topic_id = :id AND `+allDelivered(`:id`), delivered)
	if err != nil {
		return 0, err
	}
	gone += n
	// COALESCE keeps PostgreSQL from reading all topics that keep content.
	n, err = c.Bulk(ctx, `rows(id i) UPDATE topic AS t SET is_full = FALSE {FROM ROWS} WHERE t.id = :id AND COALESCE(t.is_full, FALSE) AND `+noWebSub(`:id`), full)
	if err != nil {
		return 0, err
	}
	gone += n
	// Also delete the content of topics whose flag is_full is not set: no later sweep finds this
	// content.
	_, err = c.Bulk(ctx, `rows(id i) DELETE FROM body AS b {USING ROWS} WHERE b.topic_id = :id
		AND NOT EXISTS (SELECT 1 FROM topic AS t WHERE t.id = :id AND t.is_full)`, full)
	return gone, err
}

// takeTopics locks the topics that no other transaction has locked, and returns bulk rows of their
// ids.
func takeTopics(ctx context.Context, c sqldb.Conn, ids []int64) ([][]any, error) {
	slices.Sort(ids)
	rows := sqldb.Rows(ids)
	var taken [][]any
	err := c.BulkQuery(ctx, `rows(id i) SELECT t.id FROM topic AS t {AND ROWS} WHERE t.id = :id {TAKE T}`, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		taken = append(taken, []any{id})
		return err
	}, rows)
	return taken, err
}
