package river

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

// Mark sets marks of at most 1,000 items; nil leaves a mark unchanged. It returns how many of the
// items have the marks now. It ignores unknown items and items of feeds that the user does not
// follow.
func (r *River) Mark(ctx context.Context, user string, ids []int64, read, starred *bool) (int, error) {
	r.Init()
	if len(ids) > maxItems {
		return 0, fault.New(fault.Invalid, "At most %d items can be marked at once, not %d.", maxItems, len(ids))
	}
	if len(ids) == 0 || read == nil && starred == nil {
		return 0, nil
	}
	n, err := r.Store.MarkItems(ctx, user, ids, read, starred, r.now())
	if err == nil && n > 0 {
		r.news.publish(Arrival{Marks: &item.Marks{User: user, IDs: ids, Read: read, Starred: starred}})
	}
	return n, err
}

// MarkAllRead marks all items up to the time to as read; zero or a future time means now. It
// marks the items of one source, of one category, or of all sources. Items that arrived later stay
// unread, even if they have an earlier date.
func (r *River) MarkAllRead(ctx context.Context, user string, source int64, category string, to time.Time) error {
	r.Init()
	now := r.now()
	if to.IsZero() || to.After(now) {
		to = now
	}
	err := r.Store.MarkAllRead(ctx, user, source, category, to, now)
	if err == nil {
		r.news.publish(Arrival{Marks: &item.Marks{User: user}})
	}
	return err
}
