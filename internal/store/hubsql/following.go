package hubsql

import (
	"cmp"
	"context"
	"database/sql"
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
