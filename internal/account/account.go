package account

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

// Options configures password hashes and log-ins. A zero field has the default in brackets.
type Options struct {
	Memory  uint32 // memory for one hash in KiB [19456]
	Passes  uint32 // number of argon2id passes for one hash [2]
	Hashes  int    // maximum number of concurrent hashes [number of processors, at most 8]
	Waiting int    // maximum number of log-ins that wait for a hash or for other attempts; further log-ins are rejected [512]

	// Hash computes the 32 bytes of a password hash; nil: argon2id. memory is in KiB.
	Hash func(password, salt []byte, passes, memory uint32) []byte

	Limits Limits
}

// Limits are the limits of failed log-ins at all endpoints together. Beyond a limit, a source or a
// user name must wait. The first wait is one minute; each further wait is twice as long, up to an
// hour for a source and 15 minutes for a name. A zero field has the default in brackets.
type Limits struct {
	Source int // failures of one source in 15 minutes; a source is an IPv4 /24 or an IPv6 /56 network [20]
	Name   int // failures for one user name in 15 minutes [10]
	Minute int // failures of all clients in one minute [300]
	Keys   int // maximum number of stored rows of each kind, such as sources and names [16384]
}

// Accounts authenticates users, their programs, and readers of private feeds. Store and Key must be
// set before the first use; other fields may be zero.
type Accounts struct {
	Store   Store
	Now     func() time.Time // clock; nil: time.Now
	Key     []byte           // 32 bytes from which the keys for readers' secrets, codes and counts are derived
	Log     *slog.Logger     // nil: nothing is logged
	Options Options
	// Shared means that other processes use the same Store with the same Key.
	Shared bool
	// Disabled is called after a user was disabled or enabled; nil: not called.
	Disabled func(ctx context.Context, name string, disabled bool)
	// Revoked is called after the secret of a reader was revoked; nil: not called.
	Revoked func(ctx context.Context, s Secret)
	// Deleting is called before a user is deleted, so that other packages can stop their work for
	// the user. An error prevents the deletion. nil: not called.
	Deleting func(ctx context.Context, name string) error

	once              sync.Once
	log               *slog.Logger
	hasher            *hasher
	verified          verifiedCache
	limits            *limiter
	keys              *keys
	setupToken        string      // token for the creation of the first user
	hasUsers          atomic.Bool // true if the server has a user; the first user is never deleted
	hasForeignSecrets atomic.Bool // some secrets in the store were encrypted with another key
	disabledUsers     disabledCache
}

// Caller is the origin of a log-in.
type Caller struct {
	Addr netip.Addr // address of the client; clients without an address count as one source
	Via  string     // endpoint, for the log: page, saveRss, put, basic, wsse, token, api, greader, fever, metaWeblog
}

func (a *Accounts) now() time.Time {
	return date.Now(a.Now)
}

// init initializes the unexported fields on first use.
func (a *Accounts) init() {
	a.once.Do(func() {
		if a.log = a.Log; a.log == nil {
			a.log = slog.New(slog.DiscardHandler)
		}
		a.hasher = newHasher(a.Options)
		a.keys = newKeys(a.Key)
		a.limits = a.newLimiter(orDefault(a.Options.Waiting, defaultWaiting))
		if a.setupToken = strings.ToLower(rand.Text()); a.Shared {
			a.setupToken = a.keys.setupToken() // all processes derive the same token
		}
	})
}

// refused returns the same error for every reason to reject a log-in, so that clients do not learn
// the reason.
func refused() error {
	return fault.New(fault.Refused, "The user name and the password do not belong together.")
}

// refuseAndCount counts an invalid key, token or secret and returns a fault.Refused with the text
// msg, or a fault.TooMany if the source must wait.
func (a *Accounts) refuseAndCount(ctx context.Context, from Caller, msg string) error {
	if err := a.limits.countFailure(ctx, a.now(), from); err != nil {
		return err
	}
	return fault.New(fault.Refused, "%s", msg)
}

// logUseError logs that the time of the last use could not be stored. The log-in succeeds
// nevertheless.
func (a *Accounts) logUseError(what string, err error) {
	if err != nil {
		a.log.Warn("cannot store the time of a use", "what", what, "err", err)
	}
}

// checkText returns a fault.Invalid if a name given by a user is too long or has control
// characters.
func checkText(what, text string, limit int) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "The %s contains invalid or control characters.", what)
	case utf8.RuneCountInString(text) > limit:
		return fault.New(fault.Invalid, "The %s is too long: at most %d characters are accepted.", what, limit)
	}
	return nil
}

// Sweep deletes expired sessions and nonces, addresses from which nobody has logged in for a year,
// invitations that ended a year ago, and old counts of failures. Call it once an hour.
func (a *Accounts) Sweep(ctx context.Context) error {
	const batch = 1000
	a.init()
	if err := a.limits.trim(ctx, a.now()); err != nil {
		return err
	}
	for {
		now := a.now()
		n, err := a.Store.SweepAccounts(ctx, now, now.AddDate(-1, 0, 0), batch)
		if err != nil || n < batch {
			return err
		}
	}
}
