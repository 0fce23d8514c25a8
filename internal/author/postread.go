package author

import (
	"context"

	"cloudburst/internal/fault"
)

// Get returns a post in any state. fault.NotFound: the post does not exist.
func (p *Posts) Get(ctx context.Context, user string, id int64) (Post, error) {
	return p.Store.Post(ctx, user, id)
}

// BySlug returns a published or deleted post by the last segment of its path. fault.NotFound: the
// post does not exist.
func (p *Posts) BySlug(ctx context.Context, user, slug string) (Post, error) {
	post, err := p.Store.PostBySlug(ctx, user, slug)
	if err == nil && len(post.Groups) > 0 { // the post was private when it was deleted
		return Post{}, fault.New(fault.NotFound, "There is no such post.")
	}
	return post, err
}

// ByKey returns a post by its Key, or by its GUID if guid is set. fault.NotFound: the post does not
// exist.
func (p *Posts) ByKey(ctx context.Context, user, key, guid string) (Post, error) {
	return p.Store.PostByKey(ctx, user, key, guid)
}

// List lists the posts that a query selects.
func (p *Posts) List(ctx context.Context, q PostQuery) ([]Post, error) { return p.Store.Posts(ctx, q) }

// Counts returns the numbers of published posts by month or category; see [PostStore].PostCounts.
func (p *Posts) Counts(ctx context.Context, user string, what CountOf, prefix string, limit int) ([]Count, error) {
	return p.Store.PostCounts(ctx, user, what, prefix, limit)
}

// Stamp returns a number that increases with every public change of the selected posts: posts of a
// user ("": all users) in a category, by its folded name ("": all categories). 0: the posts have
// never changed.
func (p *Posts) Stamp(ctx context.Context, user, category string) (int64, error) {
	return p.Store.PostsChanged(ctx, user, category)
}
