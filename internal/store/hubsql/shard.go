package hubsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
	"cloudburst/internal/store/sqldb"
)

const shardColumns = `p.topic_id, p.part, p.lo, p.hi, p.want, p.done, p.pass, p.pos, p.epoch, p.owner, p.due_at`

// shardState is a shard with the columns that only the store uses.
type shardState struct {
	hub.Shard
	run   int64 // version that the run at Pos delivers
	owner sql.NullInt64
	due   sql.NullInt64
}

func scanShard(rows *sql.Rows, p *shardState) error {
	var lo, hi int64
	err := rows.Scan(&p.TopicID, (*sqldb.Int)(&p.N), &lo, &hi, &p.Want, &p.Done, &p.run, &p.Pos, &p.Epoch, &p.owner, &p.due)
	p.Lo, p.Hi = int32(lo), int32(hi)
	return err
}

// idle reports whether the shard has nothing to deliver and no owner.
func (p *shardState) idle() bool { return !p.due.Valid && p.Want == p.Done }

// row returns p as a bulk row of saveShards.
func (p *shardState) row() []any {
	return []any{p.TopicID, int64(p.N), p.Want, p.run, p.Pos, p.Epoch, p.owner.Valid, p.owner.Int64, p.due.Int64}
}

func saveShards(ctx context.Context, c sqldb.Conn, rows [][]any) error {
	_, err := c.Bulk(ctx, `rows(topic_id i, part i, want i, pass i, pos i, epoch i, owned o, owner i, due_at i)
		UPDATE part AS p SET want = :want, pass = :pass, pos = :pos, epoch = :epoch,
			owner = CASE WHEN :owned THEN :owner END, due_at = NULLIF(:due_at, 0)
		{FROM ROWS} WHERE p.topic_id = :topic_id AND p.part = :part`, rows)
	return err
}

// lockShards returns the shards of a topic, locked for update, in ascending order.
func lockShards(ctx context.Context, c sqldb.Conn, topicID int64) ([]shardState, error) {
	return sqldb.Collect(ctx, c, scanShard, `SELECT `+shardColumns+` FROM part AS p WHERE p.topic_id = $1 ORDER BY p.part {LOCK}`, topicID)
}

// ClaimShards implements hub.Store.
func (s *deliveryStore) ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]hub.Shard, error) {
	table := sqldb.DueTable{Name: "part", Alias: "p", Due: "due_at"}
	return sqldb.Claim(ctx, s.db, table, now, limit, func(ctx context.Context, c sqldb.Conn, d sqldb.Due) ([]hub.Shard, error) {
		text, args := d.Oldest(table, d.Limit)
		due, err := sqldb.Collect(ctx, c, scanShard, `SELECT `+shardColumns+` `+text, args...)
		if err != nil {
			return nil, err
		}
		ids := make([]int64, len(due))
		rows := make([][]any, len(due))
		for i := range due {
			p := &due[i]
			// Subscribers before Pos received an older version in the interrupted run. They must
			// receive the newer version too, so the run starts again at the first subscriber.
			if p.run != p.Want {
				p.run, p.Pos = p.Want, 0
			}
			p.Epoch++
			p.owner = sql.NullInt64{Int64: node, Valid: true}
			p.due = sql.NullInt64{Int64: sqldb.Millis(until), Valid: true}
			ids[i], rows[i] = p.TopicID, p.row()
		}
		if err := saveShards(ctx, c, rows); err != nil {
			return nil, err
		}
		// Read after locking: no transaction can raise these versions before this one commits.
		topics, err := topicsByID(ctx, c, ids)
		if err != nil {
			return nil, err
		}
		shards := make([]hub.Shard, len(due))
		for i, p := range due {
			shards[i] = p.Shard
			shards[i].Topic = topics[p.TopicID]
		}
		return shards, nil
	})
}

// batchColumns are the columns that a delivery needs. Reading all columns would cost as much as
// sending the notifications.
const batchColumns = `s.id, s.protocol, s.callback, s.proc, s.failures, s.tries, s.next_at, s.counted, s.sent, s.secret, s.failing_since`

// BatchText is the statement of Batch, exported for tests of its plan. It is the most frequent
// statement and must walk the primary key. The "+ 0" keeps a planner without statistics from using
// the index on expires_at.
//
// spec:websub-2018#lease-enforced
const BatchText = `SELECT ` + batchColumns + ` FROM subscription AS s
	WHERE s.topic_id = $1 AND (s.bucket, s.id) > ($2, $3) AND s.bucket <= $4 AND s.expires_at + 0 > $5
	ORDER BY s.topic_id, s.bucket, s.id LIMIT $6`

// BatchArgs returns the arguments of BatchText.
func BatchArgs(p hub.Shard, after int64, now time.Time, limit int) []any {
	bucket := int64(hub.Bucket(after))
	if bucket < int64(p.Lo) {
		bucket, after = int64(p.Lo), 0
	}
	return []any{p.TopicID, bucket, after, int64(p.Hi), sqldb.Millis(now), int64(max(limit, 0))}
}

// Batch implements hub.Store.
func (s *deliveryStore) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	scan := func(rows *sql.Rows, s *hub.Subscription) error {
		s.TopicID = p.TopicID
		return rows.Scan(&s.ID, &s.Protocol, &s.Callback, &s.Procedure,
			(*sqldb.Int)(&s.Failures), (*sqldb.Int)(&s.Tries), (*sqldb.Time)(&s.NextAt), &s.Counted, &s.Sent,
			(*sqldb.ByteString)(&s.Secret), (*sqldb.Time)(&s.FailingSince))
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.Subscription, error) {
		return sqldb.Collect(ctx, c, scan, BatchText, BatchArgs(p, after, now, limit)...)
	})
}

// Checkpoint implements hub.Store.
func (s *deliveryStore) Checkpoint(ctx context.Context, cp hub.Checkpoint) (bool, error) {
	run := s.db.Write
	if len(cp.Results) == 0 && len(cp.Events) == 0 {
		run = s.db.One // most batches need one statement only
	}
	again := false
	err := run(ctx, func(ctx context.Context, c sqldb.Conn) (err error) {
		found := false
		again = false
		row := func(rows *sql.Rows) error {
			var want int64
			found = true
			err := rows.Scan(&want)
			again = cp.Finish && want > cp.Shard.Want
			return err
		}
		// A shard without an owner was finished or released; its epoch alone does not show that.
		if cp.Finish {
			err = c.Query(ctx, `UPDATE part SET done = $1, pos = 0, owner = NULL,
				due_at = CASE WHEN want > $1 THEN CAST($2 AS BIGINT) END
				WHERE topic_id = $3 AND part = $4 AND epoch = $5 AND owner IS NOT NULL RETURNING want`,
				row, cp.Shard.Want, sqldb.Millis(cp.Now), cp.Shard.TopicID, int64(cp.Shard.N), cp.Shard.Epoch)
		} else {
			err = c.Query(ctx, `UPDATE part SET pos = $1, due_at = $2
				WHERE topic_id = $3 AND part = $4 AND epoch = $5 AND owner IS NOT NULL RETURNING want`,
				row, cp.Pos, sqldb.Millis(cp.Until), cp.Shard.TopicID, int64(cp.Shard.N), cp.Shard.Epoch)
		}
		if err == nil && !found {
			err = record.ErrLost
		}
		if err != nil {
			return err
		}
		if err := settle(ctx, c, cp.Now, cp.Results); err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, cp.Events)
	})
	return again && err == nil, err
}

// ReleaseShards implements hub.Store.
func (s *deliveryStore) ReleaseShards(ctx context.Context, now time.Time, shards []hub.Shard) error {
	seen := make(map[[2]int64]bool, len(shards))
	var rows [][]any
	for _, p := range shards {
		key := [2]int64{p.TopicID, int64(p.N)}
		if !seen[key] {
			seen[key] = true
			rows = append(rows, []any{p.TopicID, int64(p.N), p.Epoch, sqldb.Millis(now)})
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Bulk(ctx, `rows(topic_id i, part i, epoch i, now i)
			UPDATE part AS p SET owner = NULL, due_at = :now {FROM ROWS}
			WHERE p.topic_id = :topic_id AND p.part = :part AND p.epoch = :epoch AND p.owner IS NOT NULL`, rows)
		return err
	})
}

// Split implements hub.Store.
func (s *deliveryStore) Split(ctx context.Context, topicID int64, n int) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		shards, err := lockShards(ctx, c, topicID)
		if err != nil || len(shards) == 0 || len(shards) >= n {
			return err
		}
		next := 0
		for _, p := range shards {
			if !p.idle() {
				return nil
			}
			next = max(next, p.N+1)
		}
		// The first new shard keeps the number of the old one; the others get new numbers. Only the
		// buckets determine which rows belong to which shard.
		for _, p := range shards {
			pieces := (n + len(shards) - 1) / len(shards)
			width := int64(p.Hi) - int64(p.Lo) + 1
			pieces = int(min(int64(pieces), width))
			lo := int64(p.Lo)
			for i := range int64(pieces) {
				hi := int64(p.Lo) + width*(i+1)/int64(pieces) - 1
				if i == 0 {
					_, err = c.Exec(ctx, `UPDATE part SET hi = $1 WHERE topic_id = $2 AND part = $3`, hi, topicID, int64(p.N))
				} else {
					_, err = c.Exec(ctx, `INSERT INTO part (topic_id, part, lo, hi, want, done, pass, epoch)
						VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, topicID, int64(next), lo, hi, p.Want, p.Done, p.run, p.Epoch)
					next++
				}
				if err != nil {
					return err
				}
				lo = hi + 1
			}
		}
		return nil
	})
}
