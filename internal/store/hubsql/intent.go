package hubsql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

const (
	intentColumns = `i.topic_id, i.id, i.topic, i.callback, i.mode, i.secret, i.lease, i.reason, i.door, i.at, i.due_at, i.tries, i.claim`
	intentHead    = `topic_id i, id i, topic t, callback t, mode t, secret b, lease i, reason t, door t, at i, due_at i, tries i`
)

func scanIntent(rows *sql.Rows, in *hub.Intent) error {
	var lease int64
	err := rows.Scan(&in.TopicID, &in.ID, &in.Topic, &in.Callback, &in.Mode, (*sqldb.ByteString)(&in.Secret), &lease, &in.Reason, &in.Via,
		(*sqldb.Time)(&in.At), (*sqldb.Time)(&in.DueAt), (*sqldb.Int)(&in.Tries), &in.Claim)
	in.Lease = time.Duration(lease)
	return err
}

// intentRow returns a bulk row for the header intentHead.
func intentRow(in hub.Intent) []any {
	return []any{in.TopicID, in.ID, sqldb.Clean(in.Topic), sqldb.Clean(in.Callback), sqldb.Clean(in.Mode), raw(in.Secret), int64(in.Lease), sqldb.Clean(in.Reason),
		sqldb.Clean(in.Via), sqldb.Millis(in.At), sqldb.Millis(in.DueAt), in.Tries}
}

// byIntent compares intents by the key of their rows.
func byIntent(a, b hub.Intent) int {
	return cmp.Or(cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.ID, b.ID))
}

// Request implements hub.Store.
func (s *intentStore) Request(ctx context.Context, list []hub.Intent, events []event.Event) error {
	list = slices.Clone(list)
	slices.Reverse(list) // of duplicates, the last one wins
	slices.SortStableFunc(list, byIntent)
	list = slices.CompactFunc(list, func(a, b hub.Intent) bool { return byIntent(a, b) == 0 })
	topics := topicsOf(topicsOf(nil, list, intentTopic), events, eventTopic)
	return perTopic(ctx, s.db, topics, func(ctx context.Context, c sqldb.Conn, sc scope) error {
		var rows [][]any
		for _, in := range inScope(sc, list, intentTopic) {
			rows = append(rows, intentRow(in))
		}
		_, err := c.Bulk(ctx, `rows(`+intentHead+`)
			INSERT INTO intent (topic_id, id, topic, callback, mode, secret, lease, reason, door, at, due_at, tries, claim)
			SELECT :topic_id, :id, :topic, :callback, :mode, :secret, :lease, :reason, :door, :at, :due_at, :tries, 0
			{FROM ROWS} WHERE true
			ON CONFLICT (topic_id, id) DO UPDATE SET topic = excluded.topic, callback = excluded.callback, mode = excluded.mode,
				secret = excluded.secret, lease = excluded.lease, reason = excluded.reason, door = excluded.door, at = excluded.at,
				due_at = excluded.due_at, tries = excluded.tries, claim = 0`, rows)
		if err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, inScope(sc, events, eventTopic))
	})
}

// ClaimIntents implements hub.Store.
func (s *intentStore) ClaimIntents(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Intent, error) {
	table := sqldb.DueTable{Name: "intent", Alias: "i", Columns: intentColumns, Key: "topic_id i, id i", Due: "due_at", Claim: "claim"}
	return sqldb.ClaimDue(ctx, s.db, table, scanIntent, now, until, limit, claim, func(in *hub.Intent, until time.Time) []any {
		in.Claim, in.DueAt = claim, until
		return []any{in.TopicID, in.ID}
	})
}

// FinishIntent implements hub.Store.
func (s *intentStore) FinishIntent(ctx context.Context, d hub.IntentResult) (bool, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) {
		applied, err := takeIntent(ctx, c, d)
		if err != nil || !applied {
			return false, err
		}
		if d.Subscription != nil || d.Remove {
			if err := overrideOpposite(ctx, c, d.Intent); err != nil {
				return false, err
			}
		}
		if d.Subscription != nil {
			var topics []string
			if d.Intent.Topic != "" {
				topics = append(topics, d.Intent.Topic)
			}
			if err := subscribe(ctx, c, s.db.Shared, registrationOf(topics, []hub.Subscription{*d.Subscription}), latest(d.Events)); err != nil {
				return false, err
			}
		}
		if d.Subscription != nil && d.About != nil {
			if err := saveAbout(ctx, c, d.Intent.TopicID, cleanAbout(*d.About)); err != nil {
				return false, err
			}
		}
		if d.Remove {
			if _, err := unsubscribe(ctx, c, []hub.Key{d.Intent.Key()}, latest(d.Events)); err != nil {
				return false, err
			}
		}
		return true, sqldb.AppendEvents(ctx, c, d.Events)
	})
}

// takeIntent deletes or replaces the intent of a result if its claim is still valid. It reports
// whether the claim was valid; otherwise the caller must ignore the result.
func takeIntent(ctx context.Context, c sqldb.Conn, d hub.IntentResult) (bool, error) {
	if d.Again == nil {
		n, err := c.Exec(ctx, `DELETE FROM intent WHERE topic_id = $1 AND id = $2 AND claim = $3`, d.Intent.TopicID, d.Intent.ID, d.Intent.Claim)
		return n == 1, err
	}
	again := *d.Again
	again.TopicID, again.ID = d.Intent.TopicID, d.Intent.ID
	n, err := c.Bulk(ctx, `rows(`+intentHead+`, old i) UPDATE intent AS i SET topic = :topic, callback = :callback, mode = :mode, secret = :secret,
			lease = :lease, reason = :reason, door = :door, at = :at, due_at = :due_at, tries = :tries, claim = 0
		{FROM ROWS} WHERE i.topic_id = :topic_id AND i.id = :id AND i.claim = :old`, [][]any{append(intentRow(again), d.Intent.Claim)})
	return n == 1, err
}

// overrideOpposite deletes an older confirmed request of the opposite mode (subscribe or
// unsubscribe) that is still pending, so that the newer request wins. Only the newer request looks
// for an older one, so that two concurrent results do not wait for each other.
//
// spec:websub-2018#re-subscribe
func overrideOpposite(ctx context.Context, c sqldb.Conn, in hub.Intent) error {
	contrary := hub.ModeSubscribe
	if in.Mode == hub.ModeSubscribe {
		contrary = hub.ModeUnsubscribe
	}
	_, err := c.Exec(ctx, `DELETE FROM intent WHERE topic_id = $1 AND id = $2 AND mode = $3 AND at < $4`,
		in.TopicID, hub.SubscriptionID(contrary, in.Callback), contrary, sqldb.Millis(in.At))
	return err
}

// Intents implements hub.Store.
func (s *intentStore) Intents(ctx context.Context) (int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (n int64, err error) {
		err = c.Query(ctx, `SELECT COUNT(*) FROM intent`, func(rows *sql.Rows) error { return rows.Scan(&n) })
		return n, err
	})
}
