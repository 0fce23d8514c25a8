package app

import (
	"cmp"
	"context"

	"cloudburst/internal/announce"
	"cloudburst/internal/author"
	"cloudburst/internal/gateway"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
)

// newSinks makes what tells other servers of what is saved here.
func (a *App) newSinks(st store.Store) {
	agent := gateway.UserAgent(Version, a.cfg.PublicURL)
	a.sinks = &announce.Announcer{
		Store: st, Send: &gateway.SinkSender{HTTP: a.doer, UserAgent: agent, Now: a.clock.Now},
		Sinks: func(ctx context.Context, user string) ([]announce.Sink, error) {
			w, err := st.Writer(ctx, user)
			if err != nil {
				return nil, err
			}
			return allSinks(a.cfg.Ping.Sinks, w.Sinks), nil
		},
		Own: a.ownCallback, Bus: a.hub.Bus, TopicID: hub.TopicID, Now: a.clock.Now, Log: a.log,
	}
}

// allSinks are those of the server and those of an author. Of his, what is none is left
// out: where he sets them it is refused.
func allSinks(server []announce.Sink, own []string) []announce.Sink {
	all := append([]announce.Sink{}, server...)
	for _, text := range own[:min(len(own), announce.MaxOwn)] {
		if s, err := announce.ParseSink(text); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// tellSinks has it written down that other servers shall hear of a saved feed.
func (a *App) tellSinks(ctx context.Context, f author.Feed) error {
	return a.sinks.Saved(ctx, announce.News{
		User: f.User, Topic: a.publicURL() + a.feeds.Addresses(f.User)[0], Name: cmp.Or(f.Title, f.User),
		Home: a.publicURL() + "/" + f.User + "/", Version: f.Version, SavedAt: f.SavedAt,
	})
}
