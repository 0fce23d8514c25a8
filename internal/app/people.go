package app

import (
	"context"
	"strings"

	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/people"
	"cloudburst/internal/store"
)

// newPeople creates the directory of authors, which also counts the followers of each author on
// this server.
func (a hosting) newPeople(st store.Store) {
	a.people = &people.Directory{Store: st, Now: a.clock.Now, Off: a.cfg.Accounts.Directory == "off",
		Stamp: func(ctx context.Context) (int64, error) { return a.posts.Stamp(ctx, "", "") },
		Addresses: func(user string) (all []string) {
			for _, path := range a.feeds.Addresses(user) {
				all = append(all, a.names.Public()+path)
			}
			return all
		},
	}
	here := &people.Here{Store: st, URLs: a.followedURLs, OwnerOf: a.owners.ownerOf}
	a.audience.Here = func(ctx context.Context, user string) (audience.Here, error) {
		f, err := here.Of(ctx, user)
		return audience.Here{Followers: f.Count, Names: f.Names}, err
	}
	a.audience.Mail = func(ctx context.Context, user string) (audience.Mail, error) {
		n, err := a.subscriptions().Count(ctx, user)
		return audience.Mail(n), err
	}
}

// followedURLs lists the URLs of a user's public feeds that have followers on this server. The
// feeds contain all posts or the posts of one category.
func (a hosting) followedURLs(ctx context.Context, user string) (all []string, err error) {
	prefix := a.names.Public() + "/" + user + "/"
	list, err := a.river.Store.SourcesUnder(ctx, prefix, "", 1000)
	for _, u := range list {
		if !strings.HasPrefix(u, prefix+"private") {
			all = append(all, u)
		}
	}
	return all, err
}

// subscriptions returns the component that sends posts by e-mail to visitors who subscribe.
func (a hosting) subscriptions() *people.Subscriptions {
	return &people.Subscriptions{
		River: a.river, Store: a.people.Store, ReaderOf: a.owners.readerOf, Now: a.clock.Now,
		Feed: func(user string) string { return a.names.Public() + author.FeedPath(user) },
	}
}

// webFinger returns the HTTP endpoint that returns the page and feed of an author's account name.
func (a *App) webFinger() *publishhttp.WebFinger {
	return &publishhttp.WebFinger{Feeds: a.authors, Writers: a.posts, Hidden: a.accounts.IsDisabled, Log: a.log, Origins: func() []string {
		if all := a.names.All(); len(all) > 0 {
			return all
		}
		return []string{a.names.Public()}
	}}
}
