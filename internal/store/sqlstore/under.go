package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// FollowedUnder is hub.Store.FollowedUnder.
func (s *Store) FollowedUnder(ctx context.Context, prefix, after string, now time.Time, n int) ([]string, error) {
	return s.urls(ctx, `SELECT t.url FROM topic AS t WHERE t.url >= $1 AND t.url < $2 AND t.url > $3 AND `+isFollowed("t.id", "$4")+`
		ORDER BY t.url LIMIT $5`, clean(prefix), clean(prefix)+"\U0010FFFF", clean(after), ms(now), limit(n))
}

// SourcesUnder is river.Store.SourcesUnder.
func (s *Store) SourcesUnder(ctx context.Context, prefix, after string, n int) ([]string, error) {
	return s.urls(ctx, `SELECT DISTINCT s.url FROM source AS s WHERE s.url >= $1 AND s.url < $2 AND s.url > $3
			AND s.readers > 0 AND NOT s.gone AND s.login = ''
		ORDER BY s.url LIMIT $4`, clean(prefix), clean(prefix)+"\U0010FFFF", clean(after), limit(n))
}

func (s *Store) urls(ctx context.Context, text string, args ...any) ([]string, error) {
	return read(ctx, s, func(ctx context.Context, c Conn) ([]string, error) {
		return collect(ctx, c, func(rows *sql.Rows, u *string) error { return rows.Scan(u) }, text, args...)
	})
}
