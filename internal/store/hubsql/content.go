package hubsql

import (
	"context"
	"database/sql"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Content implements hub.Store.
func (s *topicStore) Content(ctx context.Context, topicID int64) (hub.Content, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (hub.Content, error) {
		found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, v *hub.Content) error {
			return rows.Scan(&v.Version, (*sqldb.ByteString)(&v.Type), &v.Body)
		}, `SELECT version, content_type, content FROM body WHERE topic_id = $1`, topicID)
		return sqldb.First(found, err, "The content of the topic %d is not stored.", topicID)
	})
}

// saveContent stores the content of a new version if the topic keeps content. If the new version
// has no content, saveContent deletes the stored content. A topic that keeps no content has no row,
// because the sweep removes the flag and the row together.
func saveContent(ctx context.Context, c sqldb.Conn, t hub.Topic, body []byte) error {
	if !t.KeepContent {
		return nil
	}
	if body == nil {
		_, err := c.Exec(ctx, `DELETE FROM body WHERE topic_id = $1`, t.ID)
		return err
	}
	_, err := c.Exec(ctx, `INSERT INTO body (topic_id, version, content_type, content) VALUES ($1, $2, $3, $4)
		ON CONFLICT (topic_id) DO UPDATE SET version = excluded.version, content_type = excluded.content_type, content = excluded.content`,
		t.ID, t.Version, raw(t.ContentType), body)
	return err
}

// raw returns text for a bytes column; "" becomes NULL.
func raw(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}
