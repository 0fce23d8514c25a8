package river

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

const (
	maxItems = 1000 // maximum number of items per query and per call of Mark
	maxBare  = 10_000
)

// Items lists entries. The words in q.Match may contain terms that restrict the result: feed:name
// (part of the name or URL of the source), category:name, and is:starred, is:unread or is:read.
// Of several terms of one kind, at least one must match. Put a value of several words in quotes.
// fault.Invalid: the search or the limit is not valid, or q has too many IDs.
func (r *River) Items(ctx context.Context, q ItemQuery) ([]Entry, error) {
	r.Init()
	limit := maxItems
	if q.Bare {
		limit = maxBare
	}
	switch {
	case q.Limit < 0 || q.Limit > limit:
		return nil, fault.New(fault.Invalid, "The limit must be from 0 to %d, not %d.", limit, q.Limit)
	case len(q.IDs) > maxItems || len(q.Firsts) > maxItems || len(q.Sources) > maxSources:
		return nil, fault.New(fault.Invalid, "At most %d items or feeds can be requested by their IDs.", maxItems)
	}
	ok, err := searcher{r}.restrict(ctx, &q)
	if err != nil || !ok {
		return nil, err
	}
	return r.Store.Items(ctx, q)
}

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
// marks the items of one source, of one category, or of all sources.
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

// UndoWithin is the time in which a user can undo MarkAllRead or Remove.
const UndoWithin = time.Minute

// UndoAllRead undoes MarkAllRead. to is the time up to which the items were marked as read, with
// millisecond precision. fault.Conflict: there is nothing to undo, or UndoWithin is over.
func (r *River) UndoAllRead(ctx context.Context, user string, to time.Time) error {
	r.Init()
	n, err := r.Store.UndoAllRead(ctx, user, to, r.now().Add(-UndoWithin))
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "There is nothing to undo: these items were marked otherwise since, or they were marked read more than a minute ago.")
	}
	if err == nil {
		r.news.publish(Arrival{Marks: &item.Marks{User: user}})
	}
	return err
}

// CountUnread counts the unread items of a user. The key of the result is the ID of the source.
func (r *River) CountUnread(ctx context.Context, user string) (map[int64]Unread, error) {
	r.Init()
	return r.Store.CountUnread(ctx, user)
}
