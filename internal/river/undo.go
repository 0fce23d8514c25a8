package river

import (
	"context"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

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

// Removed returns until when UndoRemove can restore a feed. fault.NotFound: the feed cannot be
// restored.
func (r *River) Removed(ctx context.Context, user string, source int64) (until time.Time, err error) {
	r.Init()
	at, err := r.Store.Unfollowed(ctx, user, source, r.now().Add(-UndoWithin))
	return at.Add(UndoWithin), err
}

// UndoRemove restores the title, categories, interval and read marks of a subscription that
// Remove ended. Errors: fault.NotFound: there is nothing to undo, or UndoWithin is over;
// Conflict: the user follows the feed again.
func (r *River) UndoRemove(ctx context.Context, user string, source int64) (Followed, error) {
	r.Init()
	now := r.now()
	err := r.Store.RiverResubscribe(ctx, user, source, now.Add(-UndoWithin), now)
	switch fault.CodeOf(err) {
	case fault.NotFound:
		return Followed{}, fault.New(fault.NotFound, "There is nothing to undo: you stopped following this feed more than a minute ago, or did not follow it. Add it again on the page Feeds.")
	case fault.Conflict:
		return Followed{}, fault.New(fault.Conflict, "There is nothing to undo: you follow this feed again.")
	}
	if err != nil {
		return Followed{}, err
	}
	r.forget(user)
	r.Wake()
	return r.findFollowed(ctx, user, source)
}
