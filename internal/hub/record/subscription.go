package record

import "time"

// Protocols of notifications.
const (
	HTTPPost  = "http-post"
	HTTPSPost = "https-post"
	XMLRPC    = "xml-rpc"
	SOAP      = "soap"
	WebSub    = "websub"
	CNWS      = "cnws"
)

// Forever returns the ExpiresAt of a subscription that does not expire.
//
// spec:cnws-2003#no-expiry
func Forever() time.Time { return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) }

// Subscription is one callback that is notified of changes of one topic.
type Subscription struct {
	TopicID   int64
	ID        int64  // SubscriptionID(Protocol, Callback)
	Protocol  string // protocol of the notification: HTTPPost and so on
	Callback  string // absolute URL
	Procedure string // method name for XMLRPC and SOAP
	Secret    string // signs the content for WebSub; "": not signed

	CreatedAt time.Time
	RenewedAt time.Time
	ExpiresAt time.Time // the subscription gets no notifications from this time on

	// State after a failure. All of these fields are zero if the last delivery succeeded.
	Failures       int       // consecutive changes that could not be delivered
	Tries          int       // attempts for the pending version
	NextAt         time.Time // next attempt, or the end of the lease of the current attempt; zero: nothing is pending
	PendingVersion int64     // version that is pending, or was the last pending one
	Counted        int64     // last version for which Failures was increased
	Sent           int64     // last version that a retry delivered
	Claim          int64     // claim of the attempt in progress; 0: none
	FailingSince   time.Time // time of the first of the consecutive failures; zero: none
	LastError      string    // safe to show to the public: contains no paths
	LastErrorAt    time.Time
}

// Key identifies a subscription.
type Key struct{ TopicID, ID int64 }

// Key returns the key of s.
func (s Subscription) Key() Key { return Key{s.TopicID, s.ID} }

// RenewWithin returns the time within which a registration with this lifetime must be renewed:
// 24/25 of the lifetime, rounded down. rssCloud registrations last 25 hours and must be renewed
// every 24.
//
// spec:rsscloud-2009#renew-24h
func RenewWithin(lifetime time.Duration) time.Duration {
	d := lifetime / 25 * 24
	for _, unit := range [...]time.Duration{time.Hour, time.Minute, time.Second} {
		if d >= unit {
			return d.Truncate(unit)
		}
	}
	return d
}
