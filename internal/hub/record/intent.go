package record

import "time"

// Modes of an intent.
const (
	ModeSubscribe   = "subscribe"
	ModeUnsubscribe = "unsubscribe"
	ModeDenied      = "denied" // the callback must be notified of the denial
)

// Intent is a WebSub request that was acknowledged before it is verified. It is stored until the
// callback has confirmed it or was notified of its denial.
type Intent struct {
	TopicID  int64
	ID       int64         // made from Mode and Callback, so that an unsubscribe request of an unknown client replaces no other request
	Topic    string        // URL
	Callback string        // byte for byte as given
	Mode     string        // ModeSubscribe and so on
	Secret   string        // ModeSubscribe: at most 199 bytes; "": none
	Lease    time.Duration // ModeSubscribe: the granted lease
	Reason   string        // ModeDenied: the reason in one sentence
	Via      string

	At    time.Time // when it was requested
	DueAt time.Time // next attempt, or the end of the lease of the attempt under way
	Tries int       // attempts so far
	Claim int64     // not 0: an attempt is under way, and this is its fence
}

// Key returns the key of the subscription that in is about.
func (in Intent) Key() Key { return Key{in.TopicID, SubscriptionID(WebSub, in.Callback)} }
