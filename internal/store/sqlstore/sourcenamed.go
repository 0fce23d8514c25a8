package sqlstore

import (
	"context"
	"database/sql"
)

// NamedSources is river.Store.NamedSources.
func (s *Store) NamedSources(ctx context.Context, urls []string) ([]string, error) {
	rows := make([][]any, len(urls))
	for i, u := range urls {
		rows[i] = []any{clean(u)}
	}
	return read(ctx, s, func(ctx context.Context, c Conn) (known []string, err error) {
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
