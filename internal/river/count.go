package river

import "context"

// Counts counts the sources by their condition now, for the status page. Errors:
// fault.Unavailable.
func (r *River) Counts(ctx context.Context) (SourceCounts, error) {
	r.Init()
	return r.Store.CountSources(ctx, r.now())
}
