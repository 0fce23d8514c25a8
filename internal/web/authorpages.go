package web

import (
	"context"

	"cloudburst/internal/author"
)

// AuthorOptions are the surroundings of the pages of authors.
type AuthorOptions struct {
	Feeds HostedFeeds // nil: no feeds are hosted here
	Posts PublicPosts // nil: nobody writes here
}

// HostedFeeds is what the pages of authors ask of the hosted feeds.
type HostedFeeds interface {
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Document(ctx context.Context, user, name string) (author.Feed, []byte, error)
}

// PublicPosts is what the pages of authors ask of the posts.
type PublicPosts interface {
	BySlug(ctx context.Context, user, slug string) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Counts(ctx context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error)
	Stamp(ctx context.Context, user, category string) (int64, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
	Path(p author.Post) string
}

// authorPages are the pages of authors.
type authorPages struct {
	*Renderer
	AuthorOptions
	cache pageCache
}

func newAuthorPages(c *Renderer, o AuthorOptions) *authorPages {
	return &authorPages{Renderer: c, AuthorOptions: o}
}
