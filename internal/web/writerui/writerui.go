// Package writerui has the pages to write on: posts with their drafts, files and outlines, the
// list of posts, and the profile of an author. Start with [Pages].
package writerui

import (
	"context"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/web/content"
)

// Options are the surroundings of the pages to write on. Posts and Accounts must be set.
type Options struct {
	Posts     Posts
	Files     Files // beside posts; nil: none are hosted
	Accounts  Passwords
	LimitMode string // of short posts: author.LimitWarn and so on
	// ReplyTo describes an item of the user's river as something to answer. Nil: no feeds are read here.
	ReplyTo func(ctx context.Context, user string, id int64) (author.Reply, error)
}

// Passwords checks who signs in again while writing.
type Passwords interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
}

// Pages are the pages to write on.
type Pages struct {
	*content.Renderer
	Options
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages { return &Pages{c, o} }
