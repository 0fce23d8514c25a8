package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/sqldb"
)

// consentOf determines whether the recipient of a forwarding has agreed to it.
func consentOf(ctx context.Context, c sqldb.Conn, n forward.Forwarding) (forward.Forwarding, error) {
	refused, err := refusals(ctx, c, n.Reader, forward.Mailbox(n.Via, n.Target))
	if err != nil {
		return n, err
	}
	if refused > 0 {
		return n, fault.New(fault.Refused, "%s refuses further messages from you. Only the recipient can allow them again, with the link in an earlier message.", n.Target)
	}
	others, err := forwardingsTo(ctx, c, n, forward.Recipient)
	for _, other := range others {
		if other.ID != n.ID && other.State == forward.ForwardingConfirmed {
			n.State, n.DecidedAt = forward.ForwardingConfirmed, other.DecidedAt
		}
	}
	return n, err
}

func refusals(ctx context.Context, c sqldb.Conn, reader, mailbox string) (int64, error) {
	return sqldb.Count(ctx, c, `SELECT COUNT(*) FROM notice_refusal WHERE reader = $1 AND mailbox = $2`, reader, sqldb.Clean(mailbox))
}

// forwardingsTo returns, locked, the forwardings of to.Reader whose target equals to.Target after
// the function same has normalized both.
func forwardingsTo(ctx context.Context, c sqldb.Conn, to forward.Forwarding, same func(via, target string) string) ([]forward.Forwarding, error) {
	all, err := sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.reader = $1 ORDER BY n.id {LOCK}`, to.Reader)
	return slices.DeleteFunc(all, func(n forward.Forwarding) bool { return same(n.Via, n.Target) != same(to.Via, to.Target) }), err
}

// DecideForwardings implements river.Store.
func (s *forwardingStore) DecideForwardings(ctx context.Context, to forward.Forwarding, state string, now time.Time) (int, error) {
	to.Reader, to.Target = sqldb.Clean(to.Reader), sqldb.Clean(to.Target)
	same, mailbox := forward.Recipient, forward.Mailbox(to.Via, to.Target)
	if state == forward.ForwardingEnded {
		same = forward.Mailbox
	}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		all, err := forwardingsTo(ctx, c, to, same)
		if err != nil {
			return 0, err
		}
		_, err = c.Exec(ctx, `DELETE FROM notice_refusal WHERE reader = $1 AND mailbox = $2`, to.Reader, mailbox)
		if err == nil && state == forward.ForwardingEnded {
			_, err = c.Exec(ctx, `INSERT INTO notice_refusal (reader, mailbox, at) VALUES ($1, $2, $3)`, to.Reader, mailbox, sqldb.Millis(now))
		}
		if err != nil {
			return 0, err
		}
		for _, n := range all {
			if state == forward.ForwardingEnded {
				if _, err := c.Exec(ctx, `DELETE FROM notice_queue WHERE notice_id = $1`, n.ID); err != nil {
					return 0, err
				}
			}
			if n.State == state {
				continue
			}
			_, err := c.Exec(ctx, `UPDATE notice SET state = $1, decided_at = $2, claim = 0, failures = 0, problem = '', next_at = CASE WHEN NOT paused AND
					EXISTS (SELECT 1 FROM notice_queue AS q WHERE q.notice_id = $3) THEN CAST($4 AS BIGINT) END WHERE id = $3`,
				state, sqldb.Millis(now), n.ID, sqldb.Millis(forward.DueAt(n.Digest, n.ID, now)))
			if err != nil {
				return 0, err
			}
		}
		return len(all), nil
	})
}

// ChooseDigest implements river.Store.
func (s *forwardingStore) ChooseDigest(ctx context.Context, to forward.Forwarding, digest string, now time.Time) error {
	to.Reader, to.Target = sqldb.Clean(to.Reader), sqldb.Clean(to.Target)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		all, err := forwardingsTo(ctx, c, to, forward.Recipient)
		for _, n := range all {
			if err != nil || n.Digest == digest {
				continue
			}
			// The due time of a forwarding that waits for consent is the time of the consent
			// request, so it does not depend on the digest.
			_, err = c.Exec(ctx, `UPDATE notice SET digest = $1, next_at = CASE WHEN next_at IS NULL OR claim <> 0 OR state <> 'confirmed' THEN next_at
				ELSE CAST($2 AS BIGINT) END WHERE id = $3`, digest, sqldb.Millis(forward.DueAt(digest, n.ID, now)), n.ID)
		}
		return err
	})
}

// ForwardingRefused implements river.Store.
func (s *forwardingStore) ForwardingRefused(ctx context.Context, reader, via, target string) (bool, error) {
	n, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return refusals(ctx, c, sqldb.Clean(reader), forward.Mailbox(via, target))
	})
	return n > 0, err
}

// errTooMany rolls back a transaction of CountMessages.
var errTooMany = errors.New("too many messages in one day")

// CountMessages implements river.Store.
func (s *forwardingStore) CountMessages(ctx context.Context, day int64, subjects []forward.MessageLimit, n int) (bool, error) {
	subjects = slices.Clone(subjects)
	slices.SortFunc(subjects, func(a, b forward.MessageLimit) int { return cmp.Compare(a.Subject, b.Subject) }) // lock in a fixed order
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		for _, subject := range subjects {
			have := int64(0)
			err := c.Query(ctx, `INSERT INTO notice_count (day, subject, n) VALUES ($1, $2, $3)
				ON CONFLICT (day, subject) DO UPDATE SET n = notice_count.n + excluded.n RETURNING n`, func(rows *sql.Rows) error {
				return rows.Scan(&have)
			}, day, sqldb.Clean(subject.Subject), int64(n))
			if err != nil {
				return err
			}
			if n > 0 && have > int64(subject.Max) {
				return errTooMany
			}
		}
		_, err := c.Exec(ctx, `DELETE FROM notice_count WHERE day < $1`, day)
		return err
	})
	if errors.Is(err, errTooMany) {
		return false, nil
	}
	return err == nil, err
}

// ClaimForwarding implements river.Store.
func (s *forwardingStore) ClaimForwarding(ctx context.Context, reader string, id int64, now, until time.Time, claim int64) (forward.Forwarding, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (forward.Forwarding, error) {
		found, err := sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.id = $1 AND n.reader = $2 {LOCK}`, id, sqldb.Clean(reader))
		n, err := oneForwarding(found, err)
		if err != nil {
			return n, err
		}
		if n.Claim != 0 && n.NextAt.After(now) {
			return n, fault.New(fault.Conflict, "This forwarding is being sent: try again in a while.")
		}
		n.Claim, n.NextAt = claim, time.UnixMilli(sqldb.Millis(until)).UTC()
		_, err = c.Exec(ctx, `UPDATE notice SET claim = $1, next_at = $2 WHERE id = $3`, claim, sqldb.Millis(until), id)
		return n, err
	})
}
