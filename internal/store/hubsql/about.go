package hubsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cloudburst/internal/href"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// SetAbout implements hub.Store.
func (s *topicStore) SetAbout(ctx context.Context, topicID int64, about hub.About) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return saveAbout(ctx, c, topicID, cleanAbout(about)) })
}

// saveAbout replaces the metadata that a topic declares, and its aliases.
func saveAbout(ctx context.Context, c sqldb.Conn, topicID int64, about hub.About) error {
	var raw []byte
	if about != (hub.About{}) {
		var err error
		if raw, err = json.Marshal(about); err != nil {
			return err
		}
	}
	topic := ""
	err := c.Query(ctx, `UPDATE topic SET about = $1, title = $2 WHERE id = $3 RETURNING url`, func(rows *sql.Rows) error { return rows.Scan(&topic) },
		raw, sqldb.Clean(about.Title), topicID)
	if err != nil || topic == "" {
		return err
	}
	if _, err := c.Exec(ctx, `DELETE FROM alias WHERE topic_id = $1`, topicID); err != nil {
		return err
	}
	var ids []int64
	for _, u := range []string{about.Self, about.Home, href.UsualSpelling(about.Self), href.UsualSpelling(about.Home), href.UsualSpelling(topic)} {
		switch {
		case u == "":
		case sameHost(topic, u):
			ids = append(ids, ownAliasID(u))
		default:
			ids = append(ids, aliasID(u))
		}
	}
	slices.Sort(ids)
	rows := make([][]any, 0, len(ids))
	for _, id := range slices.Compact(ids) {
		rows = append(rows, []any{id, topicID})
	}
	_, err = c.Bulk(ctx, `rows(alias_id i, topic_id i) INSERT INTO alias (alias_id, topic_id)
		SELECT :alias_id, :topic_id {FROM ROWS} WHERE true ON CONFLICT (alias_id, topic_id) DO NOTHING`, rows)
	return err
}

// cleanAbout returns about as a later read returns it. JSON contains only valid UTF-8, so other
// bytes are replaced.
func cleanAbout(about hub.About) hub.About {
	for _, s := range []*string{&about.Title, &about.Description, &about.ItemTitle, &about.ItemText, &about.Self, &about.Home} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	return about
}

// aboutJSON scans the column that saveAbout writes, which is NULL for most topics.
type aboutJSON hub.About

func (a *aboutJSON) Scan(src any) error {
	*a = aboutJSON{}
	raw, _ := src.([]byte)
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, (*hub.About)(a)); err != nil {
		return fmt.Errorf("read the metadata of a topic: %w", err)
	}
	return nil
}
