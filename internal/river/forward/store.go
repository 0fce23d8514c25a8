package forward

import (
	"context"
	"time"

	"cloudburst/internal/river/item"
)

// Store stores forwardings and their queues. The transaction that stores a check of a source also
// queues each new item for the confirmed forwardings that select the item.
type Store interface {
	ConsentStore

	// PutForwarding creates a forwarding (ID 0 gets a new ID) or changes one. The count of sent
	// messages stays. Queued items are due at n.NextAt, or at once if NextAt is zero, unless the
	// forwarding is paused. A forwarding with ForwardingWaiting becomes ForwardingConfirmed if
	// the recipient has confirmed another forwarding of the user. Otherwise it is due at once
	// until its recipient was asked. Errors: fault.Refused: the forwarding is ForwardingWaiting
	// and its recipient rejects messages from the user; TooMany: the user would have more than
	// limit forwardings.
	PutForwarding(ctx context.Context, n Forwarding, limit int) (Forwarding, error)
	Forwardings(ctx context.Context, user string) ([]Forwarding, error)
	DropForwarding(ctx context.Context, user string, id int64) error
	// ClaimForwardings claims due forwardings that have queued items or whose recipient is to be
	// asked for consent.
	ClaimForwardings(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Forwarding, error)
	// NextForwarding returns the earliest time at which a forwarding is due; zero: no forwarding
	// is due.
	NextForwarding(ctx context.Context) (time.Time, error)
	// ClaimForwarding claims one forwarding, due or not. Errors: fault.Conflict: another claim
	// has not expired; NotFound: the forwarding does not exist.
	ClaimForwarding(ctx context.Context, user string, id int64, now, until time.Time, claim int64) (Forwarding, error)
	// ForwardingItems lists the queued items of a claimed forwarding, oldest first.
	ForwardingItems(ctx context.Context, id int64, limit int) ([]item.Entry, error)
	// QueuedDigest returns the queue of a claimed forwarding for its next digest. Queue.List has
	// at most limit items.
	QueuedDigest(ctx context.Context, id int64, limit int) (Queue, error)
	// SaveForwarding writes the result of sending or asking, and removes the sent items from the
	// queue. If items remain or the recipient is still to be asked, the forwarding is due at
	// n.NextAt. If the digest changed since the claim, the new digest decides the time. The
	// result is false if the claim is no longer valid.
	SaveForwarding(ctx context.Context, n Forwarding, sent []int64) (bool, error)
}

// ConsentStore stores the consent of recipients and the number of messages to them.
type ConsentStore interface {
	// DecideForwardings confirms the forwardings of to.Reader to the Recipient of to, or ends the
	// forwardings to its Mailbox. It ends the claims of these forwardings and returns their
	// number. Confirmed forwardings with queued items are due now or with their next digest. The
	// queues of ended forwardings are emptied. A mailbox that ended forwardings rejects messages
	// from the user until DecideForwardings confirms.
	DecideForwardings(ctx context.Context, to Forwarding, state string, now time.Time) (int, error)
	// ChooseDigest sets the digest of the forwardings of to.Reader to the Recipient of to.
	// Forwardings with queued items are due with the new digest. A claim stays valid.
	ChooseDigest(ctx context.Context, to Forwarding, digest string, now time.Time) error
	// ForwardingRefused reports whether the mailbox of a target rejects messages from a user.
	ForwardingRefused(ctx context.Context, user, via, target string) (bool, error)
	// CountMessages adds n to the number of messages of a day for each subject. If a subject
	// would exceed its maximum, it counts nothing and returns false. It removes the counts of
	// earlier days. A negative n subtracts.
	CountMessages(ctx context.Context, day int64, subjects []MessageLimit, n int) (bool, error)
}

// Queue holds the queued items of a forwarding for a digest.
type Queue struct {
	List  []item.Entry // items newest first, without the items that their authors removed
	Count int          // number of items, including the items that exceed the limit of List
	IDs   []int64      // IDs of all counted items and of the removed items
}

// MessageLimit is the maximum number of messages per day for a subject, such as a user or a
// mailbox.
type MessageLimit struct {
	Subject string
	Max     int
}
