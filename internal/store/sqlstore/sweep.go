package sqlstore

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// Sweep is hub.Store.Sweep. Every expired subscription goes; errors end only those
// of a protocol that says so.
func (s *Store) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) ([]hub.SubscriptionInfo, error) {
	// Looked for beforehand, so that the search holds up no writer.
	spare, err := read(ctx, s, func(ctx context.Context, c Conn) (leftovers, error) { return leftoversAt(ctx, c, now, limit) })
	if err != nil {
		return nil, err
	}
	return write(ctx, s, func(ctx context.Context, c Conn) ([]hub.SubscriptionInfo, error) {
		gone, err := sweepable(ctx, c, now, maxErrors, limit)
		if err != nil {
			return nil, err
		}
		keys := make([]hub.Key, len(gone))
		topics := make([]int64, len(gone))
		for i, g := range gone {
			keys[i], topics[i] = g.Key(), g.TopicID
		}
		_, err = c.Bulk(ctx, deleteText, keyRows(keys))
		if err != nil {
			return nil, err
		}
		if err := touch(ctx, c, topics, ms(now)); err != nil {
			return nil, err
		}
		if err := sweepTopics(ctx, c, ms(now), ms(idle), limit); err != nil {
			return nil, err
		}
		if err := spare.sweep(ctx, c); err != nil {
			return nil, err
		}
		if events != nil && len(gone) > 0 {
			err = appendEvents(ctx, c, events(gone))
		}
		return gone, err
	})
}

// sweepable finds up to limit subscriptions to remove, the expired ones first.
func sweepable(ctx context.Context, c Conn, now time.Time, maxErrors, limit int) ([]hub.SubscriptionInfo, error) {
	const from = `SELECT ` + subscriptionColumns + `, t.url FROM subscription AS s JOIN topic AS t ON t.id = s.topic_id WHERE `
	gone, err := collect(ctx, c, scanSubscriptionInfo, from+`s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2 {TAKE S}`,
		ms(now), max(limit, 0))
	if err != nil || maxErrors <= 0 || len(gone) >= limit {
		return gone, err
	}
	// spec:rsscloud-2009#drop-after-three-errors — the rule of three errors is rssCloud's; other
	// protocols have their own.
	failing, err := collect(ctx, c, scanSubscriptionInfo, from+`s.failures > 0 AND s.failures >= $1 AND s.expires_at > $2
		AND s.protocol IN ($3, $4, $5, $6) LIMIT $7 {TAKE S}`,
		maxErrors, ms(now), hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP, limit-len(gone))
	return append(gone, failing...), err
}

// sweepTopics removes topics without subscriptions that were last in use before
// idle. A topic that is followed counts as in use now.
func sweepTopics(ctx context.Context, c Conn, now, idle int64, limit int) error {
	if idle <= 0 {
		return nil
	}
	ids, err := collect(ctx, c, scanID, `SELECT t.id FROM topic AS t WHERE t.used_at < $1 AND t.due_at IS NULL
		ORDER BY t.used_at LIMIT $2 {TAKE}`, idle, max(limit, 0))
	if err != nil || len(ids) == 0 {
		return err
	}
	slices.Sort(ids)
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id, now}
	}
	// Looked at only now that the rows are locked: a subscription that was being
	// added has either kept its topic from us, or is visible.
	_, err = c.Bulk(ctx, `rows(id i, now i) UPDATE topic AS t SET used_at = :now {FROM ROWS}
		WHERE t.id = :id AND EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = t.id)`, rows)
	if err != nil {
		return err
	}
	for i, id := range ids {
		rows[i] = []any{id}
	}
	_, err = c.Bulk(ctx, `rows(id i) DELETE FROM topic AS t {USING ROWS}
		WHERE t.id = :id AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = t.id)`, rows)
	if err != nil {
		return err
	}
	for _, table := range []string{"part", "body", "alias"} {
		_, err = c.Bulk(ctx, `rows(id i) DELETE FROM `+table+` AS p {USING ROWS}
			WHERE p.topic_id = :id AND NOT EXISTS (SELECT 1 FROM topic AS t WHERE t.id = p.topic_id)`, rows)
		if err != nil {
			return err
		}
	}
	return nil
}
