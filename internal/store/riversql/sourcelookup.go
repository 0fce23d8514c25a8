package riversql

import (
	"context"
	"database/sql"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// KnownSources implements river.Store.
func (s *sourceStore) KnownSources(ctx context.Context, reader string, urls []string) (map[string]river.KnownSource, error) {
	args := make([][]any, len(urls))
	for i, u := range urls {
		args[i] = []any{sqldb.Clean(u), sqldb.Clean(reader)}
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]river.KnownSource, error) {
		known := map[string]river.KnownSource{}
		// Search in the order of SourcesAt: the current URL before a former one.
		for _, name := range [][2]string{{"url", ""}, {"first_url", " AND s.first_url <> s.url"}} {
			found := map[string]river.KnownSource{}
			text := `rows(url t, reader t) SELECT s.` + name[0] + `, s.id, EXISTS (SELECT 1 FROM river_subscription AS f
				WHERE f.reader = :reader AND f.source_id = s.id), s.login <> '',
				CASE WHEN s.told_hash % 2 <> 0 THEN s.title ELSE '' END FROM source AS s {AND ROWS} WHERE s.` + name[0] + ` = :url` + name[1]
			err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
				var url string
				var one river.KnownSource
				var private bool
				err := rows.Scan(&url, &one.ID, &one.Followed, &private, &one.Title)
				had, ok := found[url]
				if !ok || one.Followed && !had.Followed || one.Followed == had.Followed && one.ID < had.ID {
					if one.Followed || !private {
						found[url] = one
					}
				}
				return err
			}, args)
			if err != nil {
				return nil, err
			}
			for url, one := range found {
				if had, ok := known[url]; !ok || one.Followed && !had.Followed {
					known[url] = one
				}
			}
		}
		return known, nil
	})
}

// SourceTitles implements river.Store.
func (s *sourceStore) SourceTitles(ctx context.Context, urls []string) (map[string]string, error) {
	rows := make([][]any, len(urls))
	for i, u := range urls {
		rows[i] = []any{sqldb.Clean(u)}
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]string, error) {
		titles := map[string]string{}
		err := c.BulkQuery(ctx, `rows(url t) SELECT s.url, s.title FROM source AS s {AND ROWS} WHERE s.url = :url AND s.login = '' AND s.title <> ''`,
			func(rows *sql.Rows) error {
				var url, title string
				err := rows.Scan(&url, &title)
				titles[url] = title
				return err
			}, rows)
		return titles, err
	})
}

// NamedSources implements river.Store.
func (s *sourceStore) NamedSources(ctx context.Context, urls []string) ([]string, error) {
	rows := make([][]any, len(urls))
	for i, u := range urls {
		rows[i] = []any{sqldb.Clean(u)}
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (known []string, err error) {
		err = c.BulkQuery(ctx, `rows(url t) SELECT :url {FROM ROWS} WHERE
			EXISTS (SELECT 1 FROM source AS s WHERE s.url = :url AND s.readers > 0 AND NOT s.gone AND s.login = '')
			OR EXISTS (SELECT 1 FROM source AS s WHERE s.first_url = :url AND s.first_url <> s.url AND s.readers > 0 AND NOT s.gone AND s.login = '')
			OR EXISTS (SELECT 1 FROM source AS s WHERE s.topic = :url AND s.topic <> '' AND s.topic <> s.url AND s.readers > 0 AND NOT s.gone AND s.login = '')`,
			func(rows *sql.Rows) error {
				var u string
				if err := rows.Scan(&u); err != nil {
					return err
				}
				known = append(known, u)
				return nil
			}, rows)
		return known, err
	})
}

// SourcesUnder implements river.Store.
func (s *sourceStore) SourcesUnder(ctx context.Context, prefix, after string, n int) ([]string, error) {
	return s.db.Strings(ctx, `SELECT DISTINCT s.url FROM source AS s WHERE s.url >= $1 AND s.url < $2 AND s.url > $3
			AND s.readers > 0 AND NOT s.gone AND s.login = ''
		ORDER BY s.url LIMIT $4`, sqldb.Clean(prefix), sqldb.Clean(prefix)+"\U0010FFFF", sqldb.Clean(after), sqldb.Limit(n))
}
