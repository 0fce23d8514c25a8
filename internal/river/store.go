package river

import (
	"context"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/rail"
)

// Store is the database of a river. Each method is one transaction, and its changes are on disk
// when it returns nil. Times are in UTC with millisecond precision; the caller passes the current
// time. Errors: fault.Unavailable: the database is down or full; and the errors in the comment of
// each method. Any other error is a bug.
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

	// Source returns one source with its number of Readers. fault.NotFound: the source does not
	// exist.
	Source(ctx context.Context, id int64) (Source, error)
	// SourcesAt returns the sources whose URL or first URL is url. Sources without a Login come
	// first.
	SourcesAt(ctx context.Context, url string) ([]Source, error)
	// KnownSources finds the source for each of at most 1,000 different urls, by URL or first
	// URL. A source that the user follows takes precedence over a source without a Login. The
	// result has no entry for a URL without a source.
	KnownSources(ctx context.Context, user string, urls []string) (map[string]KnownSource, error)
	// SourceTitles returns the titles of sources without a Login. The key is the source's current
	// URL, which is one of at most 1,000 urls. The result has no entry for a URL without a title.
	SourceTitles(ctx context.Context, urls []string) (map[string]string, error)
	// Sources lists sources in order of URL. The field Last of the sources is not set.
	Sources(ctx context.Context, q SourceQuery) ([]Source, error)
	// ChangeSource passes one source to change, with exclusive access, and writes the State,
	// NextAt and Login that change set. If change returns an error, ChangeSource writes nothing
	// and returns the error. A claim in progress becomes invalid.
	ChangeSource(ctx context.Context, id int64, change func(s *Source) error) (Source, error)
	// Checks returns the last checks of a source, newest first.
	Checks(ctx context.Context, source int64) ([]Check, error)
	// Hosts returns the state of hosts. The result has no entry for a host without a state.
	Hosts(ctx context.Context, hosts []string) (map[string]polling.Host, error)
	// CountSources counts sources by their condition at the time now.
	CountSources(ctx context.Context, now time.Time) (SourceCounts, error)
	// SweepRiver removes up to limit rows and returns how many it removed. It removes items
	// beyond the keep newest per source, and items older than before, unless they are starred or
	// in the last document. It also removes sources that have had no followers since before and
	// have no starred items.
	SweepRiver(ctx context.Context, keep int, before time.Time, limit int) (int, error)
}

// CheckStore stores when sources are due, and the results of their checks.
type CheckStore interface {
	// ClaimSources claims up to limit due sources: first the pushed sources (with PushedAt), then
	// the others in order of NextAt. It sets Claim to claim and NextAt to until.
	ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Source, error)
	// ClaimSource claims one source, whether the source is due or not. Errors: fault.Conflict:
	// another claim has not expired; NotFound: the source does not exist.
	ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (Source, error)
	// NextSource returns the earliest NextAt of all sources; zero: no source has one.
	NextSource(ctx context.Context) (time.Time, error)
	// PlanChecks passes each of the sources to plan, with exclusive access, and writes the State and
	// NextAt of those for which plan returns true. It ends their claims, and returns their number.
	// It ignores IDs without a source. The field Last of the sources is not set.
	PlanChecks(ctx context.Context, ids []int64, plan func(s *Source) bool) (int, error)
	// PutOff releases claimed sources without a check, and sets the new NextAt of each. Sources
	// with another claim stay unchanged.
	PutOff(ctx context.Context, list []PutOff) error
	// ReleaseClaims makes every claimed source, reading list and forwarding due at now. Only the
	// single process on a database calls it, at its start.
	ReleaseClaims(ctx context.Context, now time.Time) error
	// SaveCheck writes the result of a check, either all of it or nothing. It returns false and
	// writes nothing if the claim changed or the source no longer exists. If a push arrived after
	// saved.Check.At, the source is due now.
	SaveCheck(ctx context.Context, saved Saved) (bool, error)
	// KnownItems returns the stored items with these IDs. Of each item, only Hash, At, ReadAt,
	// EditedAt and WithdrawnAt are set.
	KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]Item, error)
}

// PushStore records pushes of sources.
type PushStore interface {
	// MarkPushed records a push: sources whose URL, first URL or Topic is url become due at now,
	// with PushedAt and PushedVia set. It returns their IDs and ends their claims. It skips
	// sources without followers and sources that are gone. It also skips sources with a login,
	// because others must not learn about them.
	MarkPushed(ctx context.Context, url, via string, now time.Time) ([]int64, error)
	// NamedSources returns the URLs (of at most 1,000 urls) for which MarkPushed would find a
	// source, in any order.
	NamedSources(ctx context.Context, urls []string) ([]string, error)
	// SourcesUnder lists, in order, the URLs of sources that begin with prefix and come after the
	// URL after. The sources are followed, not gone, and without a login. limit is at most 1,000;
	// 0 means 100.
	SourcesUnder(ctx context.Context, prefix, after string, limit int) ([]string, error)
}

// KnownSource is a source that KnownSources found.
type KnownSource struct {
	ID       int64
	Followed bool   // true if the user follows the source
	Title    string // the feed's own title; "": the source was never read, or the feed has no title
}

// PutOff describes the release of one claimed source.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Saved is the result of a check that SaveCheck stores.
type Saved struct {
	Source       Source // new state of the source; Claim is the claim of the check
	Check        Check
	Put          []Item // new and changed items, with all their fields
	TextFromHTML bool   // true if the Text of each item in Put equals TextOf its HTML, so that Text need not be stored
	// Withdrawn contains the stored items that the feed removed. Only ID, Seq and WithdrawnAt are
	// written; other fields stay. Items that are not stored are skipped.
	Withdrawn []Item
	Host      *polling.Host // new state of the host; nil: the state did not change
	Now       time.Time
}

// SourceQuery selects sources. A zero field does not restrict the result.
type SourceQuery struct {
	Match  string // substring of the URL or title, regardless of case
	After  string // URL after which the result starts, in order of URL
	Limit  int    // maximum number of sources, at most 1,000; 0 means 100
	Broken bool   // only sources that are failing or gone
}

// SourceCounts contains the numbers of sources, items and users on the status page.
type SourceCounts struct {
	Sources, Followed, Due, Failing, Gone, Pushed int64
	Items                                         int64
	Subscriptions, Readers                        int64
}

// Addition is one feed that a user adds.
type Addition struct {
	Subscription
	Source   Source // the source; only for a new source, its ID, URL, Login, State, About.Title and NextAt are written
	Replaces int64  // ID of a source whose forwardings and filters of this user move to Source; 0: none
}

// SubscriptionStore stores the subscriptions of users.
type SubscriptionStore interface {
	CategoryStore

	// RiverSubscribe adds subscriptions. An existing source stays unchanged, and an existing
	// subscription gets additional categories. A source without followers or without a next check
	// becomes due at now, unless it is gone. ReadTo is stored unchanged. The result has true for
	// each new subscription. fault.TooMany: a subscription is new, and the user would have more
	// than limit. With limit 0, the user's subscriptions are not counted, which saves time in
	// proportion to their number.
	RiverSubscribe(ctx context.Context, list []Addition, now time.Time, limit int) ([]bool, error)
	// RiverUnsubscribe ends subscriptions of a user and returns the sources that have no
	// followers now. These sources are not checked any more; their items stay until a sweep.
	RiverUnsubscribe(ctx context.Context, user string, sources []int64) (orphans []Source, err error)
	// KeepUnfollowed stores copies of a user's subscriptions for RiverResubscribe, and removes
	// copies older than before. It skips sources that the user does not follow.
	KeepUnfollowed(ctx context.Context, user string, sources []int64, now, before time.Time) error
	// Unfollowed returns the time at which KeepUnfollowed stored the copy of a subscription.
	// fault.NotFound: there is no copy, or the copy is older than since.
	Unfollowed(ctx context.Context, user string, source int64, since time.Time) (time.Time, error)
	// RiverResubscribe restores a subscription from the copy of KeepUnfollowed, regardless of the
	// feed limit. Errors: fault.NotFound: there is no copy, or the copy is older than since;
	// Conflict: the user follows the source again.
	RiverResubscribe(ctx context.Context, user string, source int64, since, now time.Time) error
	// ChangeSubscription passes a subscription to change, and writes the Title, Categories,
	// Interval, ReadTo and ListID that change set. The source's State.Interval becomes the
	// shortest Interval of all followers. fault.NotFound: the user does not follow the source.
	ChangeSubscription(ctx context.Context, user string, source int64, change func(*Subscription) error) (Followed, error)
	// RiverSubscriptions lists the subscriptions of a user in the order of q.Sort. The field Last
	// of their sources is not set.
	RiverSubscriptions(ctx context.Context, q SubscriptionQuery) ([]Followed, error)
	// FollowersOf returns the names, sorted, of at most limit users who follow one of the sources.
	FollowersOf(ctx context.Context, sources []int64, limit int) ([]string, error)
	// RiverFollowing returns the set of IDs of the sources that a user follows.
	RiverFollowing(ctx context.Context, user string) (map[int64]bool, error)
}

// CategoryStore stores the categories of users.
type CategoryStore interface {
	// Categories lists the categories of a user by name, including empty categories that the user
	// created. With unread, the result includes unread counts.
	Categories(ctx context.Context, user string, unread bool) ([]Category, error)
	// PutCategory creates a category, or changes whether it is public.
	PutCategory(ctx context.Context, user, name string, public bool) error
	// RenameCategory renames a category. If the new name exists, both categories are merged.
	// fault.NotFound: the category does not exist.
	RenameCategory(ctx context.Context, user, from, to string) error
	// DropCategory removes a category. The user still follows its sources.
	DropCategory(ctx context.Context, user, name string) error
}

// SubscriptionQuery selects subscriptions of one user. A zero field does not restrict the result.
type SubscriptionQuery struct {
	Reader   string
	Category string
	SourceID int64
	ListID   int64
	Match    string // substring of the URL or title
	Broken   bool   // only sources that are failing, gone or moved
	Unread   bool   // true: also count unread items
	None     bool   // true: only subscriptions without a category
	Waiting  bool   // only sources that were never checked (State.CheckedAt is zero)
	Next     bool   // also set Followed.Next; only River.Subscriptions supports this
	Sort     SubscriptionSort
	Skip     int // number of leading results to leave out
	Limit    int // maximum number of results; 0: all
}

// SubscriptionSort is an order of subscriptions. Subscriptions that are equal in this order are
// sorted by name.
type SubscriptionSort string

// Values of SubscriptionSort.
const (
	SortName    SubscriptionSort = ""        // by name, in ascending order
	SortNewest  SubscriptionSort = "newest"  // by the time of the newest item, the latest first
	SortUnread  SubscriptionSort = "unread"  // by the number of unread items, the highest first
	SortFailure SubscriptionSort = "failure" // failing and gone sources first, in order of their last check
	SortAdded   SubscriptionSort = "added"   // by the time at which the user added the feed, the latest first
)

// ItemStore stores items and marks.
type ItemStore interface {
	// Items lists entries, newest first unless the query sets another order. Item.First is the
	// first Seq of the item, which stays the same if the item is written again. fault.Invalid:
	// Match is malformed.
	Items(ctx context.Context, q ItemQuery) ([]Entry, error)
	// MarkItems sets marks of items; nil leaves a mark unchanged. It returns how many items have
	// the marks now. It skips items that the user neither follows nor has marked. If the user
	// marks an item with At below ReadTo as unread, ReadTo decreases, and older items stay read.
	MarkItems(ctx context.Context, user string, ids []int64, read, starred *bool, now time.Time) (int, error)
	// MarkAllRead marks as read all items with At up to to. It marks the items of one source, of
	// one category, or of all sources. If to is before now, the user cannot have seen items with
	// First (Unix microseconds) after to, or items of sources with AddedAt after to: they stay
	// unread. A to that equals the At of an item counts as the time at which that item arrived.
	MarkAllRead(ctx context.Context, user string, source int64, category string, to, now time.Time) error
	// UndoAllRead undoes the user's last call of MarkAllRead with the same argument to, unless
	// that call is older than since. It returns the number of restored sources. A source whose
	// items were marked again since that call stays unchanged.
	UndoAllRead(ctx context.Context, user string, to, since time.Time) (sources int64, err error)
	// NewestSeq returns the highest Seq of all items; 0: there are no items.
	NewestSeq(ctx context.Context) (int64, error)
	// Changed lists the items with a Seq above seq, in order of Seq. A process calls it to find
	// the items that other processes stored. Of their Content, only Title and Link are set.
	Changed(ctx context.Context, seq int64, limit int) ([]Item, error)
	// IndexItems makes up to n new items searchable, and returns how many it indexed.
	IndexItems(ctx context.Context, n int) (int, error)
}

// CountStore counts unread items. To stay fast, its methods read the subscriptions of a user and
// no items.
type CountStore interface {
	// CountUnread returns the number of unread items and the newest At for each source of a user,
	// by source ID. Sources without unread items are left out.
	CountUnread(ctx context.Context, user string) (map[int64]Unread, error)
	// RiverRail lists the feeds that a user follows.
	RiverRail(ctx context.Context, q rail.Query) (rail.List, error)
}

// Unread contains the number of unread items of a source, and the time of the newest one.
type Unread struct {
	Items  int64
	Newest time.Time
}

// ReadingListStore stores reading lists.
type ReadingListStore interface {
	// AddReadingList stores a new list, which is due at its NextAt. fault.Conflict: the user
	// already has the list.
	AddReadingList(ctx context.Context, l ReadingList) error
	ReadingLists(ctx context.Context, user string) ([]ReadingList, error)
	// DropReadingList removes a list. The subscriptions that the list added become the user's
	// own.
	DropReadingList(ctx context.Context, user string, id int64) error
	ClaimReadingLists(ctx context.Context, now, until time.Time, limit int, claim int64) ([]ReadingList, error)
	// SaveReadingList writes the result of a check of a list, including Memory, and ends the
	// claim. With a zero NextAt, the list is never due. The result is false if the claim is no
	// longer valid.
	SaveReadingList(ctx context.Context, l ReadingList) (bool, error)
	// NextReadingList returns the earliest time at which a list is due; zero: no list is due.
	NextReadingList(ctx context.Context) (time.Time, error)
}
