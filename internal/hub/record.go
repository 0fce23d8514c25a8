package hub

import (
	"time"

	"cloudburst/internal/hub/record"
)

// Aliases of the types of stored data; see package record.
type (
	Store             = record.Store
	Topic             = record.Topic
	About             = record.About
	Content           = record.Content
	Subscription      = record.Subscription
	Key               = record.Key
	Intent            = record.Intent
	Change            = record.Change
	TopicQuery        = record.TopicQuery
	TopicInfo         = record.TopicInfo
	TopicOrder        = record.TopicOrder
	TopicPlace        = record.TopicPlace
	SubscriptionQuery = record.SubscriptionQuery
	SubscriptionInfo  = record.SubscriptionInfo
	Check             = record.Check
	Checked           = record.Checked
	Shard             = record.Shard
	Checkpoint        = record.Checkpoint
	Outcome           = record.Outcome
	Result            = record.Result
	Retry             = record.Retry
	EventQuery        = record.EventQuery
	Counts            = record.Counts
	Minute            = record.Minute
	IntentResult      = record.IntentResult
	ChangeQuery       = record.ChangeQuery
)

// Protocols of notifications.
const (
	HTTPPost  = record.HTTPPost
	HTTPSPost = record.HTTPSPost
	XMLRPC    = record.XMLRPC
	SOAP      = record.SOAP
	WebSub    = record.WebSub
	CNWS      = record.CNWS
)

// Orders of a list of topics.
const (
	TopicsByURL         = record.TopicsByURL
	TopicsByChange      = record.TopicsByChange
	TopicsBySubscribers = record.TopicsBySubscribers
)

// Modes of an Intent.
const (
	ModeSubscribe   = record.ModeSubscribe
	ModeUnsubscribe = record.ModeUnsubscribe
	ModeDenied      = record.ModeDenied
)

// Outcomes of a delivery.
const (
	Delivered = record.Delivered
	Failed    = record.Failed
	Gone      = record.Gone
	Parked    = record.Parked
	Postponed = record.Postponed
	Raised    = record.Raised
)

// Buckets is the number of key ranges of a topic's subscriptions.
const Buckets = record.Buckets

// Forever returns the ExpiresAt of a subscription that does not expire.
func Forever() time.Time { return record.Forever() }

// RenewWithin returns the time within which a registration with this lifetime must be renewed.
func RenewWithin(lifetime time.Duration) time.Duration { return record.RenewWithin(lifetime) }

// TopicID returns the id of the topic with that URL.
func TopicID(url string) int64 { return record.TopicID(url) }

// SubscriptionID returns the id of a subscription within its topic.
func SubscriptionID(protocol, callback string) int64 {
	return record.SubscriptionID(protocol, callback)
}

// Bucket returns the top 16 bits of a subscription's 63-bit id.
func Bucket(subscriptionID int64) int32 { return record.Bucket(subscriptionID) }
