package riversql

import (
	"context"
	"slices"

	"cloudburst/internal/store/sqldb"
)

// FollowersOf implements people.Store.
func (s *subscriptionStore) FollowersOf(ctx context.Context, sources []int64, limit int) ([]string, error) {
	var all []string
	for _, id := range sources {
		list, err := s.db.Strings(ctx, `SELECT f.reader FROM river_subscription AS f WHERE f.source_id = $1 ORDER BY f.reader LIMIT $2`, id, sqldb.LimitTo(limit, 10_000))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), limit)], nil
}
