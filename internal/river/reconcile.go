package river

import (
	"context"
	"slices"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
)

// reconcile applies the changes of a list to the user's feeds. It follows feeds that were added
// to the list, and unfollows feeds that were removed. Feeds that stayed in the list keep the
// changes that the user made; a feed that the user unfollowed stays unfollowed. before is the
// previous state of the list, which reconcile restores while the document is doubtful.
//
// spec:cloudburst#reading-list-reconciled
func (r listReader) reconcile(ctx context.Context, l *ReadingList, list *opml.Stream, base string, before *ReadingList) error {
	lists, err := r.Store.ReadingLists(ctx, l.Reader)
	if err != nil {
		return err
	}
	var c listedSources
	how := gatherOptions{category: l.Category, base: base, list: l.ID}
	g, err := importer(r).gather(ctx, l.Reader, list, how, func(batch []Addition) error { c.add(batch); return nil })
	if err != nil {
		return err
	}
	if depth(lists, l.ID) >= maxListDepth && len(g.lists) > 0 {
		g.lists = nil
		l.Problem = "The lists in it are not followed: it is itself in a list in a list, and so on, as deep as that may go."
	}
	next := *l
	next.remember(&c, g.lists)
	lost := difference(before.Memory.Last, next.Memory.Last)
	if r.isDoubtful(l, &g, lost, before) {
		return nil
	}
	if err := r.dropLost(ctx, l, lost, lists); err != nil {
		return err
	}
	t, err := r.followGained(ctx, l, list, how, g.lists, before)
	if err != nil {
		return err
	}
	if g.imported.Title != "" {
		l.Title = g.imported.Title
	}
	l.Feeds, l.Memory.Last, l.Memory.DoubtAt = next.Feeds, next.Memory.Last, time.Time{}
	l.forgetOverLimit(t, before.State)
	return nil
}

// isDoubtful reports whether the document must not be applied yet, because it is truncated or has
// lost more than half of its feeds since the last check. A loss is applied after two checks have
// found it, with at least an hour in between.
func (r listReader) isDoubtful(l *ReadingList, g *gatherResult, lost []int64, before *ReadingList) bool {
	shrunk := 2*len(lost) > len(before.Memory.Last) && len(lost) > 0
	switch {
	case g.cut:
		l.Problem = "It is truncated or too long: its feeds stay as they are."
	case !shrunk:
		return false
	case before.Memory.DoubtAt.IsZero():
		l.Memory.DoubtAt = l.ReadAt
	case l.ReadAt.Sub(before.Memory.DoubtAt) >= doubtPeriod:
		return false
	}
	if shrunk && !g.cut {
		l.Problem = "It has lost more than half of its feeds: they stay until the loss is confirmed an hour later."
		l.NextAt = l.Memory.DoubtAt.Add(doubtPeriod)
		if soon := l.ReadAt.Add(listRetry); l.NextAt.Before(soon) {
			l.NextAt = soon
		}
		l.State.NextAt = l.NextAt
	}
	l.State.Validators, l.State.Hash = before.State.Validators, before.State.Hash
	return true
}

// followGained follows the added feeds of the list that the user does not follow yet.
func (r listReader) followGained(ctx context.Context, l *ReadingList, list *opml.Stream, how gatherOptions, lists []ReadingList, before *ReadingList) (*batchFollower, error) {
	var out Imported
	fresh := slices.DeleteFunc(slices.Clone(lists), func(n ReadingList) bool {
		_, had := slices.BinarySearch(before.Memory.Last, n.ID)
		return had
	})
	if err := importer(r).addLists(ctx, l.Reader, fresh, &out); err != nil {
		return nil, err
	}
	if len(out.Problems) > 0 {
		l.Problem = out.Problems[0]
	}
	t, err := importer(r).newBatchFollower(ctx, l.Reader, false)
	if err != nil {
		return nil, err
	}
	_, err = importer(r).gather(ctx, l.Reader, list, how, func(batch []Addition) error {
		return t.batch(slices.DeleteFunc(slices.Clone(batch), func(a Addition) bool {
			_, had := slices.BinarySearch(before.Memory.Last, a.SourceID)
			return had || t.follows(a.SourceID)
		}))
	})
	r.forget(l.Reader)
	r.Wake()
	return t, err
}

// dropLost unfollows the feeds and lists that were removed from the list. It changes lists.
func (r listReader) dropLost(ctx context.Context, l *ReadingList, lost []int64, lists []ReadingList) error {
	if len(lost) == 0 {
		return nil
	}
	subs, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: l.Reader, ListID: l.ID})
	if err != nil {
		return err
	}
	subs = slices.DeleteFunc(subs, func(f Followed) bool {
		_, is := slices.BinarySearch(lost, f.SourceID)
		return !is
	})
	if err := r.releaseFeeds(ctx, l.Reader, l.ID, subs, lists); err != nil {
		return err
	}
	var dropped []int64
	for i := range lists {
		other := &lists[i]
		if other.ID == l.ID {
			other.Memory.Last = difference(other.Memory.Last, lost) // a lost feed of a dropped list must not move to l
		}
		if _, is := slices.BinarySearch(lost, other.ID); is && other.Memory.Parent == l.ID {
			dropped = append(dropped, other.ID)
		}
	}
	return r.dropLists(ctx, l.Reader, dropped, lists, true)
}

// releaseFeeds ends the subscriptions that a list added, with two exceptions. A feed that is also
// in another of lists moves to that list. A feed with a starred item becomes the user's own feed.
func (r listReader) releaseFeeds(ctx context.Context, user string, list int64, subs []Followed, lists []ReadingList) error {
	var gone []int64
	for _, f := range subs {
		to, keep := int64(0), false
		for _, other := range lists {
			if _, has := slices.BinarySearch(other.Memory.Last, f.SourceID); has && other.ID != list {
				to, keep = other.ID, true
				break
			}
		}
		if !keep {
			starred, err := r.Store.Items(ctx, ItemQuery{Reader: user, SourceID: f.SourceID, Starred: true, Bare: true, Limit: 1})
			if err != nil {
				return err
			}
			keep = len(starred) > 0
		}
		if !keep {
			gone = append(gone, f.SourceID)
			continue
		}
		_, err := r.Store.ChangeSubscription(ctx, user, f.SourceID, func(s *Subscription) error { s.ListID = to; return nil })
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return editor(r).unfollow(ctx, user, gone)
}

// depth returns the nesting depth of a list. A list that the user follows directly has depth 1.
func depth(lists []ReadingList, id int64) int {
	n := 0
	for id != 0 && n <= maxListDepth {
		n++
		i := slices.IndexFunc(lists, func(l ReadingList) bool { return l.ID == id })
		if i < 0 {
			break
		}
		id = lists[i].Memory.Parent
	}
	return n
}

// difference returns the IDs that are in list but not in other. Both must be sorted.
func difference(list, other []int64) []int64 {
	var out []int64
	for _, id := range list {
		if _, ok := slices.BinarySearch(other, id); !ok {
			out = append(out, id)
		}
	}
	return out
}
