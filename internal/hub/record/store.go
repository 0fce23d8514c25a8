// Package record defines the hub's stored data and its Store.
package record

import (
	"context"
	"errors"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/validator"
)

// ErrLost means that a claim expired and another node continues. This node must not write any more
// results.
var ErrLost = errors.New("hub: the claim was lost")

// Store is the hub's database. Each method is one transaction and is on disk when it returns nil.
// If processes share the database, a call of Subscribe, Unsubscribe, Request, Announce, Settle or
// AppendEvents is one transaction per topic: if the call fails, the transactions of some topics may
// have been committed. Times are UTC with millisecond precision; every "now" is a parameter. Errors
// are fault.Unavailable if the database is unreachable or full; any other error is a bug.
//
// Events are stamped by the caller and written in the method's transaction.
type Store interface {
	TopicStore
	SubscriptionStore
	IntentStore
	ChangeStore
	CheckStore
	DeliveryStore
	UpkeepStore
	LogStore
	DatabaseStore
}

// TopicStore stores topics and finds those with subscribers.
type TopicStore interface {
	// Topic returns one topic, or a fault.NotFound.
	Topic(ctx context.Context, id int64) (Topic, error)
	// Subscribers returns the number of live subscriptions of a topic, by protocol.
	Subscribers(ctx context.Context, topicID int64, now time.Time) (map[string]int64, error)
	// Topics lists topics; see [TopicQuery].
	Topics(ctx context.Context, q TopicQuery) ([]TopicInfo, error)
	// Followed reports whether any live subscription of the topic exists.
	Followed(ctx context.Context, topicID int64, now time.Time) (bool, error)
	// Following returns the topics with live subscriptions that match any of the URLs: first the
	// topics whose own URL matches, in the order of urls; then topics whose About.Self or
	// About.Home matches, up to limit in total, beginning with those on the host of the URL. For
	// Self and Home a trailing slash of the path is ignored, and the usual spellings of a topic's
	// URL, Self and Home match too. after is 0; any other value lists only the topics on the host
	// of the URL whose Self or Home matches, in the order of their IDs, with IDs greater than after.
	Following(ctx context.Context, urls []string, after int64, now time.Time, limit int) ([]Topic, error)
	// FollowedUnder lists, in order, the URLs of topics with live subscriptions that begin with
	// prefix and are greater than after. limit is at most 1,000; 0 means 100.
	FollowedUnder(ctx context.Context, prefix, after string, now time.Time, limit int) ([]string, error)
	// SetAbout replaces the description of a topic, if the topic exists.
	SetAbout(ctx context.Context, topicID int64, about About) error
	// Content returns the stored content of a topic, or a fault.NotFound.
	Content(ctx context.Context, topicID int64) (Content, error)
}

// SubscriptionStore stores subscriptions.
type SubscriptionStore interface {
	// Subscribe adds or renews subscriptions. A new topic gets its row and one shard over all
	// buckets. A renewal (same topic, protocol and callback) replaces Procedure, Secret, RenewedAt
	// and ExpiresAt, sets Failures and Tries to 0 and FailingSince to the zero time, and leaves
	// CreatedAt and pending deliveries unchanged. A WebSub subscription sets KeepContent of its
	// topic.
	Subscribe(ctx context.Context, topics []string, subs []Subscription, events []event.Event) error
	// Unsubscribe removes the subscriptions with these keys and returns them as they were. It
	// ignores keys without a subscription.
	Unsubscribe(ctx context.Context, keys []Key, events []event.Event) ([]Subscription, error)
	// Subscription returns one subscription, or a fault.NotFound.
	Subscription(ctx context.Context, key Key) (Subscription, error)
	// Subscriptions lists subscriptions in the order of (TopicID, ID).
	Subscriptions(ctx context.Context, q SubscriptionQuery) ([]SubscriptionInfo, error)
}

// IntentStore stores requests for subscriptions until they are verified.
type IntentStore interface {
	// Request stores intents, each due at its DueAt. An intent with the same TopicID and ID is
	// replaced, which invalidates its Claim. Request does not create the topic's row.
	Request(ctx context.Context, list []Intent, events []event.Event) error
	// ClaimIntents claims up to limit due intents, oldest first. It sets their Claim to claim and
	// DueAt to until.
	ClaimIntents(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Intent, error)
	// FinishIntent stores the outcome of an intent; see [IntentResult]. applied is false if the
	// intent was replaced or finished; then nothing is written. A confirmed intent removes an older
	// intent of the opposite mode for the same callback and topic.
	FinishIntent(ctx context.Context, d IntentResult) (applied bool, err error)
	// Intents counts pending intents.
	Intents(ctx context.Context) (int64, error)
}

// ChangeStore stores recent changes.
type ChangeStore interface {
	// Announce adds recent changes and stores pings as RecordPing does, all due at due.
	Announce(ctx context.Context, list []Change, pings []string, now, due time.Time, events []event.Event) error
	// Changes reads recent changes; see [ChangeQuery].
	Changes(ctx context.Context, q ChangeQuery) ([]Change, error)
	// CountChanges counts all changes ever listed, including trimmed ones.
	CountChanges(ctx context.Context) (int64, error)
	// TrimChanges removes up to limit changes older than before, and returns how many.
	TrimChanges(ctx context.Context, before time.Time, limit int) (int, error)
}

// CheckStore stores pings and the outcomes of checks.
type CheckStore interface {
	// RecordPing stores a ping that no check has answered yet: it creates the topic if needed,
	// sets PingedAt to now (never backwards), and makes the topic due at due.
	RecordPing(ctx context.Context, url string, now, due time.Time, events []event.Event) error
	// ClaimChecks claims up to limit topics whose pending ping or AgainAt is due. It sets their due
	// time to until, so that no other node claims them before.
	ClaimChecks(ctx context.Context, now, until time.Time, limit int) ([]Topic, error)
	// CommitCheck writes the outcome of one check; see [Check].
	CommitCheck(ctx context.Context, c Check) (Checked, error)
}

// DeliveryStore stores the progress of notifications.
type DeliveryStore interface {
	// ClaimShards claims up to limit due shards for node, oldest first. It sets their owner to
	// node, raises their Epoch by one, and makes them due at until.
	ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]Shard, error)
	// Batch returns up to limit subscriptions of the shard with id > after, in order of id, that
	// are live at now. It does not write. It sets only the key, Protocol, Callback, Procedure,
	// Secret, Failures, FailingSince, Tries, NextAt, Counted and Sent.
	Batch(ctx context.Context, shard Shard, after int64, now time.Time, limit int) ([]Subscription, error)
	// Checkpoint stores the outcome of batches; see [Checkpoint]. ErrLost: nothing was written.
	Checkpoint(ctx context.Context, c Checkpoint) (again bool, err error)
	// ReleaseShards makes shards of this node due at now without changing Pos, for a graceful
	// stop. It ignores shards with another epoch.
	ReleaseShards(ctx context.Context, now time.Time, shards []Shard) error
	// Split divides the shards of a topic into at least n even ranges. It never joins shards. A
	// topic of which any shard has a version to deliver stays unchanged.
	Split(ctx context.Context, topicID int64, n int) error
	// ClaimRetries claims up to limit subscriptions whose NextAt has passed, oldest first. It sets
	// their Claim to claim and NextAt to until. Expired subscriptions are not returned; their
	// NextAt is cleared.
	ClaimRetries(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Retry, error)
	// Settle stores outcomes of deliveries outside batches.
	Settle(ctx context.Context, now time.Time, results []Result, events []event.Event) error
}

// UpkeepStore finds due rows and removes obsolete ones.
type UpkeepStore interface {
	// Sweep removes up to limit subscriptions that are expired at now or have at least maxErrors
	// Failures (rssCloud protocols only), and returns them as they were. It also removes topics
	// without subscribers or pings since idle, contents that no shard or pending delivery needs,
	// and KeepContent of topics without WebSub subscriptions, up to limit of each kind. more
	// reports that more rows can probably be removed.
	Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]SubscriptionInfo) []event.Event) (gone []SubscriptionInfo, more bool, err error)
	// ClaimTask returns true for one caller in the cluster if the task is due at now. A task that
	// never ran is due from first on. ClaimTask makes the task due again at next.
	ClaimTask(ctx context.Context, name string, now, first, next time.Time) (won bool, err error)
	// Recover makes all rows that an earlier run of this program claimed due at now. If several
	// processes share the store, it does nothing.
	Recover(ctx context.Context, now time.Time) error
	// NextDue returns the earliest due time of a shard, retry, pending check or intent, or the zero
	// time if nothing is due.
	NextDue(ctx context.Context) (time.Time, error)
}

// LogStore stores the log and the history.
type LogStore interface {
	// AppendEvents writes events that belong to no other transaction.
	AppendEvents(ctx context.Context, events []event.Event) error
	// Events reads the log; see [EventQuery].
	Events(ctx context.Context, q EventQuery) ([]event.Event, error)
	// TrimEvents removes up to limit events older than before, and returns how many.
	TrimEvents(ctx context.Context, before time.Time, limit int) (int, error)
	// Counts counts rows; on a large store it may take a while (see Hub.Counts).
	Counts(ctx context.Context, now time.Time) (Counts, error)
	// SaveMinute adds one row of the history. Minutes returns the rows since a time, in order of
	// time.
	SaveMinute(ctx context.Context, m Minute) error
	Minutes(ctx context.Context, since time.Time) ([]Minute, error)
}

// DatabaseStore is the database as a whole.
type DatabaseStore interface {
	// Backup writes a consistent copy to a file that must not exist yet. It returns
	// fault.Unsupported if the database has its own backup tool.
	Backup(ctx context.Context, file string) error
	// Ping reports whether the store can be reached and written to.
	Ping(ctx context.Context) error
	Close() error
}

// TopicOrder is the sort order of a list of topics.
type TopicOrder string

// Orders of a list of topics. TopicsByURL is ascending. The other orders are descending; equal
// values are ordered by id. TopicsBySubscribers counts all subscriptions, so its cost grows with
// their number.
const (
	TopicsByURL         TopicOrder = ""
	TopicsByChange      TopicOrder = "changed"     // by ChangedAt
	TopicsBySubscribers TopicOrder = "subscribers" // by the number of live subscriptions
)

// TopicPlace is the position of a topic in a list that is sorted by change or by number of
// subscribers.
type TopicPlace struct {
	Value int64 // ChangedAt in milliseconds, or the number of subscribers
	ID    int64
}

// TopicQuery selects topics. The zero query selects the first page in order of URL.
type TopicQuery struct {
	Match  string // substring of the URL or title, case-insensitive
	Order  TopicOrder
	After  string     // order by URL: the list starts after this URL
	Behind TopicPlace // other orders: the list starts after this position; zero: at the beginning
	IDs    []int64    // only these topics, at most 1,000; then Subscribers is not counted
	Limit  int        // at most 1,000; 0 means 100
	Now    time.Time
}

// TopicInfo is a topic with the number of its live subscriptions.
type TopicInfo struct {
	Topic
	Subscribers int64
}

// SubscriptionQuery selects subscriptions. Zero fields do not restrict.
type SubscriptionQuery struct {
	TopicID  int64
	Protocol string
	Match    string // substring of the callback or of the topic's URL, case-insensitive
	After    Key
	Limit    int // at most 1,000; 0 means 100
}

// SubscriptionInfo is a subscription with its topic's URL.
type SubscriptionInfo struct {
	Subscription
	Topic string
}

// Check is the outcome of reading a topic once.
type Check struct {
	TopicID   int64
	URL       string    // URL of the topic; if the topic has no row, it is created
	Base      int64     // version that the check compared with
	StartedAt time.Time // when the request was sent: the check answers all pings up to this time
	Now       time.Time // becomes Topic.CheckedAt
	ChangedAt time.Time // if Changed: becomes Topic.ChangedAt, the time when the change was reported; zero: Now

	Err string // not empty: the topic could not be read; then only Failures, Error, CheckedAt and the fields below change
	// Retry is used with Err: the time of the next check, if a ping or AgainAt is pending; zero: no
	// further check.
	Retry time.Time

	Changed                         bool // raises the version by one, for every shard to deliver
	Hash                            []byte
	ETag, LastModified, ContentType string // already merged by the caller: after a 304, a header that the response lacks keeps its value
	Size                            int64

	NotModified bool               // the feed was unchanged by a 304: Topic.NotModified increases by 1; otherwise FullReads increases by 1 and FullBytes by Size
	Evidence    validator.Evidence // becomes Topic.Evidence
	Again       time.Time          // becomes Topic.AgainAt, the latest time at which the topic is due

	Body   []byte   // if Changed: stored if the topic has KeepContent; nil: delete the stored content
	About  *About   // if Changed: replaces the topic's description; nil: no change
	Listed []Change // if Changed: added to the recent changes

	// If Changed, up to ClaimShards idle shards are claimed for Node until ClaimUntil, and the
	// others become due at Now. A shard whose delivery is in progress only gets its new Want.
	Node        int64
	ClaimShards int
	ClaimUntil  time.Time

	Events []event.Event
}

// Checked is the effect of CommitCheck.
type Checked struct {
	Raced   bool // the stored version is no longer Base: nothing was written, so check again
	Topic   Topic
	Claimed []Shard // shards claimed by the commit, in ascending order
	Waiting int     // number of further due shards
}

// Shard is a range of a topic's subscriptions. One worker at a time notifies these subscriptions of
// a change.
type Shard struct {
	TopicID int64
	N       int   // number within the topic, from 0
	Lo, Hi  int32 // buckets, both inclusive
	Want    int64 // version to deliver
	Done    int64 // version that was delivered to all subscriptions, or is pending in their rows
	Pos     int64 // id of the last subscription settled in this run; 0: none
	Epoch   int64 // fencing token of the owner
	Topic   Topic // as it was when the shard was claimed
}

// Checkpoint is the progress of one shard.
type Checkpoint struct {
	Shard   Shard // identified by TopicID, N and Epoch; Want is the version of this run
	Now     time.Time
	Pos     int64     // everything up to this id is settled
	Until   time.Time // new end of the lease
	Results []Result
	// Finish ends the run: Done becomes Shard.Want, Pos becomes 0, and the shard has no owner. If
	// Want has risen meanwhile, the shard is due again at Now, and Checkpoint returns again = true.
	Finish bool
	Events []event.Event
}

// Outcome is the outcome of one delivery.
type Outcome int

const (
	// Delivered: the notification arrived. Failures, Tries and Claim become 0, FailingSince becomes
	// zero, Sent becomes Version, and nothing is pending. If PendingVersion has risen above
	// Version, that version is due now.
	Delivered Outcome = iota
	// Failed: the notification did not arrive. Failures increases by 1 unless Counted is already
	// Version or higher. Counted and PendingVersion rise to at least Version. Tries, NextAt and
	// LastError are set as given, LastErrorAt to now, FailingSince to now if it is zero, and Claim
	// to 0.
	Failed
	// Gone: the subscription is removed.
	Gone
	// Parked: the delivery is still in progress when its batch ends. PendingVersion becomes
	// Version; NextAt and the claim are set as given.
	Parked
	// Postponed: the notification was not tried, for a reason that the subscriber did not cause.
	// PendingVersion rises to at least Version, NextAt is set as given, and Claim becomes 0. No
	// failure is counted.
	Postponed
	// Raised: an older delivery is pending, so the retry loop sends this version: PendingVersion
	// rises to at least Version, Tries = 0, and due at now unless an attempt is in progress (Claim
	// not 0 and NextAt after now). Nothing changes if Sent is Version or newer, because a retry has
	// delivered this version meanwhile.
	Raised
)

// Result is the outcome of one delivery. An outcome other than Raised applies only if the Claim of
// the row is still Claim; otherwise the row stays unchanged.
type Result struct {
	Key      Key
	Version  int64
	Outcome  Outcome
	Claim    int64 // the claim of the delivery; 0: from a batch
	NewClaim int64 // the claim to store if Outcome is Parked
	NextAt   time.Time
	Tries    int
	Error    string
}

// Retry is a claimed subscription with its topic.
type Retry struct {
	Subscription
	Topic Topic
}

// EventQuery selects events. Zero fields do not restrict.
type EventQuery struct {
	TopicID int64
	Kinds   []string
	Text    string       // substring of topic URL, text or peer, case-insensitive
	Since   time.Time    // condition: At >= Since
	Until   time.Time    // condition: At < Until
	Before  event.Cursor // only events strictly before this position
	After   event.Cursor // only events strictly after this position
	Forward bool         // oldest first; false: newest first
	Limit   int          // at most 1,000; 0 means 100
}

// Counts are the current numbers of rows.
type Counts struct {
	Topics        int64 `json:"topics"`
	Subscriptions int64 `json:"subscriptions"` // live subscriptions
	Failing       int64 `json:"failing"`       // live subscriptions with Failures > 0
	Pending       int64 `json:"owed"`          // pending deliveries: retries that wait or are in progress
	ShardsDue     int64 `json:"parts_due"`     // shards with an undelivered change
	ChecksDue     int64 `json:"checks_due"`    // acknowledged pings not yet checked
	Requests      int64 `json:"requests"`      // acknowledged requests for subscriptions, still pending
	Events        int64 `json:"events"`
}

// Minute is the activity of one node in one minute. Latencies are times from ping to delivery, in
// milliseconds.
type Minute struct {
	At        time.Time `json:"at"`
	Node      int64     `json:"node,string"`
	Pings     int64     `json:"pings"`
	Checks    int64     `json:"checks"`
	Changes   int64     `json:"changes"`
	Notified  int64     `json:"notified"`
	Failed    int64     `json:"failed"`
	Registers int64     `json:"registers"`
	P50       float64   `json:"p50_ms"`
	P99       float64   `json:"p99_ms"`
	Queue     int64     `json:"queue"` // maximum number of deliveries waiting or in progress
	Writes    int64     `json:"writes"`
}

// IntentResult is the outcome of processing an intent. The intent's row is removed unless Again is
// set.
type IntentResult struct {
	Intent       Intent        // identified by TopicID, ID and Claim
	Subscription *Subscription // set if confirmed: the subscription is added or renewed as by Subscribe, with its topic
	About        *About        // used with Subscription: replaces the topic's description; nil: no change
	Remove       bool          // set if confirmed: the subscription Intent.Key is removed
	Again        *Intent       // replaces the intent: the same ID, due at its DueAt, and without a claim
	Events       []event.Event
}

// ChangeQuery selects recent changes. Zero fields do not restrict.
type ChangeQuery struct {
	Since   time.Time    // condition: At >= Since
	Until   time.Time    // condition: At < Until
	Before  event.Cursor // only changes strictly before this position
	After   event.Cursor // only changes strictly after this position
	Text    string       // substring of Name, URL, Feed or Tags, case-insensitive
	Forward bool         // oldest first; false: newest first
	Limit   int          // at most 10,000; 0 means 100
}
