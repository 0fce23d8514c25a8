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

	"cloudburst/internal/fault"
)

// Options of accounts. Zero fields mean the default in brackets.
type Options struct {
	Memory  uint32 // of one password's hash, in KiB [19456]
	Passes  uint32 // of one password's hash [2]
	Hashes  int    // at once [as many as processors, at most 8]
	Waiting int    // for their turn to hash, or to try; more are refused [512]

	// Hash makes the 32 bytes of a password's hash; nil: argon2id. Memory is in KiB.
	Hash func(password, salt []byte, passes, memory uint32) []byte

	Limits Limits
}

// Limits say how many failures are borne, at all doors together. Whoever goes
// beyond waits: a minute, and twice as long each further time, up to an hour for a
// source and a quarter of an hour for a name. Zero fields mean the default in brackets.
type Limits struct {
	Source int // in 15 minutes, of one source: a /24, or a /56 of IPv6 [20]
	Name   int // in 15 minutes, for one user name [10]
	Minute int // in a minute, of all [300]
	Keys   int // that are remembered of each kind: sources, names [16384]
}

// Accounts lets people in. Store and Key must be set before its first use; the rest
// may be zero.
type Accounts struct {
	Store   Store
	Now     func() time.Time // nil: time.Now
	Key     []byte           // 32 bytes: what the secrets of readers are encrypted with
	Log     *slog.Logger     // nil: nothing is logged
	Options Options
	// Shared says that other processes use the same Store, with the same Key.
	Shared bool
	// Disabled hears that a user was disabled, or is not any more; nil: nobody hears.
	Disabled func(ctx context.Context, name string, disabled bool)

	once              sync.Once
	log               *slog.Logger
	hasher            *hasher
	limits            *limiter
	keys              *keys
	setupToken        string      // what whoever makes the first user has to know
	hasUsers          atomic.Bool // there is a user, and always will be
	hasForeignSecrets atomic.Bool // there are secrets that another key made
	disabledUsers     disabledCache
}

// Caller is who tries to get in, and where.
type Caller struct {
	Addr netip.Addr // the zero Addr is a source like any other
	Via  string     // page, saveRss, put, basic, wsse, token, api, greader, fever, metaWeblog: for the log
}

func (a *Accounts) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}

// init makes what the zero value has not.
func (a *Accounts) init() {
	a.once.Do(func() {
		if a.log = a.Log; a.log == nil {
			a.log = slog.New(slog.DiscardHandler)
		}
		a.hasher = newHasher(a.Options)
		a.keys = newKeys(a.Key)
		a.limits = a.newLimiter(orDefault(a.Options.Waiting, defaultWaiting))
		if a.setupToken = strings.ToLower(rand.Text()); a.Shared {
			a.setupToken = a.keys.setupToken() // whichever process is asked
		}
	})
}

// refused is what strangers hear of everything that was wrong with what they said.
func refused() error {
	return fault.New(fault.Refused, "The user name and the password do not belong together.")
}

// missed is refused for what was no password, and counts it.
func (a *Accounts) refuseAndCount(ctx context.Context, from Caller, msg string) error {
	if err := a.limits.countFailure(ctx, a.now(), from); err != nil {
		return err
	}
	return fault.New(fault.Refused, "%s", msg)
}

// note writes down that something was used. Nobody is kept out because it could not.
func (a *Accounts) logUseError(what string, err error) {
	if err != nil {
		a.log.Warn("could not write down that something was used", "what", what, "err", err)
	}
}

// checkText says why a text that people give to things cannot be one: fault.Invalid.
func checkText(what, text string, limit int) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "The %s holds characters that cannot be shown.", what)
	case utf8.RuneCountInString(text) > limit:
		return fault.New(fault.Invalid, "The %s is too long: it may have %d characters.", what, limit)
	}
	return nil
}

// Sweep removes what is over: sessions, nonces, and places where nobody logged in for a
// year, and log-ins that failed long ago. It is for once an hour.
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
