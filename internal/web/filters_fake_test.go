package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

// fakeFilters stores the filters of a fakeRiver.
type fakeFilters struct {
	list    []filter.Rule
	dropped []filter.Rule
	shown   []int64
}

func (b *fakeRiver) Filters() *filter.Filters {
	return &filter.Filters{
		Store: &b.filters, Now: b.now, UndoWithin: river.UndoWithin, Wake: func() {},
		Items: func(ctx context.Context, q filter.Query) ([]river.Entry, error) {
			list, err := b.Items(ctx, river.ItemQuery{Reader: q.User, SourceID: q.SourceID, Category: q.Category, Limit: q.Limit})
			if q.HiddenBy != 0 {
				list = slices.DeleteFunc(list, func(e river.Entry) bool { return !strings.Contains(e.Title, "hidden") })
			}
			return list, err
		},
		Subject: func(context.Context, string, int64, string) error { return nil },
		Forwards: func(ctx context.Context, user string, id int64) (bool, error) {
			list, err := b.Forwardings(ctx, user)
			return slices.ContainsFunc(list, func(n forward.Forwarding) bool { return n.ID == id }), err
		},
	}
}

func (b *fakeFilters) at(reader string, id int64) int {
	return slices.IndexFunc(b.list, func(f filter.Rule) bool { return f.ID == id && f.Reader == reader })
}

func (b *fakeFilters) Filters(context.Context, string) ([]filter.Rule, error) {
	return slices.Clone(b.list), nil
}

func (b *fakeFilters) PutFilter(_ context.Context, f filter.Rule, _ int) (filter.Rule, error) {
	if i := b.at(f.Reader, f.ID); i >= 0 {
		b.list[i] = f
		return f, nil
	}
	f.ID = int64(len(b.list)) + 1
	b.list = append(b.list, f)
	return f, nil
}

func (b *fakeFilters) DropFilter(_ context.Context, reader string, id int64, _ time.Time) error {
	i := b.at(reader, id)
	if i < 0 {
		return fault.New(fault.NotFound, "There is no such filter.")
	}
	b.dropped = append(b.dropped, b.list[i])
	b.list = slices.Delete(b.list, i, i+1)
	return nil
}

func (b *fakeFilters) RestoreFilter(_ context.Context, _ string, id int64, _ time.Time) error {
	for _, f := range b.dropped {
		if f.ID == id {
			b.list = append(b.list, f)
			return nil
		}
	}
	return fault.New(fault.NotFound, "You have not deleted this filter in the last minute.")
}

func (b *fakeFilters) MoveFilter(_ context.Context, reader string, id int64, down bool) error {
	i := b.at(reader, id)
	if to := i + map[bool]int{true: 1, false: -1}[down]; i >= 0 && to >= 0 && to < len(b.list) {
		b.list[i], b.list[to] = b.list[to], b.list[i]
	}
	return nil
}

func (b *fakeFilters) ShowHidden(_ context.Context, _ string, ids []int64) error {
	b.shown = append(b.shown, ids...)
	return nil
}

func (b *fakeFilters) ApplyFilters(context.Context, time.Time, time.Time, int) (bool, error) {
	return false, nil
}
