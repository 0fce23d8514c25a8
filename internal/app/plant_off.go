//go:build !plantedbugs

package app

import (
	"context"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/hub"
)

// planted is the store as it is. In a build for the crash harness it has bugs, and so
// have the others.
func planted(st hub.Store) hub.Store { return st }

func plantedAccounts(st account.Store) account.Store { return st }

func plantedAuthors(st author.Store) author.Store { return st }

func plantedPosts(st author.PostStore) author.PostStore { return st }

func plantedTell(tell func(context.Context, author.Feed) error) func(context.Context, author.Feed) error {
	return tell
}
