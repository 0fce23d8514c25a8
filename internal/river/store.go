package river

import (
	"context"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

// Store is the database of a river. Each method is one transaction and is on disk when it returns
// nil. Times are in UTC with millisecond precision; the caller passes every "now". Errors are
// fault.Unavailable when the database is down or full, and those that a method names; any other
// error is a bug.
type Store interface {
	SourceStore
	SubscriptionStore
	ItemStore
	CountStore
	ReadingListStore
	forward.Store
	filter.Store
}

// SourceStore stores sources and the results of their checks.
type SourceStore interface {
	CheckStore
	PushStore

	// Source returns one source with its number of Readers, or fault.NotFound.
	Source(ctx context.Context, id int64) (Source, error)
	// SourcesAt returns the sources whose URL or first URL is url, sources without a Login first.
	SourcesAt(ctx context.Context, url string) ([]Source, error)
	// KnownSources finds the source for each of urls (each once, at most 1,000), by URL or first
	// URL: the one that the user follows, else one without a Login. URLs without a source are left
	// out.
	KnownSources(ctx context.Context, user string, urls []string) (map[string]KnownSource, error)
	// SourceTitles returns the titles of sources without a Login by their current URL, for those of
	// urls (at most 1,000) that have one.
	SourceTitles(ctx context.Context, urls []string) (map[string]string, error)
	// Sources lists sources in order of URL, without Last.
	Sources(ctx context.Context, q SourceQuery) ([]Source, error)
	// ChangeSource passes one source to change and writes the State, NextAt and Login that change
	// set, with exclusive access. An error of change rolls everything back and is returned. A
	// claim in progress becomes invalid.
	ChangeSource(ctx context.Context, id int64, change func(s *Source) error) (Source, error)
	// Checks returns the last checks of a source, newest first.
	Checks(ctx context.Context, source int64) ([]Check, error)
	// Hosts returns the state of hosts; hosts without one are left out.
	Hosts(ctx context.Context, hosts []string) (map[string]polling.Host, error)
	// CountSources counts sources by their condition at now.
	CountSources(ctx context.Context, now time.Time) (SourceCounts, error)
	// SweepRiver removes up to limit rows: items beyond keep per source or older than before, if
	// they are neither starred nor in the last document; and sources without followers since
	// before and without starred items. It returns how many rows it removed.
	SweepRiver(ctx context.Context, keep int, before time.Time, limit int) (int, error)
}

// CheckStore stores which sources are due, and the results of their checks.
type CheckStore interface {
	// ClaimSources claims up to limit due sources, pushed ones (with PushedAt) first, then by
	// NextAt. It sets Claim = claim and NextAt = until.
	ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Source, error)
	// ClaimSource claims one source, whether it is due or not. Errors: fault.Conflict (another
	// claim lasts), NotFound.
	ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (Source, error)
	// NextSource returns the earliest NextAt; the zero time without any.
	NextSource(ctx context.Context) (time.Time, error)
	// PutOff releases claimed sources unread, each with its new NextAt. Sources with another claim
	// are left unchanged.
	PutOff(ctx context.Context, list []PutOff) error
	// ReleaseClaims makes every claimed source, reading list and forwarding due at now, at the
	// start of the only process on a database.
	ReleaseClaims(ctx context.Context, now time.Time) error
	// SaveCheck writes the result of a check, all of it or nothing. It returns false and writes
	// nothing when the claim changed or the source is gone. After a push since saved.Check.At, the
	// source is due now.
	SaveCheck(ctx context.Context, saved Saved) (bool, error)
	// KnownItems returns the stored items with these IDs, with Hash, At, ReadAt, EditedAt and
	// WithdrawnAt only.
	KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]Item, error)
}

// PushStore stores which sources were pushed.
type PushStore interface {
	// MarkPushed records a push: sources whose URL, first URL or Topic is url become due at now,
	// with PushedAt and PushedVia set. It returns their IDs. A claim in progress ends first. It
	// skips sources without followers, sources that are gone, and sources with a login, about
	// which others must learn nothing.
	MarkPushed(ctx context.Context, url, via string, now time.Time) ([]int64, error)
	// NamedSources returns those of urls, at most 1,000, for which MarkPushed would find a source,
	// in any order.
	NamedSources(ctx context.Context, urls []string) ([]string, error)
	// SourcesUnder lists, in order, the URLs of such sources (followed, not gone, without a login)
	// that begin with prefix and follow after. limit is at most 1,000; 0 means 100.
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// KnownSource is a source that exists already.
type KnownSource struct {
	ID       int64
	Followed bool // by the user
}

// PutOff releases one claimed source.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Saved is the result of a check.
type Saved struct {
	Source       Source // its new state; Claim is the claim of the check
	Check        Check
	Put          []Item // new and changed items, complete
	TextFromHTML bool   // the Text of each item in Put is TextOf its HTML, and need not be stored
	// Withdrawn are stored items that the feed removed. Only ID, Seq and WithdrawnAt are written,
	// other fields stay. Items that are not stored are skipped.
	Withdrawn []Item
	Host      *polling.Host // new state of the host; nil: unchanged
	Now       time.Time
}

// SourceQuery selects sources. Zero fields do not restrict.
type SourceQuery struct {
	Match  string // substring of URL or title, case-insensitive
	After  string // URL after which the result starts
	Limit  int    // at most 1,000; 0 means 100
	Broken bool   // only failing sources and sources that are gone
}

// SourceCounts are the numbers of the status page.
type SourceCounts struct {
	Sources, Followed, Due, Failing, Gone, Pushed int64
	Items                                         int64
	Subscriptions, Readers                        int64
}

// Addition is one feed that a user adds.
type Addition struct {
	Subscription
	Source Source // for a new source: ID, URL, Login, State, About.Title and NextAt are written
}

// SubscriptionStore stores the subscriptions of users.
type SubscriptionStore interface {
	CategoryStore

	// RiverSubscribe adds subscriptions. An existing source stays as it is, and an existing
	// subscription gets the categories added. A source without followers or without a next check
	// becomes due at now, unless it is gone. ReadTo is stored as passed. The result has true for
	// each new subscription. fault.TooMany: a subscription is new and the user would have more
	// than limit. With limit 0 the user's subscriptions are not counted, which takes time in
	// proportion to their number.
	RiverSubscribe(ctx context.Context, list []Addition, now time.Time, limit int) ([]bool, error)
	// RiverUnsubscribe ends subscriptions of a user and returns the sources that have no followers
	// now. They are not checked any more; their items stay until a sweep.
	RiverUnsubscribe(ctx context.Context, user string, sources []int64) (orphans []Source, err error)
	// KeepUnfollowed stores copies of a user's subscriptions for RiverResubscribe, and drops
	// copies from before a time. Sources that the user does not follow are skipped.
	KeepUnfollowed(ctx context.Context, user string, sources []int64, now, before time.Time) error
	// Unfollowed returns the time at which KeepUnfollowed stored the copy of a subscription.
	// fault.NotFound if there is no copy, or if it is older than since.
	Unfollowed(ctx context.Context, user string, source int64, since time.Time) (time.Time, error)
	// RiverResubscribe restores such a copy, whatever the limit of feeds. Errors: fault.NotFound:
	// there is no copy; Conflict: the user follows the source again.
	RiverResubscribe(ctx context.Context, user string, source int64, since, now time.Time) error
	// ChangeSubscription passes a subscription to change and writes the Title, Categories,
	// Interval, ReadTo and ListID that change set. The source's State.Interval becomes the
	// shortest one of all followers. fault.NotFound: the user does not follow it.
	ChangeSubscription(ctx context.Context, user string, source int64, change func(*Subscription) error) (Followed, error)
	// RiverSubscriptions lists the subscriptions of a user in the order of q.Sort; sources come
	// without Last.
	RiverSubscriptions(ctx context.Context, q SubscriptionQuery) ([]Followed, error)
	// RiverFollowing returns the set of sources that a user follows.
	RiverFollowing(ctx context.Context, user string) (map[int64]bool, error)
}

// CategoryStore stores the categories of users.
type CategoryStore interface {
	// Categories lists the categories of a user by name, including empty ones that the user
	// created.
	Categories(ctx context.Context, user string, unread bool) ([]Category, error)
	// PutCategory creates a category, or changes whether it is public.
	PutCategory(ctx context.Context, user, name string, public bool) error
	// RenameCategory renames a category; an existing name merges both. fault.NotFound.
	RenameCategory(ctx context.Context, user, from, to string) error
	// DropCategory removes a category; its sources stay followed.
	DropCategory(ctx context.Context, user, name string) error
}

// SubscriptionQuery selects subscriptions of one user. Zero fields do not restrict.
type SubscriptionQuery struct {
	Reader   string
	Category string
	SourceID int64
	ListID   int64
	Match    string // substring of URL or title
	Broken   bool   // failing, gone or moved
	Unread   bool   // also count unread items
	None     bool   // only subscriptions without a category
	Waiting  bool   // only sources without a check so far (State.CheckedAt is zero)
	Next     bool   // also set Followed.Next; for River.Subscriptions
	Sort     SubscriptionSort
	Skip     int // number of leading results to leave out
	Limit    int // 0: all
}

// SubscriptionSort is an order of subscriptions. Equal ones are in order of their names.
type SubscriptionSort string

// The orders of subscriptions.
const (
	SortName    SubscriptionSort = ""        // by name
	SortNewest  SubscriptionSort = "newest"  // by the newest item, the latest first
	SortUnread  SubscriptionSort = "unread"  // by unread items, the most first
	SortFailure SubscriptionSort = "failure" // failing and gone sources first, by their last check
	SortAdded   SubscriptionSort = "added"   // by the time at which the user added them, the latest first
)

// ItemStore stores items and marks.
type ItemStore interface {
	// Items lists entries, newest first unless the query sets another order. Item.First is the
	// first Seq of the item; writing the item again does not change it. fault.Invalid: Match is
	// malformed.
	Items(ctx context.Context, q ItemQuery) ([]Entry, error)
	// MarkItems sets marks of items; nil leaves a mark unchanged. It returns how many items have
	// the marks now. Items that the user neither follows nor has marked are left out. Marking an
	// item below ReadTo as unread lowers ReadTo, and older items stay read.
	MarkItems(ctx context.Context, user string, ids []int64, read, starred *bool, now time.Time) (int, error)
	// MarkAllRead marks everything up to an At as read, of one source or category, or of all.
	MarkAllRead(ctx context.Context, user string, source int64, category string, to, now time.Time) error
	// UndoAllRead undoes the last MarkAllRead of the user whose argument to was the same, unless
	// that call is older than since. It returns the number of restored sources. A source with
	// another mark since then stays unchanged.
	UndoAllRead(ctx context.Context, user string, to, since time.Time) (sources int64, err error)
	// NewestSeq returns the greatest Seq; 0: there are no items.
	NewestSeq(ctx context.Context) (int64, error)
	// Changed lists the items with a Seq above seq, in that order, so that a process sees the
	// items of others. Their Content has only Title and Link.
	Changed(ctx context.Context, seq int64, limit int) ([]Item, error)
	// IndexItems makes up to n new items searchable, and returns how many.
	IndexItems(ctx context.Context, n int) (int, error)
}

// CountStore counts unread items. Its methods read the subscriptions of a user and no items.
type CountStore interface {
	// CountUnread returns the number of unread items by source, and the newest At of each. Sources
	// without unread items are left out.
	CountUnread(ctx context.Context, user string) (map[int64]Unread, error)
	// RiverRail lists the feeds that a user follows by title, regardless of case.
	RiverRail(ctx context.Context, user string) ([]RailFeed, error)
}

// Unread is the unread count of a source.
type Unread struct {
	Items  int64
	Newest time.Time
}

// ReadingListStore stores reading lists.
type ReadingListStore interface {
	// AddReadingList stores a new list, due at its NextAt. fault.Conflict: the user has it
	// already.
	AddReadingList(ctx context.Context, l ReadingList) error
	ReadingLists(ctx context.Context, user string) ([]ReadingList, error)
	// DropReadingList removes a list and makes its subscriptions the user's own.
	DropReadingList(ctx context.Context, user string, id int64) error
	ClaimReadingLists(ctx context.Context, now, until time.Time, limit int, claim int64) ([]ReadingList, error)
	// SaveReadingList writes the result of a check of a list, including Memory, and ends the
	// claim. false: the claim changed meanwhile. A zero NextAt means never.
	SaveReadingList(ctx context.Context, l ReadingList) (bool, error)
	// NextReadingList returns when a list is due next; zero: never.
	NextReadingList(ctx context.Context) (time.Time, error)
}
