package hubsql

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Settle implements hub.Store.
func (s *deliveryStore) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	topics := topicsOf(topicsOf(nil, results, resultTopic), events, eventTopic)
	return perTopic(ctx, s.db, topics, func(ctx context.Context, c sqldb.Conn, sc scope) error {
		if err := settle(ctx, c, now, inScope(sc, results, resultTopic)); err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, inScope(sc, events, eventTopic))
	})
}

// settle writes results as if they were written one after the other. Results of one subscription
// must keep their order, so settle writes at most one result of each subscription per round.
func settle(ctx context.Context, c sqldb.Conn, now time.Time, results []hub.Result) error {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b hub.Result) int { return byKey(a.Key, b.Key) })
	for len(results) > 0 {
		var round, rest []hub.Result
		for i, r := range results {
			if i > 0 && results[i-1].Key == r.Key {
				rest = append(rest, r)
			} else {
				round = append(round, r)
			}
		}
		if err := settleRound(ctx, c, sqldb.Millis(now), round); err != nil {
			return err
		}
		results = rest
	}
	return nil
}

// settleRound writes results with distinct keys.
func settleRound(ctx context.Context, c sqldb.Conn, now int64, results []hub.Result) error {
	texts := map[hub.Outcome]string{hub.Delivered: deliveredText, hub.Failed: failedText, hub.Gone: goneText,
		hub.Parked: parkedText, hub.Postponed: postponedText, hub.Raised: raisedText}
	for _, outcome := range []hub.Outcome{hub.Delivered, hub.Failed, hub.Gone, hub.Parked, hub.Postponed, hub.Raised} {
		var rows [][]any
		var topics []int64
		for _, r := range results {
			if r.Outcome != outcome {
				continue
			}
			topics = append(topics, r.Key.TopicID)
			rows = append(rows, resultRow(r, now))
		}
		n, err := c.Bulk(ctx, texts[outcome], rows)
		if err == nil && outcome == hub.Gone && n > 0 {
			err = touchTopics(ctx, c, topics, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resultRow returns the columns that the statement of the outcome names.
func resultRow(r hub.Result, now int64) []any {
	switch r.Outcome {
	case hub.Delivered:
		return keyRow(r.Key, r.Claim, r.Version, now)
	case hub.Failed:
		return keyRow(r.Key, r.Claim, r.Version, now, r.Tries, sqldb.Millis(r.NextAt), sqldb.Clean(r.Error))
	case hub.Gone:
		return keyRow(r.Key, r.Claim)
	case hub.Parked:
		return keyRow(r.Key, r.Claim, r.Version, sqldb.Millis(r.NextAt), r.NewClaim)
	case hub.Postponed:
		return keyRow(r.Key, r.Claim, r.Version, sqldb.Millis(r.NextAt))
	default: // hub.Raised
		return keyRow(r.Key, r.Version, now)
	}
}

const (
	raisePending = `owed = CASE WHEN s.owed > :version THEN s.owed ELSE :version END`

	deliveredText = `rows(` + keyHead + `, claim i, version i, now i)
		UPDATE subscription AS s SET failures = 0, failing_since = 0, tries = 0, claim = 0, sent = :version,
			next_at = CASE WHEN s.owed > :version THEN :now END
		{FROM ROWS} WHERE ` + keyMatch + ` AND s.claim = :claim`

	// spec:cloudburst#errors-per-change
	failedText = `rows(` + keyHead + `, claim i, version i, now i, tries i, next_at i, error t)
		UPDATE subscription AS s SET
			failures = CASE WHEN s.counted >= :version THEN s.failures ELSE s.failures + 1 END,
			failing_since = CASE WHEN s.failing_since = 0 THEN :now ELSE s.failing_since END,
			counted = CASE WHEN s.counted > :version THEN s.counted ELSE :version END, ` + raisePending + `,
			tries = :tries, next_at = NULLIF(:next_at, 0), claim = 0, last_error = :error, last_error_at = :now
		{FROM ROWS} WHERE ` + keyMatch + ` AND s.claim = :claim`

	goneText = `rows(` + keyHead + `, claim i)
		DELETE FROM subscription AS s {USING ROWS} WHERE ` + keyMatch + ` AND s.claim = :claim`

	parkedText = `rows(` + keyHead + `, claim i, version i, next_at i, new_claim i)
		UPDATE subscription AS s SET owed = :version, next_at = NULLIF(:next_at, 0), claim = :new_claim
		{FROM ROWS} WHERE ` + keyMatch + ` AND s.claim = :claim`

	postponedText = `rows(` + keyHead + `, claim i, version i, next_at i)
		UPDATE subscription AS s SET ` + raisePending + `, next_at = NULLIF(:next_at, 0), claim = 0
		{FROM ROWS} WHERE ` + keyMatch + ` AND s.claim = :claim`

	raisedText = `rows(` + keyHead + `, version i, now i)
		UPDATE subscription AS s SET ` + raisePending + `, tries = 0,
			next_at = CASE WHEN s.claim <> 0 AND s.next_at > :now THEN s.next_at ELSE :now END
		{FROM ROWS} WHERE ` + keyMatch + ` AND s.sent < :version`
)
