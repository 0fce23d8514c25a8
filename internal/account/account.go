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

// Options of accounts. Zero fields mean the default in brackets.
type Options struct {
	Memory  uint32 // memory per hash, in KiB [19456]
	Passes  uint32 // passes per hash [2]
	Hashes  int    // concurrent hashes [number of processors, at most 8]
	Waiting int    // log-ins waiting for a hash or an attempt; more are refused [512]

	// Hash computes the 32 bytes of a password hash; nil: argon2id. Memory is in KiB.
	Hash func(password, salt []byte, passes, memory uint32) []byte

	Limits Limits
}

// Limits bound failed log-ins at all endpoints together. Beyond a limit, a source or a name must
// wait: one minute, then twice as long each time, up to an hour for a source and a quarter of an
// hour for a name. Zero fields mean the default in brackets.
type Limits struct {
	Source int // failures in 15 minutes of one source: a /24, or a /56 of IPv6 [20]
	Name   int // failures in 15 minutes for one user name [10]
	Minute int // failures in one minute of all clients [300]
	Keys   int // stored keys of each kind: sources, names [16384]
}

// Accounts authenticates users, programs and readers. Store and Key must be set before the first
// use; other fields may be zero.
type Accounts struct {
	Store   Store
	Now     func() time.Time // nil: time.Now
	Key     []byte           // 32 bytes; encrypts the secrets of readers
	Log     *slog.Logger     // nil: nothing is logged
	Options Options
	// Shared means that other processes use the same Store with the same Key.
	Shared bool
	// Disabled is called after a user was disabled or enabled; nil: no call.
	Disabled func(ctx context.Context, name string, disabled bool)
	// Revoked is called after a secret was revoked; nil: no call.
	Revoked func(ctx context.Context, s Secret)
	// Deleting is called before a user is deleted, to end what other parts of the program do for the
	// user; an error prevents the deletion. Nil: no call.
	Deleting func(ctx context.Context, name string) error

	once              sync.Once
	log               *slog.Logger
	hasher            *hasher
	verified          verifiedCache
	limits            *limiter
	keys              *keys
	setupToken        string      // token for the creation of the first user
	hasUsers          atomic.Bool // a user exists
	hasForeignSecrets atomic.Bool // some secrets were encrypted with another key
	disabledUsers     disabledCache
}

// Caller is the origin of a log-in.
type Caller struct {
	Addr netip.Addr // the zero Addr counts as one source
	Via  string     // endpoint, for the log: page, saveRss, put, basic, wsse, token, api, greader, fever, metaWeblog
}

func (a *Accounts) now() time.Time {
	return date.Now(a.Now)
}

// init initializes the zero value.
func (a *Accounts) init() {
	a.once.Do(func() {
		if a.log = a.Log; a.log == nil {
			a.log = slog.New(slog.DiscardHandler)
		}
		a.hasher = newHasher(a.Options)
		a.keys = newKeys(a.Key)
		a.limits = a.newLimiter(orDefault(a.Options.Waiting, defaultWaiting))
		if a.setupToken = strings.ToLower(rand.Text()); a.Shared {
			a.setupToken = a.keys.setupToken() // the same in all processes
		}
	})
}

// refused is the one error for every reason to refuse a log-in, so clients learn nothing.
func refused() error {
	return fault.New(fault.Refused, "The user name and the password do not belong together.")
}

// refuseAndCount counts an invalid key, token or secret and returns the refusal msg.
func (a *Accounts) refuseAndCount(ctx context.Context, from Caller, msg string) error {
	if err := a.limits.countFailure(ctx, a.now(), from); err != nil {
		return err
	}
	return fault.New(fault.Refused, "%s", msg)
}

// logUseError logs that the time of a use could not be stored. The log-in continues.
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

// Sweep deletes expired sessions and nonces, addresses without a log-in for a year, and old counts
// of failures. Call it once an hour.
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
