package river

import (
	"context"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/naming"
)

// Categories lists the categories of a user. With unread, the result includes the unread counts.
func (r *River) Categories(ctx context.Context, user string, unread bool) ([]Category, error) {
	r.Init()
	return r.Store.Categories(ctx, user, unread)
}

// maxUserCategories is the maximum number of categories of one user.
const maxUserCategories = 1000

// PutCategory creates a category, or makes an existing one public or private. A name has at most
// 60 characters and no slash. Errors: fault.Invalid: the name is not valid; TooMany: the user has
// maxUserCategories.
func (r *River) PutCategory(ctx context.Context, user, name string, public bool) error {
	r.Init()
	name, err := naming.Category(name)
	if err != nil {
		return err
	}
	have, err := r.Store.Categories(ctx, user, false)
	if err != nil {
		return err
	}
	if len(have) >= maxUserCategories {
		known := false
		for _, c := range have {
			known = known || c.Name == name
		}
		if !known {
			return fault.New(fault.TooMany, "There are already %d categories, which is the limit.", len(have))
		}
	}
	return r.Store.PutCategory(ctx, user, name, public)
}

// RenameCategory renames a category. If the new name exists, it merges both categories. An empty
// new name removes the category and keeps its sources. Errors: fault.NotFound: the category does
// not exist; Invalid: the new name is not valid.
func (r *River) RenameCategory(ctx context.Context, user, from, to string) error {
	r.Init()
	if to == "" {
		return r.Store.DropCategory(ctx, user, from)
	}
	to, err := naming.Category(to)
	if err != nil || to == from {
		return err
	}
	return r.Store.RenameCategory(ctx, user, from, to)
}
