package app

import (
	"context"
	"maps"
	"slices"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// maxTitles is the maximum number of feeds in one call of feedTitles.
const maxTitles = 1000

// feedTitles returns the titles of the feeds at urls, for display on public pages. It knows
// hosted feeds, topics, and feeds that the river reads without a password. It queries the store
// at most twice, because the titles of hosted feeds are cached.
func (a hosting) feedTitles(ctx context.Context, urls []string) (map[string]string, error) {
	titles := map[string]string{}
	var ids []int64
	var others []string
	for _, u := range urls[:min(len(urls), maxTitles)] {
		if a.privateFeed(u) {
			continue
		}
		if title := a.hostedTitle(ctx, u); title != "" {
			titles[u] = title
			continue
		}
		ids, others = append(ids, hub.TopicID(u)), append(others, u)
	}
	if len(ids) == 0 {
		return titles, nil
	}
	topics, err := a.store.Topics(ctx, hub.TopicQuery{IDs: ids, Limit: len(ids)})
	if err != nil {
		return titles, err
	}
	for _, t := range topics {
		if t.About.Title != "" {
			titles[t.URL] = t.About.Title
		}
	}
	others = slices.DeleteFunc(others, func(u string) bool { return titles[u] != "" })
	if len(others) == 0 {
		return titles, nil
	}
	followed, err := a.river.Store.SourceTitles(ctx, others)
	maps.Copy(titles, followed)
	return titles, err
}

// hostedTitle returns the title of the public feed at a URL of this server; "": there is no such
// feed.
func (a hosting) hostedTitle(ctx context.Context, raw string) string {
	u, own := a.names.Path(raw)
	if !own {
		return ""
	}
	user := a.ownUser(raw)
	if !slices.Contains(a.feeds.Addresses(user), u.RequestURI()) {
		return ""
	}
	f, err := a.authors.Feed(ctx, user, author.Public)
	if fault.CodeOf(err) != fault.NotFound {
		a.noteHosted(ctx, "read a saved feed", err)
	}
	return f.Title
}
