package river

import "context"

// Counts counts the sources by their current condition, for the status page. fault.Unavailable:
// the database is down.
func (r *River) Counts(ctx context.Context) (SourceCounts, error) {
	r.Init()
	return r.Store.CountSources(ctx, r.now())
}
