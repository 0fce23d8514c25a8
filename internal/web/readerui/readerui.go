// Package readerui has the pages of readers: the river, public and private, and the pages of
// what is followed, with imports, categories, reading lists and notices. Start with [Pages].
package readerui

import (
	"context"

	"cloudburst/internal/author"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
)

// Options are the surroundings of the pages of readers. River must be set.
type Options struct {
	River       River
	Arrivals    func(buffer int) Listener      // hears of what comes; nil: pages are not live
	ReaderOf    func(user string) string       // of the river; nil: the same name
	OwnerOf     func(reader string) string     // its name in paths; nil: the same name, and "server" for ""
	RiverPublic bool                           // the public may read the server's own river
	Fresh       func(ctx context.Context) bool // nobody has an account yet; nil: somebody has
	Accounts    AccountState                   // nil: nobody signs in here
	Posts       WrittenPosts                   // nil: nobody writes here
	// Explained gives an explanation as it is written in JSON, at /feeds/{id}.json. Nil:
	// there is none.
	Explained func(f *river.Followed, e *river.Explanation) any
}

// AccountState knows whether anybody has an account yet.
type AccountState interface {
	SetupToken() string // the token that makes the first account; "": there is one
}

// WrittenPosts knows whether a reader has written anything.
type WrittenPosts interface {
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
}

// base is what all pages of readers share.
type base struct {
	*content.Renderer
	Options
}

// riverPages are the river of a reader, and public rivers.
type riverPages struct {
	*base
	contents contentCache
	live     *riverTail
}

// followPages are the pages of what is followed: feeds, categories and lists.
type followPages struct {
	*base
	imports *imports // lists that are imported now
}

// noticePages are the pages of where new items are forwarded to.
type noticePages struct{ *base }

// Pages are the river and the pages of what is followed.
type Pages struct {
	river   *riverPages
	follow  *followPages
	notices *noticePages
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages {
	b := &base{c, o}
	return &Pages{newRiverPages(b), &followPages{base: b, imports: newImports()}, &noticePages{b}}
}

// ReplyTo is an item of a user's river as something to answer.
func (p *Pages) ReplyTo(ctx context.Context, user string, id int64) (author.Reply, error) {
	return p.river.replyTo(ctx, user, id)
}
