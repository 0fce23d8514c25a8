package river

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/lease"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

// Filters returns the filters of users.
func (r *River) Filters() *filter.Filters {
	r.Init()
	return &filter.Filters{
		Store: r.Store, Now: r.now, UndoWithin: UndoWithin, Wake: func() {
			lease.Wake(r.wakeups.filter)
			time.AfterFunc(UndoWithin+time.Second, func() { lease.Wake(r.wakeups.filter) }) // after UndoWithin, the loop shows the items that a removed filter hid
		},
		Items: func(ctx context.Context, q filter.Query) ([]Entry, error) {
			return r.Store.Items(ctx, ItemQuery{Reader: q.User, SourceID: q.SourceID, Category: q.Category, Hidden: true, HiddenBy: q.HiddenBy, Limit: q.Limit})
		},
		Subject: func(ctx context.Context, user string, source int64, category string) error {
			return forwarderDeps{r}.checkSubject(ctx, forward.Forwarding{Reader: user, SourceID: source, Category: category})
		},
		Forwards: func(ctx context.Context, user string, id int64) (bool, error) {
			list, err := r.Store.Forwardings(ctx, user)
			return slices.ContainsFunc(list, func(n forward.Forwarding) bool { return n.ID == id }), err
		},
	}
}

// filterLoop applies filters to existing items, and shows the items of removed filters again. It
// looks for work that another process left at the start and every maxIdle.
func (r runner) filterLoop(ctx context.Context) {
	filters := r.Filters()
	for {
		did, err := filters.Apply(ctx)
		r.logError(ctx, "cannot apply a filter to existing items", err)
		if did && err == nil {
			if !lease.Sleep(ctx, nil, 10*time.Millisecond) {
				return
			}
		} else if !lease.Sleep(ctx, r.wakeups.filter, maxIdle) {
			return
		}
	}
}
