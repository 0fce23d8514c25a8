package app

import (
	"cmp"
	"context"
	"errors"

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

// postAt returns the published post at a URL of this server. The URL may have an earlier date of the
// post. fault.NotFound: there is no post at the URL.
func (a hosting) postAt(ctx context.Context, raw string) (user string, post int64, err error) {
	u, own := a.names.Path(raw)
	if !own {
		return "", 0, noPost()
	}
	p, err := a.publishedAt(ctx, u.EscapedPath())
	if _, moved := errors.AsType[*publishhttp.MovedPost](err); moved {
		err = nil
	}
	return p.User, p.ID, err
}

func noPost() error { return fault.New(fault.NotFound, "There is no post at this URL.") }

// publishedAt returns the published post whose page has this path. fault.NotFound: there is no
// post at the path. If only the date in the path is different, publishedAt returns the post, and the
// fault wraps a [publishhttp.MovedPost].
func (a hosting) publishedAt(ctx context.Context, path string) (author.Post, error) {
	user, slug, ok := author.SlugAt(path)
	if !ok {
		return author.Post{}, noPost()
	}
	if disabled, err := a.accounts.IsDisabled(ctx, user); err != nil || disabled {
		return author.Post{}, cmp.Or(err, noPost())
	}
	p, err := a.posts.BySlug(ctx, user, slug)
	if err != nil {
		return author.Post{}, err
	}
	if p.State != author.Published {
		return author.Post{}, noPost()
	}
	if to := a.posts.Path(p); to != path {
		return p, fault.Wrap(fault.NotFound, &publishhttp.MovedPost{Path: to}, "There is no post at this URL.")
	}
	return p, nil
}

// webmention returns the HTTP endpoint that receives webmentions.
func (a *App) webmention() *publishhttp.Webmention {
	return &publishhttp.Webmention{Conversation: a.conversation, Trusted: a.cfg.TrustedProxies, Log: a.log}
}
