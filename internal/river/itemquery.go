package river

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/search"
)

const (
	maxItems   = 1000 // maximum number of items per query and per call of Mark
	maxBare    = 10_000
	maxSources = 1000
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

// searcher converts the words of a search into conditions of an ItemQuery.
type searcher struct{ *River }

// restrict replaces the terms in q.Match with the conditions that they express. ok is false if no
// item can match.
func (r searcher) restrict(ctx context.Context, q *ItemQuery) (ok bool, err error) {
	w, err := search.Read(q.Match)
	if err != nil {
		return false, err
	}
	if q.Public && w.Private() {
		return false, fault.New(fault.Invalid, "Nobody but the user can search by categories, stars and read marks.")
	}
	q.Match = w.Rest
	q.Starred = q.Starred || w.Starred
	q.Unread = q.Unread || w.Unread
	q.Read = q.Read || w.Read
	if q.Unread && q.Read {
		return false, nil
	}
	if len(w.Categories) > 0 {
		names, err := r.categoriesNamed(ctx, q.Reader, w.Categories)
		if err != nil || len(names) == 0 {
			return false, err
		}
		if len(q.Categories) > 0 {
			names = slices.DeleteFunc(names, func(c string) bool { return !slices.Contains(q.Categories, c) })
		}
		if q.Categories = names; len(names) == 0 {
			return false, nil
		}
	}
	if len(w.Feeds) == 0 {
		return true, nil
	}
	ids, err := r.matching(ctx, q.Reader, w.Feeds)
	if len(q.Sources) > 0 {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return !slices.Contains(q.Sources, id) })
	}
	q.Sources = ids
	return len(ids) > 0, err
}

// categoriesNamed returns the user's categories with these names, regardless of case.
func (r searcher) categoriesNamed(ctx context.Context, user string, names []string) ([]string, error) {
	have, err := r.Store.Categories(ctx, user, false)
	var out []string
	for _, c := range have {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c.Name) }) {
			out = append(out, c.Name)
		}
	}
	return out, err
}

// matching returns the IDs of the user's sources whose name or URL contains one of the names.
func (r searcher) matching(ctx context.Context, user string, names []string) ([]int64, error) {
	var ids []int64
	for _, n := range names {
		list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, Match: n, Limit: maxSources + 1})
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			ids = append(ids, f.SourceID)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > maxSources {
		return nil, fault.New(fault.Invalid, "More than %d of your feeds have %q in their names: use a longer name.", maxSources, names[0])
	}
	return ids, nil
}
