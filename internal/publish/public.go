package publish

import (
	"context"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
)

// Users lists users sorted by name; *account.Accounts implements it.
type Users interface {
	Users(ctx context.Context, after string, limit int) ([]account.User, error)
}

// Feeds lists saved feeds sorted by user and name; *author.Feeds implements it.
type Feeds interface {
	List(ctx context.Context, after string, limit int) ([]author.Feed, error)
}

// PublicFeeds returns the public feeds of users who are not disabled, sorted by user.
func PublicFeeds(ctx context.Context, users Users, feeds Feeds) (public []author.Feed, err error) {
	disabled := map[string]bool{}
	for after, more := "", true; more; {
		page, err := users.Users(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, u := range page {
			if after = u.Name; u.Disabled {
				disabled[u.Name] = true
			}
		}
		more = len(page) == 1000
	}
	for after, more := "", true; more; {
		page, err := feeds.List(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			after = f.User + "/" + f.Name
			if f.Name == author.Public && f.Version > 0 && (f.MovedTo == "" || f.Temporary) && !f.Gone && !disabled[f.User] {
				public = append(public, f)
			}
		}
		more = len(page) == 1000
	}
	return public, nil
}
