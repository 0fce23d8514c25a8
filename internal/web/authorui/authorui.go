// Package authorui has the pages of authors: their posts one by one, in lists and by category and
// month, or the content of a hosted feed. Start with [Pages].
package authorui

import (
	"cmp"
	"context"

	"cloudburst/internal/author"
	"cloudburst/internal/cache"
	"cloudburst/internal/conversation"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/web/content"
)

// Options configure the pages of authors.
type Options struct {
	Feeds Feeds // nil: this server hosts no feeds
	Posts Posts // nil: users cannot write posts
	// Replies are shown below posts, and post pages name the endpoint that receives them. Nil: there are no replies.
	Replies Replies
	Threads *conversation.Threads // threads of posts; nil: posts have no threads
	Site    *author.Site          // pages, themes and the search; nil: authors have none of these
	Domains *ownhost.Hosts        // domains of authors; nil: authors cannot use their own domains
	// PageState identifies the state of everything that pages show to visitors without a session. Pages for
	// these visitors are kept in memory while the state stays the same. Nil: pages are not kept.
	PageState func(ctx context.Context) (string, error)
	// PageCache counts the uses of the pages in memory. Nil: the uses are not counted.
	PageCache *cache.Counts
}

// Feeds is the interface to hosted feeds for the pages.
type Feeds interface {
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Document(ctx context.Context, user, name string) (author.Feed, []byte, error)
}

// Posts is the interface to posts for the pages.
type Posts interface {
	BySlug(ctx context.Context, user, slug string) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Stamp(ctx context.Context, user, category string) (int64, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	Path(p author.Post) string
}

// Pages has the pages of authors.
type Pages struct {
	*content.Renderer
	Options
	cache pageCache
	ready cache.Shared[pageKey, *readyPage]
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages {
	p := &Pages{Renderer: c, Options: o}
	p.ready.MaxSize = maxReadyBytes
	p.ready.Counts = cmp.Or(o.PageCache, new(cache.Counts))
	return p
}
