package record

import "time"

// Modes of an intent.
const (
	ModeSubscribe   = "subscribe"
	ModeUnsubscribe = "unsubscribe"
	ModeDenied      = "denied" // the callback must be notified of the denial
)

// Intent is a WebSub request that was acknowledged and must still be verified. It is stored until
// the callback has confirmed the request or was notified of its denial.
type Intent struct {
	TopicID  int64
	ID       int64         // computed from Mode and Callback, so that a client that sends an unsubscribe request cannot replace the subscribe request of another client
	Topic    string        // URL
	Callback string        // exactly as the request contained it
	Mode     string        // ModeSubscribe and so on
	Secret   string        // only for ModeSubscribe: at most 199 bytes; "": none
	Lease    time.Duration // only for ModeSubscribe: the granted lease
	Reason   string        // only for ModeDenied: the reason in one sentence
	Via      string

	At    time.Time // when it was requested
	DueAt time.Time // next attempt, or the end of the lease of the current attempt
	Tries int       // number of attempts so far
	Claim int64     // fencing token of the current attempt; 0: no attempt is in progress
}

// Key returns the key of the subscription that the request concerns.
func (in Intent) Key() Key { return Key{in.TopicID, SubscriptionID(WebSub, in.Callback)} }
