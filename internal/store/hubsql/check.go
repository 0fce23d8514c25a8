package hubsql

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// errVersionChanged rolls back a transaction because another process has changed the topic.
var errVersionChanged = errors.New("hubsql: the topic has another version")

// topicState is a topic with the columns that only the store uses.
type topicState struct {
	hub.Topic
	due sql.NullInt64
}

// CommitCheck implements hub.Store.
func (s *checkStore) CommitCheck(ctx context.Context, check hub.Check) (hub.Checked, error) {
	var done hub.Checked
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		done = hub.Checked{}
		t, err := s.lockTopic(ctx, c, check)
		if err != nil {
			done.Topic = t.Topic
			return err
		}
		known := t.About
		apply(&t, check)
		if err := saveTopic(ctx, c, t, sqldb.Millis(check.Now)); err != nil {
			return err
		}
		done.Topic = t.Topic
		if check.Err != "" || !check.Changed {
			return sqldb.AppendEvents(ctx, c, check.Events)
		}
		if t.About != known {
			if err := saveAbout(ctx, c, t.ID, t.About); err != nil {
				return err
			}
		}
		if err := saveContent(ctx, c, t.Topic, check.Body); err != nil {
			return err
		}
		if err := raiseShards(ctx, c, check, &done); err != nil {
			return err
		}
		if err := sqldb.AppendEvents(ctx, c, check.Events); err != nil {
			return err
		}
		return listChanges(ctx, c, s.db.Shared, check.Listed)
	})
	if errors.Is(err, errVersionChanged) {
		return hub.Checked{Raced: true, Topic: done.Topic}, nil
	}
	if err != nil {
		return hub.Checked{}, err
	}
	return done, nil
}

// lockTopic returns the check's topic, locked for update. It creates a new topic if needed and
// returns errVersionChanged if the version is not the one that the check is based on.
func (s *checkStore) lockTopic(ctx context.Context, c sqldb.Conn, check hub.Check) (topicState, error) {
	for range 2 {
		var t topicState
		found := false
		err := c.Query(ctx, `SELECT `+topicColumns+`, t.due_at FROM topic AS t WHERE t.id = $1 {LOCK}`, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(append(topicFields(&t.Topic), &t.due)...)
		}, check.TopicID)
		if err != nil {
			return t, err
		}
		if t.Version != check.Base { // a topic that does not exist has version 0
			return t, errVersionChanged
		}
		if found {
			return t, nil
		}
		if check.URL == "" {
			return t, fault.New(fault.NotFound, "There is no topic with the number %d.", check.TopicID)
		}
		_, err = c.Exec(ctx, `INSERT INTO topic (id, url, used_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
			check.TopicID, sqldb.Clean(check.URL), sqldb.Millis(check.Now))
		if err != nil {
			return t, err
		}
	}
	return topicState{}, errVersionChanged
}

// apply changes t according to the result of the check.
func apply(t *topicState, check hub.Check) {
	now := time.UnixMilli(sqldb.Millis(check.Now)).UTC()
	t.CheckedAt = now
	begun := sqldb.Millis(check.StartedAt)
	if check.Err != "" {
		t.Failures++
		t.Error = check.Err
		answered := sqldb.Millis(t.PingedAt) <= begun && sqldb.Millis(t.AgainAt) <= begun
		switch retry := sqldb.Millis(check.Retry); {
		case t.PingedAt.IsZero() && t.AgainAt.IsZero():
			t.due = sql.NullInt64{}
		case retry != 0 && (answered || !t.due.Valid || t.due.Int64 > retry):
			t.due = sql.NullInt64{Int64: retry, Valid: true}
		case retry == 0 && answered:
			t.PingedAt, t.AgainAt, t.due = time.Time{}, time.Time{}, sql.NullInt64{}
		}
		return
	}
	t.Failures, t.Error = 0, ""
	if sqldb.Millis(t.PingedAt) <= begun {
		t.PingedAt, t.due = time.Time{}, sql.NullInt64{}
	}
	t.recordCost(check)
	if check.Hash != nil {
		t.Hash = check.Hash
	}
	t.ETag, t.LastModified, t.ContentType, t.Size = check.ETag, check.LastModified, check.ContentType, check.Size
	if check.Changed {
		t.Version++
		t.ChangedAt = time.UnixMilli(sqldb.Millis(check.ChangedAt)).UTC()
		if check.ChangedAt.IsZero() {
			t.ChangedAt = now
		}
		if check.About != nil {
			t.About = cleanAbout(*check.About)
		}
	}
}

// stored returns t with the precision of a column.
func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// recordCost stores when the topic must be read in full again, and what the check cost.
func (t *topicState) recordCost(check hub.Check) {
	t.Evidence, t.AgainAt = check.Evidence, stored(check.Again)
	t.Evidence.FullAt = stored(t.Evidence.FullAt)
	if at := sqldb.Millis(t.AgainAt); at != 0 && (!t.due.Valid || t.due.Int64 > at) {
		t.due = sql.NullInt64{Int64: at, Valid: true}
	}
	if check.NotModified {
		t.NotModified++
	} else {
		t.FullReads++
		t.FullBytes += check.Size
	}
}

func saveTopic(ctx context.Context, c sqldb.Conn, t topicState, now int64) error {
	_, err := c.Exec(ctx, `UPDATE topic SET version = $1, hash = $2, etag = $3, last_modified = $4, content_type = $5, size = $6,
		checked_at = $7, changed_at = $8, failures = $9, error = $10, pinged_at = $11, due_at = $12, held = 0, used_at = $13,
		proof = $14, recent = $15, believed = $16, full_at = $17, again_at = $18, not_modified = $19, full_reads = $20, full_bytes = $21
		WHERE id = $22`,
		t.Version, t.Hash, []byte(t.ETag), []byte(t.LastModified), []byte(t.ContentType), t.Size,
		sqldb.Millis(t.CheckedAt), sqldb.Millis(t.ChangedAt), t.Failures, sqldb.Clean(t.Error), sqldb.Millis(t.PingedAt), t.due, now,
		string(t.Evidence.Proof), t.Evidence.Recent, t.Evidence.Believed, sqldb.Millis(t.Evidence.FullAt), sqldb.Millis(t.AgainAt), t.NotModified, t.FullReads, t.FullBytes, t.ID)
	return err
}

// raiseShards sets the new version as the target of every shard of the topic. It claims the first
// idle shards, up to check.ClaimShards, so that the worker needs no second transaction to start.
func raiseShards(ctx context.Context, c sqldb.Conn, check hub.Check, done *hub.Checked) error {
	shards, err := lockShards(ctx, c, check.TopicID)
	if err != nil {
		return err
	}
	var rows [][]any
	for _, p := range shards {
		idle := p.idle()
		p.Want = done.Topic.Version
		switch {
		case idle && len(done.Claimed) < check.ClaimShards:
			p.Epoch++
			p.Pos, p.run = 0, p.Want
			p.owner = sql.NullInt64{Int64: check.Node, Valid: true}
			p.due = sql.NullInt64{Int64: sqldb.Millis(check.ClaimUntil), Valid: true}
			claimed := p.Shard
			claimed.Topic = done.Topic
			done.Claimed = append(done.Claimed, claimed)
		case idle:
			p.due = sql.NullInt64{Int64: sqldb.Millis(check.Now), Valid: true}
			done.Waiting++
		case p.due.Valid && p.due.Int64 <= sqldb.Millis(check.Now):
			done.Waiting++
		}
		rows = append(rows, p.row())
	}
	return saveShards(ctx, c, rows)
}
