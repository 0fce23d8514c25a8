package app

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/announce"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
)

// newAnnouncer creates the sender of pings to other servers about feeds that are saved on this
// server.
func (a *App) newAnnouncer(st store.Store) {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	a.announcer = &announce.Announcer{
		Store: st, Send: &publishhttp.TargetSender{HTTP: a.doer, UserAgent: agent, Now: a.clock.Now, Changed: a.changedItem},
		Targets: func(ctx context.Context, user string) ([]announce.Target, error) {
			w, err := st.Writer(ctx, user)
			if err != nil {
				return nil, err
			}
			return allTargets(a.cfg.Ping.Targets, w.PingTargets), nil
		},
		Own: a.ownCallback, Bus: a.hub.Bus, TopicID: hub.TopicID, Now: a.clock.Now, Log: a.log,
	}
}

// allTargets combines the ping targets of the server and of an author. It skips invalid targets
// of the author, because the settings page already rejects them.
func allTargets(server []announce.Target, own []string) []announce.Target {
	all := append([]announce.Target{}, server...)
	for _, text := range own[:min(len(own), announce.MaxOwn)] {
		if s, err := announce.ParseTarget(text); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// changedItem returns the page URL and the categories of the item that changed last in a user's
// public feed.
func (a *App) changedItem(ctx context.Context, user string) (page string, categories []string) {
	now, doc, err := a.authors.Document(ctx, user, author.Public)
	if err != nil {
		return "", nil
	}
	f, err := feed.ParseBytes(doc, &feed.Options{URL: a.names.Public() + a.feeds.Addresses(user)[0], Header: http.Header{"Content-Type": {now.Type}}})
	if err != nil || len(f.Items) == 0 {
		return "", nil
	}
	changed := func(it feed.Item) time.Time {
		if it.Updated.UTC.After(it.Published.UTC) {
			return it.Updated.UTC
		}
		return it.Published.UTC
	}
	last := f.Items[0]
	for _, it := range f.Items[1:] {
		if changed(it).After(changed(last)) {
			last = it
		}
	}
	if page = last.Link; last.PermaLink { // without PermaLink, the link may be the page that the post comments on
		page = last.ID
	}
	for _, c := range last.Categories {
		categories = append(categories, cmp.Or(c.Term, c.Label))
	}
	return page, categories
}
