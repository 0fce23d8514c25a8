package app

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/store"
	"cloudburst/protocol/webmention"
)

// newConversation creates the receiver of webmentions. It reads the mentioning pages through the
// guard for feeds, because unknown clients send their URLs.
func (a hosting) newConversation(st store.Store) {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	a.mentionReader = fetch.NewDoer(fetch.DoerOptions{Guard: a.fetchGuard(), UserAgent: agent, MaxBody: 2 * webmention.MaxDocument})
	a.conversation = &conversation.Conversation{
		Store: st, Read: ownMentions{a, &publishhttp.WebmentionReader{HTTP: a.mentionReader, UserAgent: agent}},
		Target: a.postAt, Open: a.mentionsOpen, Known: a.knownMention, Now: a.clock.Now, Log: a.log,
	}
}

// postAt returns the published post at a URL of this server. fault.NotFound: there is no post at
// the URL.
func (a hosting) postAt(ctx context.Context, raw string) (user string, post int64, err error) {
	none := fault.New(fault.NotFound, "There is no post at this URL.")
	u, own := a.names.Path(raw)
	if !own {
		return "", 0, none
	}
	p, err := a.publishedAt(ctx, u.EscapedPath())
	return p.User, p.ID, err
}

// publishedAt returns the published post whose page has this path. fault.NotFound: there is no
// post at the path.
func (a hosting) publishedAt(ctx context.Context, path string) (author.Post, error) {
	none := fault.New(fault.NotFound, "There is no post at this URL.")
	part := strings.Split(strings.Trim(path, "/"), "/") // the segments are user, year, month, day and slug
	if len(part) != 5 {
		return author.Post{}, none
	}
	if disabled, err := a.accounts.IsDisabled(ctx, part[0]); err != nil || disabled {
		return author.Post{}, cmp.Or(err, error(none))
	}
	slug, err := url.PathUnescape(part[4])
	if err != nil {
		return author.Post{}, none
	}
	p, err := a.posts.BySlug(ctx, part[0], slug)
	if err != nil {
		return author.Post{}, err
	}
	if p.State != author.Published || a.posts.Path(p) != path {
		return author.Post{}, none
	}
	return p, nil
}

// webmention returns the HTTP endpoint that receives webmentions.
func (a *App) webmention() *publishhttp.Webmention {
	return &publishhttp.Webmention{Conversation: a.conversation, Trusted: a.cfg.TrustedProxies, Log: a.log}
}
