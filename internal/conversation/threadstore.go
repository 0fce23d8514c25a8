package conversation

import (
	"context"
	"time"
)

// ThreadStore is the database interface of threads, with the rules of [Store].
type ThreadStore interface {
	// ThreadSpot returns where a reply to the first known of some posts goes.
	ThreadSpot(ctx context.Context, keys []int64) (Spot, error)
	// PutEntry places a reply. Replies that wait for it move below it. A reply that would be above
	// itself stays where it is.
	PutEntry(ctx context.Context, e Entry) error
	// OfferReply stores a mention for the author of a post, or changes the one with the same User,
	// Post and Source, and places its entry. change is as in ChangeMention; a new mention is as
	// given. seen reports whether readers of the thread see a difference. fault.TooMany: the user
	// has undecided mentions up to limit already.
	OfferReply(ctx context.Context, m Mention, e Entry, limit int, change func(m *Mention, rules []Rule, isNew bool) Action) (seen bool, err error)
	// Thread returns replies below a post.
	Thread(ctx context.Context, q ThreadQuery) (Thread, error)
	// Ancestors returns the replies above a reply, from the top, and itself. Empty: it is no reply.
	Ancestors(ctx context.Context, id int64) ([]Node, error)
	// TidyThreads deletes entries whose post or mention no longer exists, places replies whose
	// parent is known by now, and forgets feeds of comments that were read before a time.
	TidyThreads(ctx context.Context, before time.Time) error
}

// WorkStore is the database interface of the work for threads.
type WorkStore interface {
	// QueueThreadWork adds work, unless the same was done after a time or is due already.
	QueueThreadWork(ctx context.Context, w Work, doneAfter time.Time) error
	// ClaimThreadWork claims up to limit due rows, oldest first, as ClaimMentions does.
	ClaimThreadWork(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Work, error)
	// NextThreadWork returns when the next row is due, or the zero time.
	NextThreadWork(ctx context.Context) (time.Time, error)
	// SettleThreadWork ends a claim: w is due again at DueAt; the zero time: it is done at now. A row
	// with another Lease stays as it is.
	SettleThreadWork(ctx context.Context, w Work, now time.Time) error
}

// Items is the interface to the items of the river.
type Items interface {
	// FoundItem returns an item with what it replies to; fault.NotFound.
	FoundItem(ctx context.Context, id int64) (Found, error)
	// NamedItem finds an item of a public feed by its URL or guid; fault.NotFound.
	NamedItem(ctx context.Context, name string) (Found, error)
	// FollowsSource reports whether a reader follows a feed.
	FollowsSource(ctx context.Context, reader string, source int64) (bool, error)
}
