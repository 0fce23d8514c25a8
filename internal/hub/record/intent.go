package record

import "time"

// Modes of an intent.
const (
	ModeSubscribe   = "subscribe"
	ModeUnsubscribe = "unsubscribe"
	ModeDenied      = "denied" // the callback is to be told that its subscription was denied
)

// Intent is a request for a subscription that was acknowledged before it is
// decided, as WebSub has it: it stands in the store until the callback has
// confirmed it, or was told that it is denied.
type Intent struct {
	TopicID  int64
	ID       int64         // made from Mode and Callback: a stranger's request to end a subscription takes the place of no other
	Topic    string        // URL
	Callback string        // byte for byte as it was given
	Mode     string        // ModeSubscribe and so on
	Secret   string        // ModeSubscribe: at most 199 bytes; "": none
	Lease    time.Duration // ModeSubscribe: what is granted
	Reason   string        // ModeDenied: why, in one sentence
	Via      string

	At    time.Time // when it was asked for
	DueAt time.Time // next attempt, or the end of the lease of the attempt under way
	Tries int       // attempts so far
	Claim int64     // not 0: an attempt is under way, and this is its fence
}

// Key is the subscription that in is about.
func (in Intent) Key() Key { return Key{in.TopicID, SubscriptionID(WebSub, in.Callback)} }
