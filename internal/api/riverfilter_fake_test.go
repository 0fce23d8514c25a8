package api

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
)

// fakeFilters stores filters in memory.
type fakeFilters struct {
	filter.Store
	list []filter.Rule
}

func (w *fakeRiver) Filters() *filter.Filters {
	return &filter.Filters{
		Store: &w.filters, Now: start, UndoWithin: river.UndoWithin, Wake: func() {},
		Items: func(ctx context.Context, q filter.Query) ([]river.Entry, error) {
			return w.Items(ctx, river.ItemQuery{Reader: q.User, SourceID: q.SourceID, Limit: q.Limit})
		},
		Subject:  func(context.Context, string, int64, string) error { return nil },
		Forwards: func(context.Context, string, int64) (bool, error) { return true, nil },
	}
}

func (f *fakeFilters) Filters(context.Context, string) ([]filter.Rule, error) {
	return slices.Clone(f.list), nil
}

func (f *fakeFilters) PutFilter(_ context.Context, r filter.Rule, _ int) (filter.Rule, error) {
	r.ID = int64(len(f.list) + 1)
	f.list = append(f.list, r)
	return r, nil
}

func (f *fakeFilters) MoveFilter(_ context.Context, _ string, id int64, _ bool) error {
	return f.DropFilter(context.Background(), "", id, time.Time{})
}

func (f *fakeFilters) DropFilter(_ context.Context, _ string, id int64, _ time.Time) error {
	if id > int64(len(f.list)) {
		return fault.New(fault.NotFound, "There is no such filter.")
	}
	return nil
}
