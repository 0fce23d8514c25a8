package forward

import (
	"context"
	"time"

	"cloudburst/internal/river/item"
)

// Store keeps notices and what they have to tell. A check of a source queues a new item for
// each confirmed notice that it concerns, in its own transaction.
type Store interface {
	ConsentStore

	// PutNotice makes one (ID 0 gets one), or changes it; what it has sent stays, and what
	// waits is due at once unless it is paused. A notice that is NoticeWaiting is
	// NoticeConfirmed where the reader has another one that its recipient confirmed, else it
	// is due at once while its recipient was not asked. fault.Refused: it is NoticeWaiting,
	// and its recipient wants nothing from the reader.
	PutForwarding(ctx context.Context, n Forwarding, limit int) (Forwarding, error)
	Forwardings(ctx context.Context, reader string) ([]Forwarding, error)
	DropForwarding(ctx context.Context, reader string, id int64) error
	// ClaimNotices takes notices that have something to tell, or whose recipient is to be
	// asked, and are due.
	ClaimForwardings(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Forwarding, error)
	// ClaimNotice takes one, due or not. fault.Conflict: somebody else's claim lasts; NotFound.
	ClaimForwarding(ctx context.Context, reader string, id int64, now, until time.Time, claim int64) (Forwarding, error)
	// NoticeItems lists what a claimed notice has to tell, the oldest first.
	ForwardingItems(ctx context.Context, id int64, limit int) ([]item.Entry, error)
	// SaveNotice writes how telling or asking went and removes what was told from the queue;
	// where more waits, or the recipient is still to be asked, the notice is due at n.NextAt.
	// false: the claim is another by now.
	SaveForwarding(ctx context.Context, n Forwarding, sent []int64) (bool, error)
}

// ConsentStore keeps what recipients of notices agreed to, and how many messages they get.
type ConsentStore interface {
	// DecideNotices confirms the notices of to's reader to the same Recipient as to, or ends
	// those to the same Mailbox, takes their claims away, and returns how many there are.
	// Those that are confirmed are due if something waits for them; of those that are ended
	// nothing waits any more. A mailbox that ended them wants nothing from the reader until
	// DecideNotices confirms.
	DecideForwardings(ctx context.Context, to Forwarding, state string, now time.Time) (int, error)
	// NoticeRefused reports that the mailbox of a target wants nothing from a reader.
	ForwardingRefused(ctx context.Context, reader, via, target string) (bool, error)
	// CountMessages counts n messages of a day for each subject, unless one of them would
	// have more than it may: then it counts nothing and returns false. Earlier days are
	// forgotten. With a negative n it takes counts back.
	CountMessages(ctx context.Context, day int64, subjects []MessageLimit, n int) (bool, error)
}

// MessageLimit is how many messages of a day a subject may have.
type MessageLimit struct {
	Subject string
	Max     int
}
