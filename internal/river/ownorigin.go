package river

import (
	"context"
	"slices"

	"cloudburst/feed/polling"
	"cloudburst/internal/river/location"
)

// Unify moves sources to their canonical URL if their URL begins with prefix, which is another
// origin of this program. A moved source keeps its items, with two exceptions: a source with the
// canonical URL exists, or renewed reports that the IDs of the items contain the old name. Then
// the users follow the canonical source instead, and their starred items stay. Unify fetches
// nothing. If a call is interrupted, the next call continues. users returns all users who may
// follow a feed; Unify calls users only if subscriptions move.
//
// spec:cloudburst#own-names
func (r *River) Unify(ctx context.Context, prefix string, renewed func(url string) bool, users func(context.Context) ([]string, error)) error {
	r.Init()
	for after := ""; ; {
		urls, err := r.Store.SourcesUnder(ctx, prefix, after, 1000)
		if err != nil || len(urls) == 0 {
			return err
		}
		for _, u := range urls {
			if err := (unifier{r}).unify(ctx, u, renewed(u), users); err != nil {
				return err
			}
			after = u
		}
	}
}

// unifier merges sources that are the same feed under two names of this program.
type unifier struct{ *River }

func (r unifier) unify(ctx context.Context, from string, renewed bool, users func(context.Context) ([]string, error)) error {
	to := r.canonical(from)
	old, ok, err := r.publicAt(ctx, from)
	if err != nil || !ok || to == from {
		return err
	}
	target, both, err := r.publicAt(ctx, to)
	switch {
	case err != nil:
		return err
	case both || renewed:
		if !both {
			now := r.now()
			target = Source{ID: SourceID(to), URL: to, State: polling.New(to, now), NextAt: now, CreatedAt: now}
			target.About.Title = old.About.Title
		}
		return r.moveSubscriptions(ctx, old.ID, target, users)
	}
	_, err = r.Store.ChangeSource(ctx, old.ID, func(s *Source) error {
		// Validators are valid only for the URL whose server sent them.
		s.State.URL, s.State.Validators, s.State.Evidence, s.State.Candidate = to, polling.Validators{}, polling.Evidence{}, nil
		return nil
	})
	return err
}

// publicAt returns the source without a login whose current URL is url.
func (r unifier) publicAt(ctx context.Context, url string) (Source, bool, error) {
	list, err := r.Store.SourcesAt(ctx, url)
	i := slices.IndexFunc(list, func(s Source) bool { return s.URL == url && !s.Private() })
	if err != nil || i < 0 {
		return Source{}, false, err
	}
	return list[i], true, nil
}

// moveSubscriptions moves all subscriptions of the source old to the source target.
func (r unifier) moveSubscriptions(ctx context.Context, old int64, target Source, users func(context.Context) ([]string, error)) error {
	names, err := users(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: name, SourceID: old, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		sub := list[0].Subscription
		sub.SourceID = target.ID
		if err := editor(r).replace(ctx, sub, target, old); err != nil {
			return err
		}
	}
	return nil
}

// addressOf parses the location of a feed, page or list. A URL of this program gets the program's
// canonical origin and has no alternatives.
//
// spec:cloudburst#own-names
func addressOf(r *River, typed string) (location.Location, error) {
	a, err := location.Read(typed)
	if err != nil || r.Options.Canonical == nil {
		return a, err
	}
	for i, u := range a.URLs {
		if a.URLs[i] = r.Options.Canonical(u); r.Options.Own != nil && r.Options.Own(u) {
			a.URLs = a.URLs[i : i+1]
			break
		}
	}
	return a, nil
}

// canonical returns the form of a normalized URL under which sources are stored; see
// Options.Canonical.
func (r *River) canonical(url string) string {
	if r.Options.Canonical == nil {
		return url
	}
	return r.Options.Canonical(url)
}

// canonicals returns the canonical form of each URL, without duplicates.
func canonicals(r *River, urls []string) []string {
	var out []string
	for _, u := range urls {
		if u = r.canonical(u); !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}
