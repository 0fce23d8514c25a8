package app

import (
	"bytes"
	"context"
	"strconv"

	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/store"
	"cloudburst/internal/web"
)

// newPosts creates the component that stores posts. It stores the feeds of posts in a.authors,
// together with saved feeds.
func (a hosting) newPosts(st store.Store) {
	a.posts = &author.Posts{
		Store: st, Feeds: a.authors, Origin: a.names.Public, Locate: a.names.Located, About: a.feeds.About, Now: a.clock.Now, Log: a.log,
		Limit: a.cfg.Write.Limit, LimitMode: a.cfg.Write.LimitMode, MaxPosts: a.cfg.Write.MaxPosts, Window: a.cfg.Feeds.Window,
	}
	a.versions = version.Versions{Store: st, Posts: a.posts}
	a.authorSite = &author.Site{Store: st, Posts: a.posts, Now: a.clock.Now}
	a.posts.Changed = func(ctx context.Context) { a.indexPosts(ctx) }
	a.feeds.Views, a.feeds.FeedsOf, a.feeds.Group = a.posts, a.posts.FeedList, author.Groups{Posts: a.posts}.Group
}

// indexPosts makes changed posts searchable; a server does this in the background. If it fails, the
// posts become searchable after the next change or start.
func (a hosting) indexPosts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	a.noteHosted(ctx, "index posts for the search", a.authorSite.Index(ctx))
}

// indexChanged makes posts searchable while the server runs.
func (a hosting) indexChanged(ctx context.Context) {
	a.authorSite.RunIndex(ctx, func(err error) { a.noteHosted(ctx, "index posts for the search", err) })
}

// writePages enables the pages for writing posts.
func (a hosting) writePages(pages *web.Web) {
	pages.Posts, pages.Card = author.Groups{Posts: a.posts}, a.newCards()
	pages.Versions, pages.Rules = a.versions, author.RuleSettings{Posts: a.posts}
	pages.FileOf, pages.Replies = a.files.Get, a.conversation
	pages.Sent, pages.Mentions = a.mentionSender, author.MentionSettings{Posts: a.posts}
	pages.Threads = a.threads
	if !a.people.Off {
		pages.People, pages.Subscriptions = a.people, a.subscriptions()
	}
	pages.MentionsOff = author.Mentions{NoReceive: !a.cfg.Webmention.Receive, NoSend: !a.cfg.Webmention.Send}
	pages.Files, pages.Moves, pages.Site = a.files, a.moves(), a.authorSite
	pages.Domains = a.hosts.Load()
	pages.PageCache = &a.pageCache
	pages.PageState = func(ctx context.Context) (string, error) { // the state includes the domains of authors, because author pages contain them
		domains := strconv.FormatInt(a.hostsRead.Load(), 36)
		state, err := a.pageState(ctx)
		return state + " " + domains, err
	}
}

// newCards returns a function that reads link previews. It uses the guard for feeds, because
// authors choose the linked pages.
func (a hosting) newCards() func(ctx context.Context, user, url string) (author.Card, error) {
	pages := &fulltext.Summaries{Fetch: a.client, Now: a.clock.Now}
	return func(ctx context.Context, user, url string) (author.Card, error) {
		s, err := pages.Get(ctx, user, url)
		return author.Card{URL: s.URL, Title: s.Title, Description: s.Description, Image: s.Image}, err
	}
}

// renewFirst is the number of feeds that are checked to find out whether the public URL has
// changed.
const renewFirst = 20

// renewPosts rewrites the feeds of posts that contain a former public URL, and notifies their
// subscribers. The first renewFirst feeds show whether the URL has changed. renewPosts rewrites
// these feeds last, so that the next start detects an interrupted run. On a shared database, a
// feed is rewritten at the next save instead, because nodes may have different URLs during a
// rollout.
//
// spec:cloudburst#public-url-changed
func (a hosting) renewPosts(ctx context.Context) error {
	if a.cfg.PublicURL == "" || a.cfg.Database != "" {
		return nil
	}
	first, err := a.staleFeeds(ctx, "", renewFirst)
	if err != nil || len(first.stale) == 0 {
		return err
	}
	a.log.Info("the public URL has changed; rewriting feeds", "url", a.names.Public())
	for page := first; page.more; {
		if page, err = a.staleFeeds(ctx, page.last, 100); err != nil {
			return err
		}
		if err := a.renew(ctx, page.stale); err != nil {
			return err
		}
	}
	return a.renew(ctx, first.stale)
}

// staleBatch is the result of checking one batch of feeds. stale contains the users whose feeds
// contain another URL.
type staleBatch struct {
	stale []string
	last  string // user and name of the last checked feed, after which the next batch begins
	more  bool
}

func (a hosting) staleFeeds(ctx context.Context, after string, limit int) (p staleBatch, err error) {
	list, err := a.authors.List(ctx, after, limit)
	if err != nil {
		return p, err
	}
	p.more = len(list) == limit
	for _, f := range list {
		p.last = f.User + "/" + f.Name
		if f.Name != author.Public || f.Version == 0 || f.Gone || f.MovedTo != "" {
			continue
		}
		w, err := a.posts.Writer(ctx, f.User)
		if err != nil {
			return p, err
		}
		if !w.Written {
			continue // skip this feed: the author saved it as a document
		}
		_, doc, err := a.authors.Document(ctx, f.User, author.Public)
		if err != nil {
			return p, err
		}
		if !bytes.Contains(doc, []byte(`"`+a.names.Located(a.feeds.Addresses(f.User)[0])+`"`)) {
			p.stale = append(p.stale, f.User)
		}
	}
	return p, nil
}

func (a hosting) renew(ctx context.Context, users []string) error {
	for _, user := range users {
		if err := a.posts.Renew(ctx, user, "start"); err != nil {
			return err
		}
	}
	return nil
}

// tidyPosts removes deleted posts whose undo period is over.
func (a hosting) tidyPosts(ctx context.Context) {
	a.noteHosted(ctx, "remove deleted posts", a.posts.Sweep(ctx))
}
