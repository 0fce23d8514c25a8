package author

import (
	"context"

	"cloudburst/internal/fault"
)

// MaxDrafts is the maximum number of drafts of a user.
const MaxDrafts = 10_000

// checkQuota returns a fault.TooMany if publishing a post exceeds the user's quota. Published and
// scheduled posts count.
//
// spec:cloudburst#posts-quota
func (p editing) checkQuota(now, next *Post, w Writer) error {
	public := func(s State) bool { return s.HasReaders() || s == Scheduled }
	if p.MaxPosts <= 0 || w.Posts < int64(p.MaxPosts) || public(now.State) || !public(next.State) {
		return nil
	}
	return fault.New(fault.TooMany, "You have %d posts, and the operator of this server allows %d; nothing was published. Delete some first, or ask the operator for more.", w.Posts, p.MaxPosts)
}

// checkImportQuota returns a fault.TooMany if an import exceeds the user's quota.
func (p *Posts) checkImportQuota(ctx context.Context, user string, posts []Post) error {
	if p.MaxPosts <= 0 {
		return nil
	}
	w, err := p.Store.Writer(ctx, user)
	if err != nil {
		return err
	}
	if all := w.Posts + int64(len(posts)); all > int64(p.MaxPosts) {
		return fault.New(fault.TooMany, "With these you would have %d posts, and the operator of this server allows %d; nothing was imported. Import fewer, or ask the operator for more.", all, p.MaxPosts)
	}
	return nil
}

// checkQuotaOf returns a fault.TooMany if one more draft or private post exceeds its limit. It
// counts these posts in the store, because a Writer counts only public posts.
func (p editing) checkQuotaOf(ctx context.Context, was State, next *Post) error {
	if next.State == ForGroups && was != ForGroups && p.MaxPosts > 0 {
		beyond, err := p.Store.Posts(ctx, PostQuery{User: p.e.User, State: ForGroups, Skip: p.MaxPosts - 1, Limit: 1})
		if err == nil && len(beyond) > 0 {
			err = fault.New(fault.TooMany, "You have %d private posts, which is the limit; nothing was published. Delete some first, or ask the operator for more.", p.MaxPosts)
		}
		return err
	}
	if p.e.ID != 0 || next.State != Draft {
		return nil
	}
	beyond, err := p.Store.Posts(ctx, PostQuery{User: p.e.User, State: Draft, Skip: p.maxDrafts() - 1, Limit: 1})
	if err != nil || len(beyond) == 0 {
		return err
	}
	return fault.New(fault.TooMany, "You have %d drafts already, which is the limit; nothing was saved. Publish or delete some first.", p.maxDrafts())
}

func (p *Posts) maxDrafts() int {
	if p.MaxPosts > 0 {
		return min(MaxDrafts, p.MaxPosts)
	}
	return MaxDrafts
}
