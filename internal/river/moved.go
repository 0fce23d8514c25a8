package river

import (
	"cmp"
	"context"
	"math"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/naming"
)

// unfollowMoved is called after a source moved to another URL for good. Users who also follow a
// source that already had this URL would receive each item twice, so they follow only that source
// from now on, with the categories, forwardings and filters of both. Users of one of them keep it.
func (r unifier) unfollowMoved(ctx context.Context, moved *Source) error {
	list, err := r.Store.SourcesAt(ctx, moved.URL)
	i := slices.IndexFunc(list, func(s Source) bool { return s.URL == moved.URL && s.ID != moved.ID && !s.Private() })
	if err != nil || i < 0 || moved.Private() {
		return err
	}
	users, err := r.Store.FollowersOf(ctx, []int64{moved.ID}, math.MaxInt)
	for _, user := range users {
		mine, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, SourceID: moved.ID, Limit: 1})
		if err != nil {
			return err
		}
		if len(mine) == 0 { // the user has just unfollowed it
			continue
		}
		was := mine[0].Subscription
		both, err := r.Store.ChangeSubscription(ctx, user, list[i].ID, func(f *Subscription) error {
			f.Title, f.FullText = cmp.Or(f.Title, was.Title), f.FullText || was.FullText
			if was.ListID == 0 { // the user's own feed does not leave with a reading list
				f.ListID = 0
			}
			if all, err := naming.Categories(slices.Concat(f.Categories, was.Categories)); err == nil { // an error: there are too many
				f.Categories = all
			}
			return nil
		})
		if fault.CodeOf(err) == fault.NotFound {
			continue // the user follows only the source that moved
		}
		if err == nil {
			err = editor(r).replace(ctx, both.Subscription, list[i], moved.ID)
		}
		if err != nil {
			return err
		}
	}
	return err
}
