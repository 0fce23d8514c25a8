package hubsql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Sweep implements hub.Store. It removes every expired subscription. Only rssCloud subscriptions
// are also removed because of errors.
func (s *subscriptionStore) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) ([]hub.SubscriptionInfo, bool, error) {
	w := sweep{now: now, maxErrors: maxErrors, limit: limit, idle: sqldb.Millis(idle), events: events}
	// Search before the transaction, so that the search does not block writers.
	var err error
	w.found, err = sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (orphans, error) { return orphansAt(ctx, c, now, limit) })
	if err != nil {
		return nil, false, err
	}
	var all swept
	if s.db.Key("topic") == "" {
		all, err = sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (swept, error) { return w.round(ctx, c, scope{all: true}) })
	} else {
		all, err = w.topicwise(ctx, s.db)
	}
	// If nothing was deleted, other transactions hold the locks of the rows, and the next sweep
	// deletes them.
	more := limit > 0 && (len(all.gone) >= limit || all.topics >= limit || all.removed > 0 && w.found.largest() >= limit)
	return all.gone, more && err == nil, err
}

// sweep is one call of Sweep.
type sweep struct {
	now       time.Time
	maxErrors int
	limit     int
	idle      int64
	found     orphans
	events    func([]hub.SubscriptionInfo) []event.Event
}

// swept is what a sweep did.
type swept struct {
	gone    []hub.SubscriptionInfo
	topics  int   // processed topics without subscriptions
	removed int64 // orphans
}

// round sweeps the rows of a scope in one transaction.
func (w *sweep) round(ctx context.Context, c sqldb.Conn, sc scope) (done swept, err error) {
	if done.gone, err = w.sweepable(ctx, c, sc, "{TAKE S}"); err != nil {
		return swept{}, err
	}
	keys := make([]hub.Key, len(done.gone))
	for i, g := range done.gone {
		keys[i] = g.Key()
	}
	_, err = c.Bulk(ctx, deleteText, keyRows(keys))
	if err != nil {
		return swept{}, err
	}
	if err := touchTopics(ctx, c, topicsOf(nil, keys, keyTopic), sqldb.Millis(w.now)); err != nil {
		return swept{}, err
	}
	if done.topics, err = w.sweepTopics(ctx, c, sc); err != nil {
		return swept{}, err
	}
	if done.removed, err = w.found.in(sc).sweep(ctx, c); err != nil {
		return swept{}, err
	}
	if w.events != nil && len(done.gone) > 0 {
		err = sqldb.AppendEvents(ctx, c, w.events(done.gone))
	}
	return done, err
}

// topicwise finds the topics with rows to remove without locking them, and runs one round per
// topic, because a distributed database locks the rows of one topic only. After an error it returns
// what was removed before the error.
func (w *sweep) topicwise(ctx context.Context, db *sqldb.DB) (swept, error) {
	topics := slices.Concat(w.found.withoutWebSub, w.found.delivered, topicsOf(nil, w.found.intents, keyTopic))
	err := db.Read(ctx, func(ctx context.Context, c sqldb.Conn) error {
		gone, err := w.sweepable(ctx, c, scope{all: true}, "")
		if err != nil {
			return err
		}
		for _, g := range gone {
			topics = append(topics, g.TopicID)
		}
		unused, err := w.unusedTopics(ctx, c, scope{all: true}, "")
		topics = append(topics, unused...)
		return err
	})
	if err != nil {
		return swept{}, err
	}
	slices.Sort(topics) // a fixed order of locks
	topics = slices.Compact(topics)
	list := make([]swept, len(topics))
	err = sqldb.PerKey(ctx, db, topics, func(ctx context.Context, c sqldb.Conn, n int, topic int64) (err error) {
		list[n], err = w.round(ctx, c, scope{topic: topic})
		return err
	})
	var all swept
	for _, done := range list {
		all.gone, all.topics, all.removed = append(all.gone, done.gone...), all.topics+done.topics, all.removed+done.removed
	}
	return all, err
}

// sweepable finds up to limit subscriptions to remove, expired ones first. lock is a token of
// [sqldb.Dialect].
func (w *sweep) sweepable(ctx context.Context, c sqldb.Conn, sc scope, lock string) ([]hub.SubscriptionInfo, error) {
	find := func(end string, args ...any) ([]hub.SubscriptionInfo, error) {
		text, args := sc.within("s.topic_id", args)
		return sqldb.Collect(ctx, c, scanSubscriptionInfo, `SELECT `+subscriptionColumns+`, t.url FROM subscription AS s
			JOIN topic AS t ON t.id = s.topic_id WHERE `+text+end+` `+lock, args...)
	}
	now := sqldb.Millis(w.now)
	gone, err := find(`s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2`, now, int64(max(w.limit, 0)))
	if err != nil || w.maxErrors <= 0 || len(gone) >= w.limit {
		return gone, err
	}
	// spec:rsscloud-2009#drop-after-three-errors — this rule belongs to rssCloud; other protocols
	// have their own.
	failing, err := find(`s.failures > 0 AND s.failures >= $1 AND s.expires_at > $2 AND s.protocol IN ($3, $4, $5, $6) LIMIT $7`,
		int64(w.maxErrors), now, hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP, int64(w.limit-len(gone)))
	return append(gone, failing...), err
}

// unusedTopics finds topics that were last used before the time idle. lock is a token of
// [sqldb.Dialect].
func (w *sweep) unusedTopics(ctx context.Context, c sqldb.Conn, sc scope, lock string) ([]int64, error) {
	if w.idle <= 0 {
		return nil, nil
	}
	text, args := sc.within("t.id", []any{w.idle, int64(max(w.limit, 0))})
	return sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t WHERE `+text+`t.used_at < $1 AND t.due_at IS NULL
		ORDER BY t.used_at LIMIT $2 `+lock, args...)
}

// sweepTopics removes topics without subscriptions that were last used before the time idle. It
// marks topics that have subscriptions as used now. It returns the number of processed topics.
func (w *sweep) sweepTopics(ctx context.Context, c sqldb.Conn, sc scope) (looked int, err error) {
	ids, err := w.unusedTopics(ctx, c, sc, "{TAKE}")
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	slices.Sort(ids)
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id, sqldb.Millis(w.now)}
	}
	// Check only after locking the rows: a transaction that was adding a subscription either held
	// the lock before, so that its row is visible now, or waits for this transaction.
	_, err = c.Bulk(ctx, `rows(id i, now i) UPDATE topic AS t SET used_at = :now {FROM ROWS}
		WHERE t.id = :id AND EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = :id)`, rows)
	if err != nil {
		return 0, err
	}
	var gone [][]any
	err = c.BulkQuery(ctx, `rows(idle i) DELETE FROM topic AS t {USING ROWS}
		WHERE t.id = :idle AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = :idle) RETURNING id`, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		gone = append(gone, []any{id})
		return err
	}, sqldb.Rows(ids))
	if err != nil {
		return 0, err
	}
	for _, table := range []string{"part", "body", "alias"} {
		if _, err = c.Bulk(ctx, `rows(id i) DELETE FROM `+table+` AS p {USING ROWS} WHERE p.topic_id = :id`, gone); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
