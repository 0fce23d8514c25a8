package hubsql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// intentAge is how long an intent is kept at most. It is decided long before, or
// nobody is there to decide it.
const intentAge = 3 * 24 * time.Hour

// leftovers is what the sweep found beside subscriptions, to be looked at again
// when the rows are locked.
type orphans struct {
	withoutWebSub []int64   // topics that are full and without WebSub subscriptions
	delivered     []int64   // topics with a content that nobody needs any more
	intents       []hub.Key // that are too old
	before        int64     // what is too old
}

const (
	// nobodyFull is the condition that no WebSub subscription of a topic t is left. It
	// asks for what is in the index only: expired ones go by themselves.
	noWebSub = `t.is_full AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = t.id AND s.protocol = 'websub')`

	// allTold is the condition that nothing of a topic's newest version is still to
	// be told: no part has it before it, and nothing is owed in WebSub. b is its body.
	allDelivered = `NOT EXISTS (SELECT 1 FROM part AS p WHERE p.topic_id = b.topic_id AND (p.due_at IS NOT NULL OR p.want <> p.done))
		AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = b.topic_id AND s.protocol = 'websub' AND s.next_at > 0)`
)

// leftoversAt finds up to limit of each.
func orphansAt(ctx context.Context, c sqldb.Conn, now time.Time, limit int) (orphans, error) {
	l := orphans{before: sqldb.Millis(now.Add(-intentAge))}
	limit = max(limit, 0)
	var err error
	if l.withoutWebSub, err = sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t WHERE `+noWebSub+` LIMIT $1`, limit); err != nil {
		return l, err
	}
	if l.delivered, err = sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t JOIN body AS b ON b.topic_id = t.id
		WHERE t.is_full AND `+allDelivered+` LIMIT $1`, limit); err != nil {
		return l, err
	}
	l.intents, err = sqldb.Collect(ctx, c, func(rows *sql.Rows, k *hub.Key) error { return rows.Scan(&k.TopicID, &k.ID) },
		`SELECT i.topic_id, i.id FROM intent AS i WHERE i.at < $1 ORDER BY i.at LIMIT $2`, l.before, limit)
	return l, err
}

// most is how many there are of the commonest.
func (l orphans) largest() int { return max(len(l.withoutWebSub), len(l.delivered), len(l.intents)) }

// sweep removes what is still to spare, and returns how much went.
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
	// Looked at again only now: who was adding a subscription or writing a check has
	// either kept the topic from us, or is visible.
	n, err := c.Bulk(ctx, `rows(id i) DELETE FROM body AS b {USING ROWS} WHERE b.topic_id = :id AND `+allDelivered, delivered)
	if err != nil {
		return 0, err
	}
	gone += n
	n, err = c.Bulk(ctx, `rows(id i) UPDATE topic AS t SET is_full = FALSE {FROM ROWS} WHERE t.id = :id AND `+noWebSub, full)
	if err != nil {
		return 0, err
	}
	gone += n
	// Without Full nobody would ever look for the content again.
	_, err = c.Bulk(ctx, `rows(id i) DELETE FROM body AS b {USING ROWS} WHERE b.topic_id = :id
		AND NOT EXISTS (SELECT 1 FROM topic AS t WHERE t.id = b.topic_id AND t.is_full)`, full)
	return gone, err
}

// takeTopics locks those topics that nobody else is at, and returns bulk rows of
// their ids.
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
