package web

import (
	"context"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
)

// WriterOptions are the surroundings of the pages to write on. Posts and Accounts must be set.
type WriterOptions struct {
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

// writerPages are the pages to write on.
type writerPages struct {
	*Renderer
	WriterOptions
}

func newWriterPages(c *Renderer, o WriterOptions) *writerPages { return &writerPages{c, o} }
