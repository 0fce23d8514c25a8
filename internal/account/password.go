package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"cloudburst/internal/fault"
)

// Minimum and maximum length of a password in bytes.
const (
	MinPassword = 8
	MaxPassword = 1024
)

// maxTyped is the maximum length in bytes of a typed password before normalization. Normalization
// can reduce the length to a third: a decomposed Korean syllable has nine bytes instead of three.
const maxTyped = 3 * MaxPassword

// normalized returns the spelling of a password that is hashed. Characters are composed, and every
// kind of space becomes U+0020, so that a password has the same hash on every keyboard and system.
// ok is false if the text is not UTF-8 or is longer than maxTyped.
//
// spec:precis-rfc8265#opaquestring
func normalized(password string) (_ string, ok bool) {
	if len(password) > maxTyped || !utf8.ValidString(password) {
		return "", false
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, password)), true
}

// newPassword returns the normalized spelling of a new password. fault.Invalid: the password is not
// acceptable; the text states the reason.
func newPassword(name, password string) (string, error) {
	text, ok := normalized(password)
	switch {
	case len(password) > maxTyped || len(text) > MaxPassword:
		return "", fault.New(fault.Invalid, "The password is too long: at most %d bytes are accepted.", MaxPassword)
	case !ok || strings.IndexByte(text, 0) >= 0:
		return "", fault.New(fault.Invalid, "The password contains characters that cannot be typed everywhere; please choose another.")
	case len(text) < MinPassword:
		return "", fault.New(fault.Invalid, "The password is too short: it must have at least %d characters.", MinPassword)
	case text == name:
		return "", fault.New(fault.Invalid, "The password is the user name, which is easy to guess; please choose another.")
	}
	return text, nil
}

// spellings returns the texts whose hash may be stored for a typed password, the most likely text
// first: the normalized text, and the typed text, which earlier versions hashed. It returns one
// text if the two are equal.
func spellings(password string) []string {
	text, ok := normalized(password)
	if !ok || text == password {
		return []string{password}
	}
	return []string{text, password}
}

// passwordHash is a password's hash with its parameters.
type passwordHash struct {
	passes, memory uint32
	salt, sum      []byte
}

// String returns the standard notation: $argon2id$v=19$m=19456,t=2,p=1$salt$sum.
func (h passwordHash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, h.memory, h.passes, base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.sum))
}

// parseHashed parses the result of String. It rejects parameters beyond its limits, so that a
// manipulated row cannot exhaust the memory.
func parseHashed(s string) (h passwordHash, err error) {
	part := strings.Split(s, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, fmt.Errorf("a password's hash is not one of argon2id, version %d", argon2.Version)
	}
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=1", &h.memory, &h.passes); err != nil {
		return h, fmt.Errorf("a password's hash: parameters %q: %w", part[3], err)
	}
	if h.memory == 0 || h.memory > 1<<18 || h.passes == 0 || h.passes > 64 {
		return h, fmt.Errorf("a password's hash: parameters %q are out of bounds", part[3])
	}
	if h.salt, err = base64.RawStdEncoding.DecodeString(part[4]); err == nil {
		h.sum, err = base64.RawStdEncoding.DecodeString(part[5])
	}
	if err == nil && (len(h.salt) < 8 || len(h.sum) != sumSize) {
		err = fmt.Errorf("a password's hash with %d bytes of salt and %d of sum", len(h.salt), len(h.sum))
	}
	if err == nil && h.String() != s {
		err = fmt.Errorf("a password's hash has another notation than this program's")
	}
	return h, err
}

const (
	saltSize       = 16
	sumSize        = 32
	defaultWaiting = 512 // default of Options.Waiting; a small machine computes this number of hashes in a few seconds
)

// hasher computes hashes. The number of concurrent hashes is limited, because each needs much
// memory and a processor.
type hasher struct {
	passes, memory uint32
	hash           func(password, salt []byte, passes, memory uint32) []byte

	slots      chan struct{}
	maxWaiting int64
	waiting    atomic.Int64
	dummy      passwordHash // hash that matches no password
}

func newHasher(o Options) *hasher {
	h := &hasher{passes: orDefault(o.Passes, 2), memory: orDefault(o.Memory, 19<<10), hash: o.Hash, maxWaiting: int64(orDefault(o.Waiting, defaultWaiting))}
	if h.hash == nil {
		h.hash = func(password, salt []byte, passes, memory uint32) []byte {
			return argon2.IDKey(password, salt, passes, memory, 1, sumSize)
		}
	}
	h.slots = make(chan struct{}, orDefault(o.Hashes, min(8, runtime.GOMAXPROCS(0))))
	h.dummy = passwordHash{h.passes, h.memory, randomBytes(saltSize), randomBytes(sumSize)}
	return h
}

// orDefault returns v, or def if v is not positive.
func orDefault[T int | uint32](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// randomBytes returns n random bytes.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// slot waits for a free slot. The caller calls done to release it. fault.TooMany: too many callers
// already wait.
func (h *hasher) slot(ctx context.Context) (done func(), err error) {
	done = func() { <-h.slots }
	select {
	case h.slots <- struct{}{}:
		return done, nil
	default:
	}
	if h.waiting.Add(1) > h.maxWaiting {
		h.waiting.Add(-1)
		return nil, busy()
	}
	defer h.waiting.Add(-1)
	select {
	case h.slots <- struct{}{}:
		return done, nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was canceled while it was waiting.")
	}
}

// make hashes a new password.
func (h *hasher) make(ctx context.Context, password string) (string, error) {
	done, err := h.slot(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	made := passwordHash{passes: h.passes, memory: h.memory, salt: randomBytes(saltSize)}
	made.sum = h.hash([]byte(password), made.salt, made.passes, made.memory)
	return made.String(), nil
}

// check compares a password with a hash. If usable is false, check takes the same time and returns
// false.
func (h *hasher) check(ctx context.Context, password string, with passwordHash, usable bool) (bool, error) {
	if len(password) > MaxPassword {
		password, usable = password[:MaxPassword], false
	}
	if !usable {
		with = h.dummy
	}
	done, err := h.slot(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	sum := h.hash([]byte(password), with.salt, with.passes, with.memory)
	return subtle.ConstantTimeCompare(sum, with.sum) == 1 && usable, nil
}

// outdated reports whether the parameters of a hash differ from the parameters of new hashes.
func (h *hasher) outdated(with passwordHash) bool {
	return with.passes != h.passes || with.memory != h.memory
}

// SetPassword sets a user's password and ends the user's sessions. Errors: those of Add, and
// fault.NotFound (the user does not exist).
func (a *Accounts) SetPassword(ctx context.Context, name, password string) error {
	u, err := a.User(ctx, name)
	if err != nil {
		return err
	}
	_, err = a.setPassword(ctx, u, password, time.Time{})
	return err
}

// ChangePassword is like SetPassword for the user u that Check has returned. It returns the updated
// user. fault.Conflict: the password has changed since Check.
func (a *Accounts) ChangePassword(ctx context.Context, u User, password string) (User, error) {
	return a.setPassword(ctx, u, password, u.PasswordAt)
}

func (a *Accounts) setPassword(ctx context.Context, u User, password string, was time.Time) (User, error) {
	a.init()
	password, err := newPassword(u.Name, password)
	if err != nil {
		return User{}, err
	}
	hash, err := a.hasher.make(ctx, password)
	if err != nil {
		return User{}, err
	}
	if u.PasswordAt, err = a.Store.SetUserPassword(ctx, u.Name, hash, stamp(a.now()), was); err != nil {
		return User{}, err
	}
	return u, nil
}
