package river

import (
	"context"
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/river/forward"
)

// Store is what a river needs of a database. Each method is one transaction and is on
// disk when it returns nil. Times are kept to the millisecond, UTC; every "now" is
// passed in. Errors are fault.Unavailable when the database is away or full, and what
// is named below; anything else is a bug.
type Store interface {
	SourceStore
	SubscriptionStore
	ItemStore
	ReadingListStore
	forward.Store
}

// SourceStore keeps sources and what their checks came to.
type SourceStore interface {
	CheckStore
	PushStore

	// Source returns one, or a fault.NotFound. Readers is counted.
	Source(ctx context.Context, id int64) (Source, error)
	// SourcesAt returns those whose URL or first URL is url, without a Login first.
	SourcesAt(ctx context.Context, url string) ([]Source, error)
	// KnownSources finds, for each of urls (each once, at most 1,000) that is the URL or first
	// URL of sources, the one that the reader follows, else one without a Login. Where there is
	// neither, the URL is left out.
	KnownSources(ctx context.Context, reader string, urls []string) (map[string]KnownSource, error)
	// Sources lists in order of URL, without Last.
	Sources(ctx context.Context, q SourceQuery) ([]Source, error)
	// ChangeSource hands one source to change and writes State, NextAt and Login of what
	// change makes of it, while nobody else changes it; an error of change's undoes all
	// and is returned. A claim under way loses its right.
	ChangeSource(ctx context.Context, id int64, change func(s *Source) error) (Source, error)
	// Checks returns the last checks of a source, the newest first.
	Checks(ctx context.Context, source int64) ([]Check, error)
	// Hosts returns what is known of hosts; those of which nothing is are left out.
	Hosts(ctx context.Context, hosts []string) (map[string]feedstate.Host, error)
	// CountSources counts sources by their condition at now.
	CountSources(ctx context.Context, now time.Time) (SourceCounts, error)
	// SweepRiver removes, some at a time: items beyond keep of a source, or older than
	// before, that are neither starred nor in its last document; sources that nobody has
	// followed since before and of which nothing is starred. It returns how many rows went.
	SweepRiver(ctx context.Context, keep int, before time.Time, limit int) (int, error)
}

// CheckStore keeps which sources are due, and what their checks came to.
type CheckStore interface {
	// ClaimSources takes up to limit sources whose NextAt has come, oldest first, those
	// with HeardAt set before all others: Claim = claim, NextAt = until.
	ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Source, error)
	// ClaimSource takes one, whether it is due or not, unless somebody else's claim on it
	// lasts (fault.Conflict). fault.NotFound: there is none.
	ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (Source, error)
	// NextSource is the earliest NextAt; the zero time when there is none.
	NextSource(ctx context.Context) (time.Time, error)
	// PutOff gives claimed sources back unread, each with its new NextAt. Those whose
	// claim is another by now are left.
	PutOff(ctx context.Context, list []PutOff) error
	// ReleaseClaims makes every claimed source, reading list and notice due at now: for
	// the start of the only process on a database.
	ReleaseClaims(ctx context.Context, now time.Time) error
	// SaveCheck writes what a check came to, all of it or nothing; false: the claim is
	// another by now, or the source is gone, and nothing was written. The source's
	// NextAt is now when a push was heard after saved.Check.At.
	SaveCheck(ctx context.Context, saved Saved) (bool, error)
	// KnownItems returns what is kept of these items of a source: Hash, At, ReadAt, EditedAt
	// and WithdrawnAt of those that exist.
	KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]Item, error)
}

// PushStore keeps which sources are notified of changes by others.
type PushStore interface {
	// HearSources notes a push: sources whose URL, first URL or Topic is url are due at
	// now, with HeardAt and Heard set, and returns their ids; a claim under way is left
	// to end first. Sources that nobody follows or that are gone are left; and those with a
	// login, of which strangers learn nothing and with which they have nobody asked.
	MarkPushed(ctx context.Context, url, via string, now time.Time) ([]int64, error)
	// NamedSources returns those of urls, at most 1,000, for which HearSources would find
	// a source; their order means nothing.
	NamedSources(ctx context.Context, urls []string) ([]string, error)
	// SourcesUnder lists, in order, the URLs of such sources that begin with prefix and come
	// after one. limit is at most 1,000; 0 means 100.
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// KnownSource is a source that is read already.
type KnownSource struct {
	ID       int64
	Followed bool // by the reader
}

// PutOff is one source that is given back.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Saved is what a check came to.
type Saved struct {
	Source       Source // as it is from now on; Claim is the one that it was claimed with
	Check        Check
	Put          []Item // new and changed ones, whole
	TextFromHTML bool   // the Text of each of Put is TextOf its HTML, and need not be kept
	// Withdrawn are items that are there and that the feed took out: of each only ID, Seq
	// and WithdrawnAt are written, the rest of it stays. Those that are not there are left.
	Withdrawn []Item
	Host      *feedstate.Host // what is known of the host now; nil: as before
	Now       time.Time
}

// SourceQuery selects sources. Zero fields do not restrict.
type SourceQuery struct {
	Match  string // substring of URL or title, case-insensitive
	After  string // URL after which the page starts
	Limit  int    // at most 1,000; 0 means 100
	Broken bool   // only those that are failing or gone
}

// SourceCounts is what the status page tells.
type SourceCounts struct {
	Sources, Followed, Due, Failing, Gone, Pushed int64
	Items                                         int64
	Subscriptions, Readers                        int64
}

// Addition is one feed that a reader is to follow.
type Addition struct {
	Subscription
	Source Source // ID, URL, Login, State, About.Title, NextAt are taken where there is none yet
}

// SubscriptionStore keeps who follows what.
type SubscriptionStore interface {
	CategoryStore

	// RiverSubscribe makes a reader follow sources; those that exist are kept as they are,
	// and of subscriptions that exist the categories are added to. A source that nobody
	// followed, or that has no next check, is due at now again unless it is gone. It
	// returns, for each, whether the subscription is new. ReadTo is set as given.
	// fault.TooMany: one is new, and the reader would have more than most. With most 0 the
	// reader's subscriptions are not counted, which takes longer the more there are.
	RiverSubscribe(ctx context.Context, list []Addition, now time.Time, limit int) ([]bool, error)
	// RiverUnsubscribe ends subscriptions of a reader and returns those of the sources that
	// nobody follows now. They are not checked any more; their items stay until swept.
	RiverUnsubscribe(ctx context.Context, reader string, sources []int64) (orphans []Source, err error)
	// KeepUnfollowed keeps subscriptions of a reader as they are, for RiverResubscribe, and
	// forgets all that were ended before a time. Sources that are not followed are left out.
	KeepUnfollowed(ctx context.Context, reader string, sources []int64, now, before time.Time) error
	// Unfollowed is when a subscription was kept, at since or after it. fault.NotFound.
	Unfollowed(ctx context.Context, reader string, source int64, since time.Time) (time.Time, error)
	// RiverResubscribe brings such a subscription back, whatever the limit of feeds. Errors:
	// fault.NotFound: none is kept; Conflict: the source is followed again.
	RiverResubscribe(ctx context.Context, reader string, source int64, since, now time.Time) error
	// ChangeSubscription hands one to change and writes what change makes of it (Title,
	// Categories, Interval, ReadTo, ListID). The source's State.Interval becomes the
	// shortest that any reader wishes. fault.NotFound: it is not followed.
	ChangeSubscription(ctx context.Context, reader string, source int64, change func(*Subscription) error) (Followed, error)
	// RiverSubscriptions lists those of a reader by name; sources come without Last.
	RiverSubscriptions(ctx context.Context, q SubscriptionQuery) ([]Followed, error)
	// RiverFollowing is the set of sources that a reader follows.
	RiverFollowing(ctx context.Context, reader string) (map[int64]bool, error)
}

// CategoryStore keeps the categories of readers.
type CategoryStore interface {
	// Categories lists those of a reader by name, also empty ones that were made.
	Categories(ctx context.Context, reader string, unread bool) ([]Category, error)
	// PutCategory makes a category, or changes whether it is public.
	PutCategory(ctx context.Context, reader, name string, public bool) error
	// RenameCategory renames; to an existing name it merges. fault.NotFound.
	RenameCategory(ctx context.Context, reader, from, to string) error
	// DropCategory removes it; its sources stay followed.
	DropCategory(ctx context.Context, reader, name string) error
}

// SubscriptionQuery selects subscriptions of one reader. Zero fields do not restrict.
type SubscriptionQuery struct {
	Reader   string
	Category string
	SourceID int64
	ListID   int64
	Match    string // substring of URL or title
	Broken   bool   // failing, gone or moved
	Unread   bool   // count unread items
	None     bool   // only those in no category
	Waiting  bool   // only those whose source was never checked (State.CheckedAt is zero)
	Skip     int    // leave out so many of the first
	Limit    int    // 0: all
}

// ItemStore keeps items and marks.
type ItemStore interface {
	// Items lists entries, the newest first unless the query says otherwise. Item.First is
	// the Seq that the item came with: what is written for an item that is there already
	// never changes it.
	// fault.Invalid: Match cannot be understood.
	Items(ctx context.Context, q ItemQuery) ([]Entry, error)
	// MarkItems sets marks of items; nil leaves what it was. It returns how many items have
	// the marks now: items that the reader neither follows nor has marked are left out. One that is made unread below ReadTo is unread: what
	// is older stays read, and ReadTo is lowered.
	MarkItems(ctx context.Context, reader string, ids []int64, read, starred *bool, now time.Time) (int, error)
	// MarkAllRead makes everything up to an At read, of one source or category, or of all.
	MarkAllRead(ctx context.Context, reader string, source int64, category string, to, now time.Time) error
	// UndoAllRead undoes the last MarkAllRead with the same to, if it was made at since or
	// after it, and returns for how many sources: those that have been marked otherwise since
	// are left.
	UndoAllRead(ctx context.Context, reader string, to, since time.Time) (sources int64, err error)
	// CountUnread counts unread items by source, and gives the newest At of each.
	CountUnread(ctx context.Context, reader string) (map[int64]Unread, error)
	// NewestSeq is the greatest Seq; 0: there are no items.
	NewestSeq(ctx context.Context) (int64, error)
	// Changed lists the items with a Seq after seq, in its order: what other processes
	// read. They come without Content but Title and Link, as those of KnownItems do.
	Changed(ctx context.Context, seq int64, limit int) ([]Item, error)
	// IndexItems makes up to n items that came searchable, and returns how many.
	IndexItems(ctx context.Context, n int) (int, error)
}

// Unread is a source's count.
type Unread struct {
	Items  int64
	Newest time.Time
}

// ReadingListStore keeps reading lists.
type ReadingListStore interface {
	// AddReadingList keeps one as it is given, due at its NextAt. fault.Conflict: the reader has it already.
	AddReadingList(ctx context.Context, l ReadingList) error
	ReadingLists(ctx context.Context, reader string) ([]ReadingList, error)
	// DropReadingList forgets one and makes its subscriptions the reader's own.
	DropReadingList(ctx context.Context, reader string, id int64) error
	ClaimReadingLists(ctx context.Context, now, until time.Time, limit int, claim int64) ([]ReadingList, error)
	// SaveReadingList writes what reading it came to, Memory too, and ends the claim;
	// false: the claim is another by now. A NextAt of zero is never.
	SaveReadingList(ctx context.Context, l ReadingList) (bool, error)
	// NextWork is when a reading list or a notice is due next; zero: never.
	NextWork(ctx context.Context) (time.Time, error)
}
