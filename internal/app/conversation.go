package app

import (
	"cmp"
	"context"
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

// newConversation creates the receiver of webmentions. Their pages are read through the guard of
// feeds, because unknown clients name them.
func (a hosting) newConversation(st store.Store) {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	a.mentionReader = fetch.NewDoer(fetch.DoerOptions{Guard: a.fetchGuard(), UserAgent: agent, MaxBody: 2 * webmention.MaxDocument})
	a.conversation = &conversation.Conversation{
		Store: st, Read: ownMentions{a, &publishhttp.WebmentionReader{HTTP: a.mentionReader, UserAgent: agent}},
		Target: a.postAt, Open: a.mentionsOpen, Known: a.knownMention, Now: a.clock.Now, Log: a.log,
	}
}

// postAt returns the published post at a URL of this server. fault.NotFound: there is none.
func (a hosting) postAt(ctx context.Context, raw string) (user string, post int64, err error) {
	none := fault.New(fault.NotFound, "There is no post at this URL.")
	u, own := a.names.Path(raw)
	if !own {
		return "", 0, none
	}
	part := strings.Split(strings.Trim(u.Path, "/"), "/") // user, year, month, day, slug
	if len(part) != 5 {
		return "", 0, none
	}
	if disabled, err := a.accounts.IsDisabled(ctx, part[0]); err != nil || disabled {
		return "", 0, cmp.Or(err, error(none))
	}
	p, err := a.posts.BySlug(ctx, part[0], part[4])
	if err != nil {
		return "", 0, err
	}
	if p.State != author.Published || a.posts.Path(p) != u.EscapedPath() {
		return "", 0, none
	}
	return p.User, p.ID, nil
}

// webmention is the endpoint of the receiver.
func (a *App) webmention() *publishhttp.Webmention {
	return &publishhttp.Webmention{Conversation: a.conversation, Trusted: a.cfg.TrustedProxies, Log: a.log}
}
