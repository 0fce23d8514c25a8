package forward

import (
	"context"
	"time"

	"cloudburst/internal/river/item"
)

// Store stores forwardings and their queues. A check of a source queues each new item for the
// confirmed forwardings that select it, in its own transaction.
type Store interface {
	ConsentStore

	// PutForwarding creates a forwarding (ID 0 gets a new ID) or changes one. Its count of sent
	// messages stays, and queued items are due at n.NextAt, or at once, unless it is paused. A forwarding with
	// ForwardingWaiting becomes ForwardingConfirmed if the user has another one that its recipient
	// confirmed. Else it is due at once until its recipient was asked. fault.Refused: it is
	// ForwardingWaiting, and its recipient rejects messages from the user.
	PutForwarding(ctx context.Context, n Forwarding, limit int) (Forwarding, error)
	Forwardings(ctx context.Context, user string) ([]Forwarding, error)
	DropForwarding(ctx context.Context, user string, id int64) error
	// ClaimForwardings claims due forwardings with queued items, or with a recipient to ask.
	ClaimForwardings(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Forwarding, error)
	// NextForwarding returns when a forwarding is due next; zero: never.
	NextForwarding(ctx context.Context) (time.Time, error)
	// ClaimForwarding claims one forwarding, due or not. fault.Conflict: another claim lasts;
	// NotFound.
	ClaimForwarding(ctx context.Context, user string, id int64, now, until time.Time, claim int64) (Forwarding, error)
	// ForwardingItems lists the queued items of a claimed forwarding, oldest first.
	ForwardingItems(ctx context.Context, id int64, limit int) ([]item.Entry, error)
	// QueuedDigest returns the queue of a claimed forwarding for a digest that lists up to limit items.
	QueuedDigest(ctx context.Context, id int64, limit int) (Queue, error)
	// SaveForwarding writes the result of sending or asking and removes the sent items from the
	// queue. If items remain or the recipient is still to be asked, the forwarding is due at
	// n.NextAt; if its digest changed meanwhile, at the time of the new one. false: the claim changed
	// meanwhile.
	SaveForwarding(ctx context.Context, n Forwarding, sent []int64) (bool, error)
}

// ConsentStore stores the consent of recipients and the number of messages to them.
type ConsentStore interface {
	// DecideForwardings confirms the forwardings of to.Reader to the Recipient of to, or ends those
	// to its Mailbox. It ends their claims and returns their number. Confirmed forwardings with
	// queued items are due, now or with their next digest; the queues of ended ones are emptied. A mailbox that ended them rejects
	// messages from the user until DecideForwardings confirms.
	DecideForwardings(ctx context.Context, to Forwarding, state string, now time.Time) (int, error)
	// ChooseDigest sets the digest of the forwardings of to.Reader to the Recipient of to. Those with
	// queued items are due with the new digest. A claim lasts.
	ChooseDigest(ctx context.Context, to Forwarding, digest string, now time.Time) error
	// ForwardingRefused reports whether the mailbox of a target rejects messages from a user.
	ForwardingRefused(ctx context.Context, user, via, target string) (bool, error)
	// CountMessages counts n messages of a day for each subject. If a subject would exceed its
	// maximum, it counts nothing and returns false. Earlier days are dropped. A negative n
	// subtracts.
	CountMessages(ctx context.Context, day int64, subjects []MessageLimit, n int) (bool, error)
}

// Queue holds the queued items of a forwarding for a digest.
type Queue struct {
	List  []item.Entry // newest first; without the items that their authors removed
	Count int          // items with those that List leaves out for its limit
	IDs   []int64      // of all these items and of the removed ones
}

// MessageLimit is the maximum number of messages per day for a subject.
type MessageLimit struct {
	Subject string
	Max     int
}
