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
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"cloudburst/internal/fault"
)

// Bytes of a password.
const (
	MinPassword = 8
	MaxPassword = 1024
)

// typedMost is the length in bytes of the longest spelling of a password of MaxPassword
// bytes: decomposed, a Korean syllable of three bytes has nine.
const maxTyped = 3 * MaxPassword

// normalized returns the one spelling of a password that is hashed, so that a password has
// the same hash whichever keyboard and system sends it: composed characters and decomposed
// ones are equal, and so are all kinds of space. Nothing else is changed. ok is false for
// what is no password in any spelling: it is not UTF-8, or longer than typedMost.
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

// newPassword returns the spelling of a new password that is hashed, or fault.Invalid with
// the reason why the user cannot have it.
func newPassword(name, password string) (string, error) {
	text, ok := normalized(password)
	switch {
	case len(password) > maxTyped || len(text) > MaxPassword:
		return "", fault.New(fault.Invalid, "The password is too long: it may have %d bytes.", MaxPassword)
	case !ok || strings.IndexByte(text, 0) >= 0:
		return "", fault.New(fault.Invalid, "The password holds characters that cannot be typed everywhere; please choose another.")
	case len(text) < MinPassword:
		return "", fault.New(fault.Invalid, "The password is too short: it needs at least %d characters.", MinPassword)
	case text == name:
		return "", fault.New(fault.Invalid, "The password is the user name, which is what everybody tries first; please choose another.")
	}
	return text, nil
}

// spellings returns what a password that is presented may have been hashed as, the likeliest
// first: normalized, and as it was typed, which is what earlier versions hashed. There is
// one, except where these differ.
func spellings(password string) []string {
	text, ok := normalized(password)
	if !ok || text == password {
		return []string{password}
	}
	return []string{text, password}
}

// hashed is a password's hash with what it was made from.
type passwordHash struct {
	passes, memory uint32
	salt, sum      []byte
}

// String is the usual notation of it: $argon2id$v=19$m=19456,t=2,p=1$salt$sum.
func (h passwordHash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, h.memory, h.passes, base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.sum))
}

// parseHashed reads what String writes. Its bounds keep a row that somebody put into
// the database from taking the machine's memory.
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
		err = fmt.Errorf("a password's hash is followed by something, or written otherwise than here")
	}
	return h, err
}

const (
	saltSize       = 16
	sumSize        = 32
	defaultWaiting = 512 // for their turn, where nobody said how many: some seconds on a small machine
)

// hasher makes hashes, a few at once: each takes its memory, and there are no more
// processors to make them.
type hasher struct {
	passes, memory uint32
	hash           func(password, salt []byte, passes, memory uint32) []byte

	slots      chan struct{}
	maxWaiting int64 // that may wait
	waiting    atomic.Int64
	dummy      passwordHash // of no password
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

// or is v, or the default where it is zero.
func orDefault[T int | uint32](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// random makes n random bytes; it never fails.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// slot waits for its turn. The error is fault.TooMany when too many wait already.
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
		return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was given up before its turn came.")
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

// check compares a password with a hash. usable false means that there is none, which
// takes as long and fails.
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

// old reports a hash that is made otherwise now.
func (h *hasher) outdated(with passwordHash) bool {
	return with.passes != h.passes || with.memory != h.memory
}
