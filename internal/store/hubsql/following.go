package hubsql

import (
	"cmp"
	"context"
	"database/sql"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// isFollowed returns the SQL condition that a topic has an unexpired subscription at a time.
func isFollowed(topic, now string) string {
	return `EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = ` + topic + ` AND s.expires_at + 0 > ` + now + `)`
}

// aliasPage is the number of aliases on the host of a URL that are read at once.
const aliasPage = 500

// Following implements hub.Store.
func (s *topicStore) Following(ctx context.Context, urls []string, after int64, now time.Time, limit int) ([]hub.Topic, error) {
	if limit <= 0 || len(urls) == 0 {
		return nil, nil
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (found []hub.Topic, err error) {
		add := func(ids []int64) error {
			ids = slices.DeleteFunc(ids, func(id int64) bool { return slices.ContainsFunc(found, func(t hub.Topic) bool { return t.ID == id }) })
			more, err := s.followed(ctx, c, ids, now)
			found = append(found, more...)
			return err
		}
		if after == 0 {
			err = add(topicsOf(nil, urls, hub.TopicID))
		}
		for at, more := after, true; err == nil && more && len(found) < limit; {
			var named []alias
			if named, err = s.byAlias(ctx, c, urls, ownAliasID, at, aliasPage); err == nil && len(named) > 0 {
				at, err = named[len(named)-1].topic, add(topicsOf(nil, named, alias.topicID))
			}
			more = len(named) >= aliasPage
		}
		if err == nil && after == 0 && len(found) < limit {
			// Many topics may claim the same URL of another host, so only a part of them is read.
			var named []alias
			if named, err = s.byAlias(ctx, c, urls, aliasID, 0, 20*aliasPage); err == nil {
				slices.SortStableFunc(named, func(a, b alias) int { return cmp.Compare(a.place, b.place) })
				err = add(topicsOf(nil, named, alias.topicID))
			}
		}
		return found[:min(len(found), limit)], err
	})
}

// followed reads the followed topics among ids, in the order of ids.
func (s *topicStore) followed(ctx context.Context, c sqldb.Conn, ids []int64, now time.Time) ([]hub.Topic, error) {
	var rows [][]any
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		if _, twice := place[id]; !twice {
			place[id] = i
			rows = append(rows, []any{id, sqldb.Millis(now)})
		}
	}
	rows, err := s.known(ctx, c, `SELECT t.id FROM topic AS t WHERE t.id`, rows)
	if err != nil {
		return nil, err
	}
	var found []hub.Topic
	err = c.BulkQuery(ctx, `rows(id i, now i) SELECT `+topicColumns+` FROM topic AS t {AND ROWS} WHERE t.id = :id AND `+isFollowed("t.id", ":now"),
		func(rows *sql.Rows) error {
			var t hub.Topic
			err := scanTopic(rows, &t)
			found = append(found, t)
			return err
		}, rows)
	slices.SortFunc(found, func(a, b hub.Topic) int { return place[a.ID] - place[b.ID] })
	return found, err
}

// knownIDs is the number of ids of one statement of known.
const knownIDs = 32

// inKnown is the end of a statement of known. An id may have many rows, so their number is limited.
var inKnown = " IN (" + sqldb.Placeholders(1, knownIDs) + ") LIMIT " + strconv.Itoa(knownIDs+1)

// known returns the rows of a bulk query without those whose id a query does not find. SQLite runs a
// bulk query once for each row, and most of the many URLs of an author's feed are unknown.
func (s *topicStore) known(ctx context.Context, c sqldb.Conn, query string, rows [][]any) (kept [][]any, err error) {
	if s.db.Shared || len(rows) < 4 {
		return rows, nil
	}
	for some := range slices.Chunk(rows, knownIDs) {
		args := make([]any, knownIDs)
		for i := range args {
			args[i] = some[min(i, len(some)-1)][0]
		}
		ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, query+inKnown, args...)
		if err != nil {
			return nil, err
		}
		for _, row := range some {
			if len(ids) > knownIDs || slices.Contains(ids, row[0].(int64)) { // the query ended before it found all ids
				kept = append(kept, row)
			}
		}
	}
	return kept, nil
}

// alias is a URL that a topic declares, by its place among the URLs that were looked up.
type alias struct {
	place int
	topic int64
}

func (a alias) topicID() int64 { return a.topic }

// byAlias returns the first n topics behind after that declare one of the URLs as their own or as
// their home page, in the order of their ids.
func (s *topicStore) byAlias(ctx context.Context, c sqldb.Conn, urls []string, idOf func(url string) int64, after int64, n int) ([]alias, error) {
	var rows [][]any
	place := make(map[int64]int, len(urls))
	for i, u := range urls {
		id := idOf(u)
		if _, twice := place[id]; !twice {
			place[id] = i
			rows = append(rows, []any{id, after})
		}
	}
	rows, err := s.known(ctx, c, `SELECT a.alias_id FROM alias AS a WHERE a.alias_id`, rows)
	if err != nil {
		return nil, err
	}
	var named []alias
	err = c.BulkQuery(ctx, `rows(id i, after i) SELECT a.alias_id, a.topic_id FROM alias AS a {AND ROWS}
		WHERE a.alias_id = :id AND a.topic_id > :after ORDER BY a.topic_id LIMIT `+strconv.Itoa(n),
		func(rows *sql.Rows) error {
			var id, topic int64
			err := rows.Scan(&id, &topic)
			named = append(named, alias{place[id], topic})
			return err
		}, rows)
	slices.SortFunc(named, func(a, b alias) int { return cmp.Or(cmp.Compare(a.topic, b.topic), a.place-b.place) })
	return named[:min(len(named), n)], err
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
