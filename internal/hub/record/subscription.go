package record

import "time"

// Protocols that a notification can be sent in.
const (
	HTTPPost  = "http-post"
	HTTPSPost = "https-post"
	XMLRPC    = "xml-rpc"
	SOAP      = "soap"
	WebSub    = "websub"
	CNWS      = "cnws"
)

// Protocols are all of them, in the order in which they are shown.
func Protocols() []string { return []string{HTTPPost, HTTPSPost, XMLRPC, SOAP, WebSub, CNWS} }

// Forever is the ExpiresAt of a subscription whose protocol knows no end.
//
// spec:cnws-2003#no-expiry
func Forever() time.Time { return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) }

// Subscription is one callback that is told when one topic changes.
type Subscription struct {
	TopicID   int64
	ID        int64  // SubscriptionID(Protocol, Callback)
	Protocol  string // how to tell it: HTTPPost and so on
	Callback  string // absolute URL
	Procedure string // what to call, for XMLRPC and SOAP
	Secret    string // what the content is signed with, for WebSub; "": not signed

	CreatedAt time.Time
	RenewedAt time.Time
	ExpiresAt time.Time // from this moment on it gets nothing

	// What is owed after a failure. A healthy subscription has none of this.
	Failures       int       // changes in a row that could not be delivered
	Tries          int       // attempts at the one that is owed
	NextAt         time.Time // next attempt, or the end of the lease of the attempt under way; zero: nothing owed
	PendingVersion int64     // version that is owed, or was
	Counted        int64     // last version that raised Failures
	Sent           int64     // last version known to have arrived by a retry
	Claim          int64     // not 0: an attempt is under way, and this is its fence
	FailingSince   time.Time // first of the failures in a row; zero: none
	LastError      string    // fit for the public: no paths
	LastErrorAt    time.Time
}

// Key names a subscription.
type Key struct{ TopicID, ID int64 }

// Key is s's name.
func (s Subscription) Key() Key { return Key{s.TopicID, s.ID} }
