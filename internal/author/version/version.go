// Package version manages the earlier versions of posts. When a post changes, the store keeps an
// earlier version by the rule of package author. [Versions] lists and restores the earlier
// versions.
package version

import (
	"context"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// Version is an earlier content of a post.
type Version struct {
	N     int64        // number of this version among the versions of the post, from 1
	At    time.Time    // time when this content was saved
	State author.State // state of the post at that time; author.Draft for unpublished changes of a published post
	author.Content
}

// Store reads the earlier versions of posts, which [author.PostStore] keeps in WritePost.
type Store interface {
	// Versions lists the earlier versions of a post, newest first.
	Versions(ctx context.Context, user string, post int64) ([]Version, error)
	// Version returns an earlier version. fault.NotFound: the version does not exist.
	Version(ctx context.Context, user string, post, n int64) (Version, error)
}

// Versions lists and restores earlier versions. Store and Posts are required.
type Versions struct {
	Store Store
	Posts *author.Posts
}

// List returns the earlier versions of a post, newest first, at most [author.MaxVersions].
// fault.NotFound: the user has no such post.
func (v Versions) List(ctx context.Context, user string, id int64) ([]Version, error) {
	if _, err := v.Posts.Get(ctx, user, id); err != nil {
		return nil, err
	}
	return v.Store.Versions(ctx, user, id)
}

// Restore saves an earlier version as the newest version. For a published or scheduled post, the
// restored version becomes an unpublished change, which readers see only after the author publishes
// the change. base is the revision of the post that the author has seen; 0: any revision. Errors:
// fault.NotFound (the version does not exist), and those of [author.Posts.SaveDraft].
func (v Versions) Restore(ctx context.Context, user string, id, n, base int64, via string) (author.DraftEdit, error) {
	old, err := v.Store.Version(ctx, user, id, n)
	if err != nil {
		return author.DraftEdit{}, err
	}
	d := author.DraftEdit{User: user, Via: via, ID: id, Base: base, Asked: true, Change: func(c *author.Content) error {
		groups := c.Groups // the post keeps its current groups
		*c = old.Clone()
		c.Groups = groups
		return nil
	}}
	post, err := v.Posts.Get(ctx, user, id)
	if err != nil {
		return author.DraftEdit{}, err
	}
	if base != 0 && base != post.Revision {
		return d, fault.New(fault.Conflict, "The post was changed elsewhere since you opened this page; nothing was restored. Open the versions again.")
	}
	if draft, err := v.Posts.EditDraft(ctx, user, id); err == nil {
		d.Draft, d.DraftBase = draft.ID, draft.Revision
	} else if fault.CodeOf(err) != fault.NotFound {
		return d, err
	}
	return v.Posts.SaveDraft(ctx, d)
}
