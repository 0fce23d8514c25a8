// Package forward forwards new items of a river to webhooks and mailboxes, once their recipients
// agree. A Notice is what a reader wants forwarded, and where to.
package forward

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
)

// Ways of a Notice.
const (
	ViaWebhook = "webhook" // JSON, signed when there is a secret
	ViaEmail   = "email"
	ViaPost    = "post" // a form: url, title, text, feed
)

// States of a Notice.
const (
	ForwardingWaiting   = "waiting"   // for the consent of its recipient: nothing is forwarded
	ForwardingConfirmed = "confirmed" // the recipient wants it
	ForwardingEnded     = "ended"     // the recipient does not want it any more
)

// Notice is that a reader wants to be told elsewhere of what arrives.
type Forwarding struct {
	ID        int64
	Reader    string
	SourceID  int64  // of this source only; 0: any
	Category  string // of this category only; "": any
	Via       string // one of the ways
	Target    string // URL or e-mail address
	Secret    string // webhooks are signed with it; "": not
	CreatedAt time.Time
	Paused    bool
	Sent      int64 // messages
	LastAt    time.Time
	Failures  int // in a row
	Problem   string
	NextAt    time.Time // when what waits is sent, or the end of a claim; zero: nothing waits
	Claim     int64
	State     string    // one of the states
	Asked     int       // how often the recipient was asked for consent since the target was named
	AskedAt   time.Time // the last time; zero: never
	DecidedAt time.Time // when the recipient confirmed or ended it; zero: neither
	End       string    // token of the link that ends it, for messages; it is not stored
	Sender    string    // name of the reader, for messages; it is not stored
}

// Teller tells what arrived elsewhere. Errors: fault.Gone (never again), anything else is
// tried again later, after RetryAfter where it has one. A Teller that has a method Ways() []string
// lists there the ways by which it can tell; any other can tell by all.
type Sender interface {
	Forward(ctx context.Context, n Forwarding, list []item.Entry) error
	// Ask asks the recipient of a notice for consent. By mail, nil means that the mail with
	// the link for token is sent; else that the program at the target has agreed.
	Ask(ctx context.Context, n Forwarding, token string) error
}

// Options are limits; all of them must be set.
type Options struct {
	Max     int           // notices of one reader
	MailsBy int           // mails of a day by one reader
	MailsTo int           // mails of a day to one mailbox, by all readers
	Lease   time.Duration // of a claim
}

// Forwarder forwards items. Every field must be set, but Tell, Key, Log and Sender may be nil.
type Forwarder struct {
	Store   Store
	Forward Sender // nil: nobody is told elsewhere
	Key     []byte // 32 bytes: what secrets are encrypted with, and what links are signed with
	Log     *slog.Logger
	Now     func() time.Time                                              // UTC, to the millisecond
	Sender  func(reader string) string                                    // name of a reader, for recipients; nil: the reader itself
	Subject func(ctx context.Context, n Forwarding) error                 // says why the source or category of a notice is none
	Newest  func(ctx context.Context, n Forwarding) ([]item.Entry, error) // the newest item that a notice is about, if there is one
	Wake    func()                                                        // tells the caller of Send that a notice may be due
	Options Options

	mu    sync.Mutex
	tried map[string]time.Time // by reader: when a notice was tried
}

// complain logs an error that nobody waits for.
func (f *Forwarder) logError(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil || f.Log == nil {
		return
	}
	f.Log.Error(what, "code", fault.CodeOf(err).String(), "err", err)
}

// saving is a context for writing down what was done, also while the program ends.
func saveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}
