package hub

import (
	"context"
	"net/netip"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

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
	ID       int64         // SubscriptionID(WebSub, Callback)
	Topic    string        // URL
	Callback string        // byte for byte as it was given
	Mode     string        // ModeSubscribe and so on
	Secret   string        // ModeSubscribe: at most 199 bytes; "": none
	Lease    time.Duration // ModeSubscribe: what is granted
	Reason   string        // ModeDenied: why, in one sentence
	Door     string

	At    time.Time // when it was asked for
	DueAt time.Time // next attempt, or the end of the lease of the attempt under way
	Tries int       // attempts so far
	Claim int64     // not 0: an attempt is under way, and this is its fence
}

// Asker speaks to callbacks about intents.
type Asker interface {
	// Confirm asks the callback whether it wants what the intent says; nil is yes.
	// fault.Refused: it said no, or something else than yes. fault.Unreadable: it
	// gave no answer at all. fault.Unavailable: for a reason of ours it was not asked.
	Confirm(ctx context.Context, in Intent) (event.Exchange, error)
	// Deny tells the callback that its subscription was denied, and why. Errors as
	// of Confirm; any answer at all is nil.
	Deny(ctx context.Context, in Intent) (event.Exchange, error)
}

// Request takes a request for, or against, a WebSub subscription. When it returns
// nil the request is on disk and will be decided: the callback is asked, also after
// a crash. Of in, Topic, Callback, Mode, Secret, Lease (0: not asked for) and Door
// count; source is who asks.
//
// Errors: fault.Invalid (a topic or callback that can be none), Refused (a topic
// that may not be asked for here, or a callback of our own), TooMany, Unavailable.
func (h *Hub) Request(ctx context.Context, in Intent, source netip.Addr) error {
	return fault.New(fault.Unsupported, "not yet")
}
