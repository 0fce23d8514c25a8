// Package readerui has the pages of the feed reader: the river, public and private, and the pages
// of followed feeds, with imports, categories and reading lists. Start with [Pages].
package readerui

import (
	"context"
	"html/template"

	"cloudburst/internal/author"
	"cloudburst/internal/cache"
	"cloudburst/internal/conversation"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
)

// Options configure the pages of the feed reader. River must be set.
type Options struct {
	River       River
	Arrivals    func(buffer int) Listener      // listens for new items; nil: pages are not live
	ReaderOf    func(user string) string       // returns the reader name of a user in the river; nil: both names are the same
	OwnerOf     func(reader string) string     // returns the name of a reader in paths; nil: the reader itself, and "server" for ""
	RiverPublic bool                           // the public may read the server's own river
	Fresh       func(ctx context.Context) bool // reports that no account exists yet; nil: an account exists
	Accounts    AccountState                   // nil: the server has no accounts
	Posts       WrittenPosts                   // reads posts of users; nil: users cannot write posts
	FullTexts   FullTexts                      // reads full texts; nil: items have only the text of their feeds
	// Known describes the post at a URL to which an item replies, without a request to another
	// server. Nil: no post is known.
	Known   func(url string) (conversation.Brief, bool)
	Threads *conversation.Threads // reads replies to items; nil: items have no replies
	// Explained converts an explanation to its JSON form, for /feeds/{id}.json. Nil: not served.
	Explained func(f *river.Followed, e *river.Explanation) any
}

// AccountState reports whether an account exists.
type AccountState interface {
	SetupToken() string // token for creating the first account; "": an account exists
}

// WrittenPosts reads the posts that the users of this server have written.
type WrittenPosts interface {
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
}

// base has what all pages of the feed reader share.
type base struct {
	*content.Renderer
	Options
}

// riverPages has the river of a reader, and public rivers.
type riverPages struct {
	*base
	contents cache.Shared[contentKey, *itemContent]
	items    cache.Shared[itemKey, renderedItem]
	feeds    cache.Shared[feedKey, template.HTML]
	live     *riverTail
}

// followPages has the pages of followed feeds, categories and lists.
type followPages struct {
	*base
	imports *imports // running and finished imports
}

// Pages has the river and the pages of followed feeds.
type Pages struct {
	river  *riverPages
	follow *followPages
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages {
	b := &base{c, o}
	return &Pages{newRiverPages(b), &followPages{base: b, imports: newImports()}}
}

// ReplyTo describes an item of a user's river for a reply to it.
func (p *Pages) ReplyTo(ctx context.Context, user string, id int64) (author.Reply, error) {
	return p.river.replyTo(ctx, user, id)
}
