package conversation

import (
	"context"
	"time"
)

// ThreadStore is the database interface of threads. Transactions and times follow the rules of
// [Store].
type ThreadStore interface {
	// ThreadSpot returns the position of the first known post in keys. A reply to that post belongs
	// below it.
	ThreadSpot(ctx context.Context, keys []int64) (Spot, error)
	// PutEntry stores the position of a reply. Replies whose missing parent is this reply move below
	// it. A reply that would be its own ancestor keeps its position.
	PutEntry(ctx context.Context, e Entry) error
	// OfferReply stores a mention for the author of a post, together with its entry. If a mention
	// with the same User, Post and Source exists, OfferReply calls change, as ChangeMention does; a
	// new mention is stored as given. seen reports whether the displayed thread has changed.
	// fault.TooMany: the user already has limit undecided mentions.
	OfferReply(ctx context.Context, m Mention, e Entry, limit int, change func(m *Mention, rules []Rule, isNew bool) Action) (seen bool, err error)
	// Thread returns replies below a post.
	Thread(ctx context.Context, q ThreadQuery) (Thread, error)
	// Ancestors returns the replies above a reply, from the top, and the reply itself. The list is
	// empty if the post is not a reply.
	Ancestors(ctx context.Context, id int64) ([]Node, error)
	// TidyThreads deletes entries whose post or mention no longer exists. It moves replies below
	// parents that have become known, and deletes the records of feeds of comments that were read
	// before a time.
	TidyThreads(ctx context.Context, before time.Time) error
}

// WorkStore is the database interface of pending work for threads.
type WorkStore interface {
	// QueueThreadWork adds work, unless the same work was done after doneAfter or is already due.
	QueueThreadWork(ctx context.Context, w Work, doneAfter time.Time) error
	// ClaimThreadWork leases up to limit due rows, oldest first, in the same way as ClaimMentions.
	ClaimThreadWork(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Work, error)
	// NextThreadWork returns when the next row is due; the zero time means that no row is due.
	NextThreadWork(ctx context.Context) (time.Time, error)
	// SettleThreadWork ends a lease. The work is due again at w.DueAt; the zero time means that the
	// work was done at now. A row with another Lease is unchanged.
	SettleThreadWork(ctx context.Context, w Work, now time.Time) error
}

// Items is the interface to the items of the river.
type Items interface {
	// FoundItem returns an item together with the posts that it replies to. fault.NotFound: the item
	// does not exist.
	FoundItem(ctx context.Context, id int64) (Found, error)
	// NamedItem finds an item of a public feed by its URL or guid. fault.NotFound: there is no such
	// item.
	NamedItem(ctx context.Context, name string) (Found, error)
	// FollowsSource reports whether a river follows a feed.
	FollowsSource(ctx context.Context, reader string, source int64) (bool, error)
}
