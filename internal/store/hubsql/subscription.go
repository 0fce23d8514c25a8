package hubsql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

const subscriptionColumns = `s.topic_id, s.id, s.protocol, s.callback, s.proc, s.created_at, s.renewed_at, s.expires_at,
	s.failures, s.tries, s.next_at, s.owed, s.counted, s.sent, s.claim, s.last_error, s.last_error_at,
	s.secret, s.failing_since`

func subscriptionFields(s *hub.Subscription) []any {
	return []any{&s.TopicID, &s.ID, &s.Protocol, &s.Callback, &s.Procedure,
		(*sqldb.Time)(&s.CreatedAt), (*sqldb.Time)(&s.RenewedAt), (*sqldb.Time)(&s.ExpiresAt),
		(*sqldb.Int)(&s.Failures), (*sqldb.Int)(&s.Tries), (*sqldb.Time)(&s.NextAt), &s.PendingVersion, &s.Counted, &s.Sent, &s.Claim,
		&s.LastError, (*sqldb.Time)(&s.LastErrorAt), (*sqldb.ByteString)(&s.Secret), (*sqldb.Time)(&s.FailingSince)}
}

func scanSubscription(rows *sql.Rows, s *hub.Subscription) error {
	return rows.Scan(subscriptionFields(s)...)
}

func scanSubscriptionInfo(rows *sql.Rows, s *hub.SubscriptionInfo) error {
	return rows.Scan(append(subscriptionFields(&s.Subscription), &s.Topic)...)
}

// keyRow returns the columns of a bulk row that identify a subscription, in the order of the header
// keyHead.
func keyRow(k hub.Key, more ...any) []any {
	return append([]any{k.TopicID, int64(hub.Bucket(k.ID)), k.ID}, more...)
}

const (
	keyHead    = `topic_id i, bucket i, id i`
	deleteText = `rows(` + keyHead + `) DELETE FROM subscription AS s {USING ROWS} WHERE ` + keyMatch
	keyMatch   = `s.topic_id = :topic_id AND s.bucket = :bucket AND s.id = :id`
)

func byKey(a, b hub.Key) int {
	return cmp.Or(cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.ID, b.ID))
}

// registration is the data that Subscribe writes.
type registration struct {
	topics map[int64]string // key: topic id, value: URL
	full   []int64          // topics of subscriptions that may want the content
	rows   [][]any
	now    int64
}

func registrationOf(topics []string, subs []hub.Subscription) registration {
	r := registration{topics: topicURLs(topics, subs)}
	byID := make(map[hub.Key]hub.Subscription, len(subs))
	for _, sub := range subs {
		if sub.ID == 0 {
			sub.ID = hub.SubscriptionID(sub.Protocol, sub.Callback)
		}
		byID[sub.Key()] = sub // of duplicates, the last one wins
		r.now = max(r.now, sqldb.Millis(sub.RenewedAt))
		if sub.Protocol == hub.WebSub {
			r.full = append(r.full, sub.TopicID)
		}
	}
	slices.Sort(r.full)
	r.full = slices.Compact(r.full)
	keys := make([]hub.Key, 0, len(byID))
	for k := range byID {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, byKey) // a fixed order of locks
	r.rows = make([][]any, len(keys))
	for i, k := range keys {
		v := byID[k]
		r.rows[i] = keyRow(k, v.Protocol, sqldb.Clean(v.Callback), sqldb.Clean(v.Procedure), sqldb.Millis(v.CreatedAt), sqldb.Millis(v.RenewedAt), sqldb.Millis(v.ExpiresAt),
			v.Failures, v.Tries, sqldb.Millis(v.NextAt), v.PendingVersion, v.Counted, v.Sent, v.Claim, sqldb.Clean(v.LastError), sqldb.Millis(v.LastErrorAt),
			raw(v.Secret), sqldb.Millis(v.FailingSince))
	}
	return r
}

// Subscribe implements hub.Store. Each subscription's topic is in topics or already exists.
func (s *subscriptionStore) Subscribe(ctx context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	ids := topicsOf(topicsOf(topicsOf(nil, topics, hub.TopicID), subs, subscriptionTopic), events, eventTopic)
	return perTopic(ctx, s.db, ids, func(ctx context.Context, c sqldb.Conn, sc scope) error {
		own := inScope(sc, events, eventTopic)
		r := registrationOf(inScope(sc, topics, hub.TopicID), inScope(sc, subs, subscriptionTopic))
		if err := subscribe(ctx, c, s.db.Shared, r, latest(own)); err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, own)
	})
}

// subscribe writes a registration. at is the time of the request, or 0.
func subscribe(ctx context.Context, c sqldb.Conn, shared bool, r registration, at int64) error {
	if err := ensureTopics(ctx, c, shared, r.topics, max(r.now, at)); err != nil {
		return err
	}
	if err := keepContent(ctx, c, r.full); err != nil {
		return err
	}
	_, err := c.Bulk(ctx, `rows(`+keyHead+`, protocol t, callback t, proc t, created_at i, renewed_at i, expires_at i,
		failures i, tries i, next_at i, owed i, counted i, sent i, claim i, last_error t, last_error_at i, secret b, failing_since i)
		INSERT INTO subscription (topic_id, bucket, id, protocol, callback, proc, created_at, renewed_at, expires_at,
			failures, tries, next_at, owed, counted, sent, claim, last_error, last_error_at, secret, failing_since)
		SELECT :topic_id, :bucket, :id, :protocol, :callback, :proc, :created_at, :renewed_at, :expires_at,
			:failures, :tries, NULLIF(:next_at, 0), :owed, :counted, :sent, :claim, :last_error, :last_error_at, :secret, :failing_since
		{FROM ROWS} WHERE true
		ON CONFLICT (topic_id, bucket, id) DO UPDATE SET proc = excluded.proc, secret = excluded.secret,
			renewed_at = excluded.renewed_at, expires_at = excluded.expires_at, failures = 0, failing_since = 0, tries = 0`, r.rows)
	return err
}

// keepContent makes topics store their content from the next version on. It waits for a transaction
// that is writing a check: either that check sees the flag, or the next check does.
func keepContent(ctx context.Context, c sqldb.Conn, ids []int64) error {
	rows := sqldb.Rows(ids)
	_, err := c.Bulk(ctx, `rows(id i) UPDATE topic AS t SET is_full = TRUE {FROM ROWS} WHERE t.id = :id AND NOT t.is_full`, rows)
	return err
}

// Unsubscribe implements hub.Store.
func (s *subscriptionStore) Unsubscribe(ctx context.Context, keys []hub.Key, events []event.Event) ([]hub.Subscription, error) {
	topics := topicsOf(topicsOf(nil, keys, keyTopic), events, eventTopic)
	shards := make([][]hub.Subscription, len(topics)+1)
	err := perTopic(ctx, s.db, topics, func(ctx context.Context, c sqldb.Conn, sc scope) (err error) {
		own := inScope(sc, events, eventTopic)
		if shards[sc.n], err = unsubscribe(ctx, c, inScope(sc, keys, keyTopic), latest(own)); err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, own)
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(shards...), nil
}

// unsubscribe removes subscriptions at a time and returns their previous state.
func unsubscribe(ctx context.Context, c sqldb.Conn, keys []hub.Key, at int64) ([]hub.Subscription, error) {
	rows := keyRows(keys)
	var gone []hub.Subscription
	// DELETE … RETURNING is not used: the databases resolve names in it differently.
	err := c.BulkQuery(ctx, `rows(`+keyHead+`) SELECT `+subscriptionColumns+` FROM subscription AS s {AND ROWS}
		WHERE `+keyMatch+` {HOLD S}`, func(rows *sql.Rows) error {
		var sub hub.Subscription
		err := scanSubscription(rows, &sub)
		gone = append(gone, sub)
		return err
	}, rows)
	if err != nil {
		return nil, err
	}
	if _, err := c.Bulk(ctx, deleteText, rows); err != nil {
		return nil, err
	}
	slices.SortFunc(gone, func(a, b hub.Subscription) int { return byKey(a.Key(), b.Key()) })
	ids := make([]int64, len(gone))
	for i, g := range gone {
		ids[i] = g.TopicID
	}
	return gone, touchTopics(ctx, c, ids, at)
}

// keyRows returns bulk rows for the header keyHead, sorted and without duplicates.
func keyRows(keys []hub.Key) [][]any {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, byKey)
	keys = slices.Compact(keys)
	rows := make([][]any, len(keys))
	for i, k := range keys {
		rows[i] = keyRow(k)
	}
	return rows
}

// Subscription implements hub.Store.
func (s *subscriptionStore) Subscription(ctx context.Context, key hub.Key) (hub.Subscription, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (hub.Subscription, error) {
		found, err := sqldb.Collect(ctx, c, scanSubscription, `SELECT `+subscriptionColumns+` FROM subscription AS s
			WHERE s.topic_id = $1 AND s.bucket = $2 AND s.id = $3`, key.TopicID, int64(hub.Bucket(key.ID)), key.ID)
		return sqldb.First(found, err, "There is no subscription with the number %d for the topic %d.", key.ID, key.TopicID)
	})
}

// Subscriptions implements hub.Store.
func (s *subscriptionStore) Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error) {
	var w sqldb.Where
	if q.TopicID != 0 {
		w.Add("s.topic_id = ?", q.TopicID)
	}
	if q.Protocol != "" {
		w.Add("s.protocol = ?", q.Protocol)
	}
	if q.After != (hub.Key{}) {
		w.Add("(s.topic_id, s.bucket, s.id) > (?, ?, ?)", q.After.TopicID, int64(hub.Bucket(q.After.ID)), q.After.ID)
	}
	if err := w.Like(q.Match, "s.callback", "t.url"); err != nil {
		return nil, err
	}
	text := `SELECT ` + subscriptionColumns + `, t.url FROM subscription AS s JOIN topic AS t ON t.id = s.topic_id` +
		w.String() + ` ORDER BY s.topic_id, s.bucket, s.id LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.SubscriptionInfo, error) {
		return sqldb.Collect(ctx, c, scanSubscriptionInfo, text, w.Args...)
	})
}

// latest returns the time of the newest event, or 0 if there is none.
func latest(events []event.Event) int64 {
	var at int64
	for _, e := range events {
		at = max(at, sqldb.Millis(e.At))
	}
	return at
}
