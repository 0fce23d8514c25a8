// Package forward forwards new items of a river to webhooks, mailboxes and Mastodon servers, once
// their recipients agree. A [Forwarding] is one user's order to forward items to one target.
package forward

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

// Ways of a Forwarding.
const (
	ViaWebhook  = "webhook" // JSON, signed when there is a secret
	ViaEmail    = "email"
	ViaPost     = "post"     // a form: url, title, text, feed
	ViaMastodon = "mastodon" // a status with a link for each item of one feed
)

// States of a Forwarding.
const (
	ForwardingWaiting   = "waiting"   // for the consent of the recipient: nothing is forwarded
	ForwardingConfirmed = "confirmed" // the recipient agreed
	ForwardingEnded     = "ended"     // the recipient ended it
)

// Forwarding sends new items that a user receives to one target.
type Forwarding struct {
	ID        int64
	Reader    string
	SourceID  int64  // only items of this source; 0: any
	Category  string // only items of this category; "": any
	Via       string // one of the ways
	Target    string // URL or e-mail address; for Mastodon the origin of the server
	Secret    string // signs webhooks, "": unsigned; the access token of Mastodon
	CreatedAt time.Time
	Paused    bool
	Sent      int64 // messages
	LastAt    time.Time
	Failures  int // consecutive failures
	Problem   string
	NextAt    time.Time // when queued items are sent, or the end of a claim; zero: the queue is empty
	Claim     int64
	State     string    // one of the states
	Asked     int       // requests for consent since the target was set
	AskedAt   time.Time // time of the last request for consent; zero: never
	DecidedAt time.Time // when the recipient confirmed or ended it; zero: neither
	Digest    string    // how often a mailbox receives the items, one of the digests
	End       string    // token of the link that ends it, for messages; not stored
	Sender    string    // name of the user, for messages; not stored
	More      int       // items of a digest beyond those that it lists, for messages; not stored
}

// Sender sends new items to a target: oldest first, or as a digest newest first. After fault.Gone the target is never used again; any other
// error is retried, after RetryAfter if set. A Sender with a method Ways() []string lists there
// the ways that it supports; any other Sender supports all.
type Sender interface {
	Forward(ctx context.Context, n Forwarding, list []item.Entry) error
	// Ask asks the recipient of a forwarding for consent. By mail, nil means that the mail with
	// the link for token was sent; by other ways, that the program at the target agreed.
	Ask(ctx context.Context, n Forwarding, token string) error
}

// Options are limits; all must be set.
type Options struct {
	Max     int           // forwardings of one user
	MailsBy int           // mails per day from one user
	MailsTo int           // mails per day to one mailbox, from all users
	Lease   time.Duration // of a claim
}

// Forwarder forwards items. Every field must be set, but Forward, Key, Log and Sender may be nil.
type Forwarder struct {
	Store   Store
	Forward Sender // nil: nothing is forwarded
	Key     []byte // 32 bytes: encrypts secrets and signs links
	Log     *slog.Logger
	Now     func() time.Time                                              // UTC, to the millisecond
	Sender  func(user string) string                                      // name of a user, for recipients; nil: the account name
	Subject func(ctx context.Context, n Forwarding) error                 // an error if the source or category does not exist
	Newest  func(ctx context.Context, n Forwarding) ([]item.Entry, error) // the newest item that the forwarding selects, if any
	Wake    func()                                                        // notifies the caller of Send that a forwarding may be due
	Options Options

	mu    sync.Mutex
	tried map[string]time.Time // time of the last TryForwarding by user
}

// logError logs an error that no caller handles.
func (f *Forwarder) logError(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil || f.Log == nil {
		return
	}
	f.Log.Error(what, "code", fault.CodeOf(err).String(), "err", err)
}

// saveContext returns a context for storing results, also while the program stops.
func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
