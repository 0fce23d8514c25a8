// Package record has what the hub keeps, and the Store that keeps it.
package record

import (
	"context"
	"errors"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/validator"
)

// ErrLost means that a claim is no longer ours: its lease ran out and someone
// else goes on. The work done since is not lost, and must not be written.
var ErrLost = errors.New("hub: the claim was lost")

// Store is what the hub needs of a database. Each method is one transaction and
// is on disk when it returns nil. Where several processes share the database, a call of
// Subscribe, Unsubscribe, Request, Announce, Settle or AppendEvents that is about several
// topics is one transaction for each of them: when it fails, some may be written. Times are kept to the millisecond, UTC; every
// "now" is passed in. Errors are fault.Unavailable when the database is away or
// full, anything else is a bug.
//
// Events passed to a method are already stamped and are written in its
// transaction.
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

// TopicStore keeps topics, and says which of them are followed.
type TopicStore interface {
	// Topic returns one topic, or a fault.NotFound.
	Topic(ctx context.Context, id int64) (Topic, error)
	// Subscribers counts the live subscriptions of a topic by protocol.
	Subscribers(ctx context.Context, topicID int64, now time.Time) (map[string]int64, error)
	// Topics lists topics in order of URL.
	Topics(ctx context.Context, q TopicQuery) ([]TopicInfo, error)
	// Followed reports whether any live subscription of the topic exists.
	Followed(ctx context.Context, topicID int64, now time.Time) (bool, error)
	// Following returns the topics with live subscriptions that any of the URLs
	// means: those with that URL first, in the order of urls, then up to limit in
	// all whose About.Self or About.Home it is, first those at the host of that URL.
	// A URL with and without a slash at the end of its path is the same as Self and Home.
	Following(ctx context.Context, urls []string, now time.Time, limit int) ([]Topic, error)
	// FollowedUnder lists, in order, the URLs of topics with live subscriptions that begin
	// with prefix and come after one. limit is at most 1,000; 0 means 100.
	FollowedUnder(ctx context.Context, prefix, after string, now time.Time, limit int) ([]string, error)
	// SetAbout replaces what the topic says of itself, if the topic exists.
	SetAbout(ctx context.Context, topicID int64, about About) error
	// Content is the newest version of a topic whose bytes are kept, or a
	// fault.NotFound.
	Content(ctx context.Context, topicID int64) (Content, error)
}

// SubscriptionStore keeps subscriptions.
type SubscriptionStore interface {
	// Subscribe adds or renews. A topic that is new gets its row and one part
	// over all buckets. A renewal (same topic, protocol and callback) replaces
	// Procedure, Secret, RenewedAt and ExpiresAt, sets Failures and Tries to 0 and
	// FailingSince to the zero time, and keeps CreatedAt and everything that is
	// owed. One by WebSub makes its topic Full.
	Subscribe(ctx context.Context, topics []string, subs []Subscription, events []event.Event) error
	// Unsubscribe removes those of the keys that exist and returns them as they were.
	Unsubscribe(ctx context.Context, keys []Key, events []event.Event) ([]Subscription, error)
	// Subscription returns one, or a fault.NotFound.
	Subscription(ctx context.Context, key Key) (Subscription, error)
	// Subscriptions lists in order of (TopicID, ID).
	Subscriptions(ctx context.Context, q SubscriptionQuery) ([]SubscriptionInfo, error)
}

// IntentStore keeps requests for subscriptions until they are decided.
type IntentStore interface {
	// Request keeps intents to be decided, each due at its DueAt. One that is there
	// already with the same TopicID and ID is replaced, and whoever was deciding
	// it finds his Claim gone. The topic's row is not made by it.
	Request(ctx context.Context, list []Intent, events []event.Event) error
	// ClaimIntents takes up to limit due intents, oldest first: Claim = claim, due
	// again at until.
	ClaimIntents(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Intent, error)
	// Decide writes what became of an intent; see [Decision]. applied is false when
	// the intent was replaced or is decided: then nothing is written. One that was
	// confirmed removes the intent of the contrary mode for the same callback and
	// topic that was asked for before it.
	Decide(ctx context.Context, d Decision) (applied bool, err error)
	// Intents counts those that are not decided yet.
	Intents(ctx context.Context) (int64, error)
}

// ChangeStore keeps the list of changes.
type ChangeStore interface {
	// Announce adds to the list of changes, and makes pings durable as RecordPing
	// does, all due at due.
	Announce(ctx context.Context, list []Change, pings []string, now, due time.Time, events []event.Event) error
	// Changes reads the list of changes; see [ChangeQuery].
	Changes(ctx context.Context, q ChangeQuery) ([]Change, error)
	// CountChanges counts the changes that were ever listed, those trimmed too.
	CountChanges(ctx context.Context) (int64, error)
	// TrimChanges removes up to limit changes older than before, and returns how many.
	TrimChanges(ctx context.Context, before time.Time, limit int) (int, error)
}

// CheckStore keeps pings, and what the checks came to that they led to.
type CheckStore interface {
	// RecordPing makes a ping durable that no check has answered yet: it makes
	// the topic if it is new, sets PingedAt to now (never backwards), and makes
	// the topic due at due.
	RecordPing(ctx context.Context, url string, now, due time.Time, events []event.Event) error
	// ClaimChecks takes up to limit topics whose pending ping or AgainAt is due, and
	// puts their due time at until, so that nobody else takes them before that.
	ClaimChecks(ctx context.Context, now, until time.Time, limit int) ([]Topic, error)
	// CommitCheck writes the outcome of one check; see [Check].
	CommitCheck(ctx context.Context, c Check) (Checked, error)
}

// DeliveryStore keeps how far the subscribers of a topic are notified of a change.
type DeliveryStore interface {
	// ClaimParts takes up to limit due parts, oldest first: owner, epoch + 1,
	// due at until.
	ClaimShards(ctx context.Context, node int64, now, until time.Time, limit int) ([]Shard, error)
	// Page returns up to limit subscriptions of the part with id > after, in
	// order of id, that are live at now. It does not write. Of each only the key,
	// Protocol, Callback, Procedure, Secret, Failures, FailingSince, Tries, NextAt,
	// Counted and Sent are set.
	Batch(ctx context.Context, shard Shard, after int64, now time.Time, limit int) ([]Subscription, error)
	// Checkpoint writes what a page came to; see [Checkpoint]. ErrLost: nothing written.
	Checkpoint(ctx context.Context, c Checkpoint) (again bool, err error)
	// ReleaseParts makes parts that this node holds due at now, keeping Pos, for
	// a graceful stop. Parts held under another epoch are left alone.
	ReleaseShards(ctx context.Context, now time.Time, shards []Shard) error
	// Split cuts the parts of an idle topic (nothing wanted, nothing due) into
	// even ranges so that there are at least n; it never joins. A topic that is
	// busy is left as it is.
	Split(ctx context.Context, topicID int64, n int) error
	// ClaimRetries takes up to limit subscriptions whose NextAt has come, oldest
	// first: Claim = claim, NextAt = until. Expired ones are not returned and
	// stop being due.
	ClaimRetries(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Retry, error)
	// Settle writes outcomes of deliveries that are not part of a page.
	Settle(ctx context.Context, now time.Time, results []Result, events []event.Event) error
}

// UpkeepStore keeps what is due when, and removes what is over.
type UpkeepStore interface {
	// Sweep removes up to limit subscriptions that are expired at now or whose
	// Failures are at least maxErrors (rssCloud's protocols only), and returns them
	// as they were. It also removes topics that nobody has followed or pinged since
	// idle, contents that no part and nothing owed needs any more, and Full where
	// no WebSub subscription is left, up to limit of each. more: there is probably
	// something left.
	Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]SubscriptionInfo) []event.Event) (gone []SubscriptionInfo, more bool, err error)
	// ClaimTask wins for one caller in the whole cluster when the task is due
	// at now (or was never run and first is not after now), and makes it due
	// again at next.
	ClaimTask(ctx context.Context, name string, now, first, next time.Time) (won bool, err error)
	// Recover makes everything that any earlier run of this program held due at
	// now. Only a store that one process owns does anything here.
	Recover(ctx context.Context, now time.Time) error
	// NextDue is the earliest moment at which a part, a retry, a pending check or
	// an intent is due; the zero time when nothing is.
	NextDue(ctx context.Context) (time.Time, error)
}

// LogStore keeps the log and the history.
type LogStore interface {
	// AppendEvents writes events that belong to no other transaction.
	AppendEvents(ctx context.Context, events []event.Event) error
	// Events reads the log; see [EventQuery].
	Events(ctx context.Context, q EventQuery) ([]event.Event, error)
	// TrimEvents removes up to limit events older than before, and returns how many.
	TrimEvents(ctx context.Context, before time.Time, limit int) (int, error)
	// Counts counts; on a large store it may take a while (see Hub.Counts).
	Counts(ctx context.Context, now time.Time) (Counts, error)
	// SaveMinute adds one row of history; Minutes reads those since, in order of time.
	SaveMinute(ctx context.Context, m Minute) error
	Minutes(ctx context.Context, since time.Time) ([]Minute, error)
}

// DatabaseStore is the database as a whole.
type DatabaseStore interface {
	// Backup writes a consistent copy to a file that must not exist yet.
	// fault.Unsupported where the database has its own tool for it.
	Backup(ctx context.Context, file string) error
	// Ping reports whether the store can be reached and written to.
	Ping(ctx context.Context) error
	Close() error
}

// TopicQuery selects topics. The zero query selects the first page of all.
type TopicQuery struct {
	Match string // substring of the URL, case-insensitive
	After string // URL after which the page starts
	Limit int    // at most 1,000; 0 means 100
	Now   time.Time
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
	URL       string    // makes the topic's row if it does not exist
	Base      int64     // the version that the check compared with
	StartedAt time.Time // when the request was sent: pings up to here are answered
	Now       time.Time // becomes Topic.CheckedAt
	ChangedAt time.Time // Changed: becomes Topic.ChangedAt, the moment the news arrived; zero: Now

	Err string // not empty: the topic could not be read; only Failures, Error, CheckedAt and what is below change
	// Retry, with Err, is when to look again if a ping or AgainAt is still pending; zero: give both up.
	Retry time.Time

	Changed                         bool // version + 1, and every part wants it
	Hash                            []byte
	ETag, LastModified, ContentType string // kept from before where a 304 did not name them (the caller merges)
	Size                            int64

	NotModified bool               // a 304 counted: Topic.NotModified + 1; else FullReads + 1 and FullBytes + Size
	Evidence    validator.Evidence // becomes Topic.Evidence
	Again       time.Time          // becomes Topic.AgainAt; a topic is due then at the latest

	Body   []byte   // Changed: kept as the topic's content if the topic is Full at that moment; nil: the kept one goes
	About  *About   // Changed: replaces the topic's; nil: it stays
	Listed []Change // Changed: added to the list of changes

	// Changed: up to ClaimParts idle parts are claimed at birth for Node until
	// ClaimUntil; the rest are due at Now. A part that somebody is working on
	// only gets its new Want.
	Node        int64
	ClaimShards int
	ClaimUntil  time.Time

	Events []event.Event
}

// Checked is what CommitCheck did.
type Checked struct {
	Raced   bool // Base was not the version any more: nothing written, look again
	Topic   Topic
	Claimed []Shard // claimed at birth, lowest first
	Waiting int     // further parts that are due
}

// Part is a range of a topic's subscriptions that is told of a change by one worker at a time.
type Shard struct {
	TopicID int64
	N       int   // number within the topic, from 0
	Lo, Hi  int32 // buckets, both inclusive
	Want    int64 // version to tell
	Done    int64 // version that all were told, or owed
	Pos     int64 // id of the last subscription that was settled in this pass; 0: none
	Epoch   int64 // fence
	Topic   Topic // as it was when the part was claimed
}

// Checkpoint is the progress of one part.
type Checkpoint struct {
	Shard   Shard // TopicID, N and Epoch say whose; Want is what this pass tells
	Now     time.Time
	Pos     int64     // everything up to this id is settled
	Until   time.Time // new end of the lease
	Results []Result
	// Finish ends the pass: Done = Part.Want, Pos = 0, no owner, and due at Now
	// again (again = true) if Want rose meanwhile, else not due.
	Finish bool
	Events []event.Event
}

// Outcome says what became of one delivery.
type Outcome int

const (
	// Delivered: it arrived. Failures = 0, FailingSince zero, Tries = 0, Sent =
	// Version, nothing owed and Claim = 0; but when Owed has risen above Version, due at now.
	Delivered Outcome = iota
	// Failed: it did not. Failures + 1 unless Counted >= Version already;
	// Counted = max(Counted, Version), Owed = max(Owed, Version), Tries, NextAt,
	// LastError as given, LastErrorAt = now, FailingSince = now where it is zero,
	// Claim = 0.
	Failed
	// Gone: the subscription is removed.
	Gone
	// Parked: still under way after its page moved on. Owed = Version,
	// NextAt and NewClaim as given.
	Parked
	// Postponed: could not be tried now through no fault of the subscriber.
	// Owed = max(Owed, Version), NextAt as given, Claim = 0; no error is counted.
	Postponed
	// Raised: it has something owed already, so the retry path will tell it:
	// Owed = max(Owed, Version), Tries = 0, and due at now unless an attempt is
	// under way (Claim not 0 and NextAt after now). Nothing at all where Sent is Version
	// or newer: that try has told of it while the page was on its way.
	Raised
)

// Result is the outcome of one delivery. All but Raised apply only while the row's
// Claim equals Claim; a row that is gone or claimed by another is left alone.
type Result struct {
	Key      Key
	Version  int64
	Outcome  Outcome
	Claim    int64 // the claim it was sent under; 0: from a page
	NewClaim int64 // Parked
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
	Since   time.Time    // At >= Since
	Until   time.Time    // At < Until
	Before  event.Cursor // strictly before
	After   event.Cursor // strictly after
	Forward bool         // oldest first; default newest first
	Limit   int          // at most 1,000; 0 means 100
}

// Counts is the size of things now.
type Counts struct {
	Topics        int64 `json:"topics"`
	Subscriptions int64 `json:"subscriptions"` // live
	Failing       int64 `json:"failing"`       // live with Failures > 0
	Pending       int64 `json:"owed"`          // deliveries owed (retries waiting or under way)
	ShardsDue     int64 `json:"parts_due"`     // parts with a change still to tell
	ChecksDue     int64 `json:"checks_due"`    // acknowledged pings not yet checked
	Requests      int64 `json:"requests"`      // acknowledged requests for subscriptions, not decided yet
	Events        int64 `json:"events"`
}

// Minute is what one node did in one minute. Latencies are from the ping to the
// delivery, in milliseconds.
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
	Queue     int64     `json:"queue"` // most deliveries waiting or under way
	Writes    int64     `json:"writes"`
}

// Decision is what became of an intent. The row goes unless Again is set.
type Decision struct {
	Intent       Intent        // TopicID, ID and Claim say which
	Subscription *Subscription // confirmed: added or renewed as Subscribe does, with its topic
	About        *About        // with Subscription: replaces the topic's; nil: it stays
	Remove       bool          // confirmed: the subscription Intent.Key is removed
	Again        *Intent       // stays, with the same ID, or becomes this, due at its DueAt, with no Claim
	Events       []event.Event
}

// ChangeQuery selects from the list of changes. Zero fields do not restrict.
type ChangeQuery struct {
	Since   time.Time    // At >= Since
	Until   time.Time    // At < Until
	Before  event.Cursor // strictly before
	After   event.Cursor // strictly after
	Text    string       // substring of Name, URL, Feed or Tags, case-insensitive
	Forward bool         // oldest first; default newest first
	Limit   int          // at most 10,000; 0 means 100
}
