// Package forward forwards new items of a river to webhooks, mailboxes and Mastodon servers,
// after the recipients have agreed. A [Forwarding] contains a user's settings for forwarding
// items to one target.
package forward

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

// Values of Forwarding.Via: the ways to forward items.
const (
	ViaWebhook  = "webhook" // JSON, with a signature if the forwarding has a secret
	ViaEmail    = "email"
	ViaPost     = "post"     // an HTML form with the fields url, title, text and feed
	ViaMastodon = "mastodon" // a status with a link for each item; the forwarding must select one feed
)

// Values of Forwarding.State.
const (
	ForwardingWaiting   = "waiting"   // the recipient has not agreed yet: nothing is forwarded
	ForwardingConfirmed = "confirmed" // the recipient agreed: new items are forwarded
	ForwardingEnded     = "ended"     // the recipient ended the forwarding
)

// Forwarding sends new items that a user receives to one target.
type Forwarding struct {
	ID        int64
	Reader    string
	SourceID  int64  // source whose items are forwarded; 0: all sources
	Category  string // category whose items are forwarded; "": all categories
	Via       string // way to forward: ViaWebhook, ViaEmail, ViaPost or ViaMastodon
	Target    string // URL or e-mail address; for ViaMastodon, the origin of the server
	Secret    string // key that signs webhooks ("": unsigned), or the access token of Mastodon
	CreatedAt time.Time
	Paused    bool
	Sent      int64 // number of messages that were sent
	LastAt    time.Time
	Failures  int // number of consecutive failures
	Problem   string
	NextAt    time.Time // when queued items are sent, or when the claim ends; zero: the queue is empty
	Claim     int64
	State     string    // ForwardingWaiting, ForwardingConfirmed or ForwardingEnded
	Asked     int       // number of requests for consent since the target was set
	AskedAt   time.Time // time of the last request for consent; zero: never
	DecidedAt time.Time // when the recipient confirmed or ended the forwarding; zero: neither happened
	Digest    string    // how often a mailbox receives the items: DigestNone, DigestDaily or DigestWeekly
	End       string    // token of the link that ends the forwarding, for use in messages; not stored
	Sender    string    // display name of the user, for use in messages; not stored
	More      int       // number of items that a digest leaves out of its list, for use in messages; not stored
}

// Sender sends new items to a target: oldest first, or as a digest newest first. After
// fault.Gone, the Forwarder pauses the forwarding. After any other error, the Forwarder tries
// again, after RetryAfter if it is set. A Sender may have a method Ways() []string that lists the
// ways that it supports; a Sender without that method supports all.
type Sender interface {
	Forward(ctx context.Context, n Forwarding, list []item.Entry) error
	// Ask asks the recipient of a forwarding for consent. For ViaEmail, nil means that the mail
	// with the link for token was sent. For other ways, nil means that the program at the target
	// agreed.
	Ask(ctx context.Context, n Forwarding, token string) error
}

// Options contains the limits of a Forwarder; all must be set.
type Options struct {
	Max     int           // maximum number of forwardings of one user
	MailsBy int           // maximum number of mails per day from one user
	MailsTo int           // maximum number of mails per day to one mailbox, from all users
	Lease   time.Duration // time after which a claim on a forwarding expires
}

// Forwarder forwards items. Forward, Key, Log and Sender may be nil; all other fields must be
// set.
type Forwarder struct {
	Store   Store
	Forward Sender // sends the items; nil: nothing is forwarded
	Key     []byte // 32-byte key that encrypts secrets and signs links
	Log     *slog.Logger
	Now     func() time.Time                                              // current time in UTC, with millisecond precision
	Sender  func(user string) string                                      // returns the display name of a user; nil: the account name is used
	Subject func(ctx context.Context, n Forwarding) error                 // returns an error if the source or category does not exist
	Newest  func(ctx context.Context, n Forwarding) ([]item.Entry, error) // returns the newest item that the forwarding selects, or an empty list
	Wake    func()                                                        // wakes the loop that calls Send, because a forwarding may be due
	Options Options

	mu    sync.Mutex
	tried map[string]time.Time // key: user name; value: time of the user's last TryForwarding
}

// logError logs an error that is not returned to a caller.
func (f *Forwarder) logError(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil || f.Log == nil {
		return
	}
	f.Log.Error(what, "code", fault.CodeOf(err).String(), "err", err)
}

// saveContext returns a context for storing results that remains valid for five seconds after the
// program begins to stop.
func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
