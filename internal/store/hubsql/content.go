package hubsql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// isFollowed returns the SQL condition that a topic has an unexpired subscription at a time.
func isFollowed(topic, now string) string {
	return `EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = ` + topic + ` AND s.expires_at + 0 > ` + now + `)`
}

// Following implements hub.Store.
func (s *topicStore) Following(ctx context.Context, urls []string, now time.Time, limit int) ([]hub.Topic, error) {
	if limit <= 0 || len(urls) == 0 {
		return nil, nil
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.Topic, error) {
		ids := make([]int64, len(urls))
		for i, u := range urls {
			ids[i] = hub.TopicID(u)
		}
		var found []hub.Topic
		add := func(ids []int64) error {
			ids = slices.DeleteFunc(ids, func(id int64) bool { return slices.ContainsFunc(found, func(t hub.Topic) bool { return t.ID == id }) })
			more, err := followed(ctx, c, ids, now)
			found = append(found, more...)
			return err
		}
		err := add(ids)
		for _, idOf := range []func(string) int64{ownAliasID, aliasID} {
			if err != nil || len(found) >= limit {
				break
			}
			var named []int64
			if named, err = byAlias(ctx, c, urls, idOf); err == nil {
				err = add(named)
			}
		}
		return found[:min(len(found), limit)], err
	})
}

// followed reads the followed topics among ids, in the order of ids.
func followed(ctx context.Context, c sqldb.Conn, ids []int64, now time.Time) ([]hub.Topic, error) {
	var rows [][]any
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		if _, twice := place[id]; !twice {
			place[id] = i
			rows = append(rows, []any{id, sqldb.Millis(now)})
		}
	}
	var found []hub.Topic
	err := c.BulkQuery(ctx, `rows(id i, now i) SELECT `+topicColumns+` FROM topic AS t {AND ROWS} WHERE t.id = :id AND `+isFollowed("t.id", ":now"),
		func(rows *sql.Rows) error {
			var t hub.Topic
			err := scanTopic(rows, &t)
			found = append(found, t)
			return err
		}, rows)
	slices.SortFunc(found, func(a, b hub.Topic) int { return place[a.ID] - place[b.ID] })
	return found, err
}

// byAlias returns the topics that declare one of the URLs as their own or as their home page, in
// the order of the URLs. Many topics may claim the same URL, so the number of rows is limited.
func byAlias(ctx context.Context, c sqldb.Conn, urls []string, idOf func(url string) int64) ([]int64, error) {
	var rows [][]any
	place := make(map[int64]int, len(urls))
	for i, u := range urls {
		id := idOf(u)
		if _, twice := place[id]; !twice {
			place[id] = i
			rows = append(rows, []any{id})
		}
	}
	var named []struct{ alias, topic int64 }
	err := c.BulkQuery(ctx, `rows(id i) SELECT a.alias_id, a.topic_id FROM alias AS a {AND ROWS} WHERE a.alias_id = :id LIMIT 10000`,
		func(rows *sql.Rows) error {
			var n struct{ alias, topic int64 }
			err := rows.Scan(&n.alias, &n.topic)
			named = append(named, n)
			return err
		}, rows)
	slices.SortFunc(named, func(a, b struct{ alias, topic int64 }) int {
		return cmp.Or(cmp.Compare(place[a.alias], place[b.alias]), cmp.Compare(a.topic, b.topic))
	})
	ids := make([]int64, len(named))
	for i, n := range named {
		ids[i] = n.topic
	}
	return ids, err
}

// aliasID returns the id of a URL that a topic declares as its own or as its home page. URLs with
// and without a slash at the end of the path have the same id.
func aliasID(url string) int64 { return hub.TopicID(withoutSlash(url)) }

// ownAliasID returns the id of a declared URL on the topic's own host. A lookup tries these ids
// first: any topic may declare a home page on another host, but only topics on the same host get an
// own id.
func ownAliasID(url string) int64 { return hub.TopicID("own " + withoutSlash(url)) }

// sameHost reports whether two URLs have the same host, ignoring the port and "www.".
func sameHost(a, b string) bool {
	host := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			return ""
		}
		return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	}
	h := host(a)
	return h != "" && h == host(b)
}

// withoutSlash returns the URL without one slash at the end of its path. The result is a key for
// comparison, not always a URL that works.
func withoutSlash(url string) string {
	path, rest := url, ""
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		path, rest = url[:i], url[i:]
	}
	if cut, ok := strings.CutSuffix(path, "/"); ok && !strings.HasSuffix(cut, "/") {
		return cut + rest
	}
	return url
}

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
	for _, u := range []string{about.Self, about.Home} {
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
