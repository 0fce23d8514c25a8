package account

import (
	"context"
	"time"
)

// Store is what accounts need of a database. Each method is one transaction and is
// on disk when it returns nil. Times are kept to the millisecond, UTC; every "now"
// is passed in. Names are compared byte by byte. Errors are fault.Unavailable when
// the database is away or full, those that are named here, and anything else is a bug.
type Store interface {
	UserStore
	SessionStore
	TokenStore
	SecretStore
	TallyStore

	// SweepAccounts removes up to limit each of the sessions and nonces that are over
	// at now and of the places not seen since old, and returns how many.
	SweepAccounts(ctx context.Context, now, old time.Time, limit int) (int64, error)
}

// UserStore keeps users, and from where they logged in.
type UserStore interface {
	// AddUser writes a new user; first: only if there never was one. fault.Conflict:
	// the name is taken, or there was one.
	AddUser(ctx context.Context, u User, hash string, first bool) error
	// User returns one with the hash of its password, or a fault.NotFound.
	User(ctx context.Context, name string) (u User, hash string, err error)
	// Users lists in order of names, from the one after after; at most limit, which
	// is at most 1,000 (0: 100).
	Users(ctx context.Context, after string, limit int) ([]User, error)
	CountUsers(ctx context.Context) (int64, error)
	// SetUserPassword writes a new hash and ends the user's sessions. It returns when that
	// was: at, or a little later, for no two passwords of a user are of the same time. was,
	// if it is not zero, is when the password before was set; fault.Conflict: it was not.
	// fault.NotFound.
	SetUserPassword(ctx context.Context, name, hash string, at, was time.Time) (time.Time, error)
	// RehashUser writes the same password's new hash if it still has the old one.
	RehashUser(ctx context.Context, name, old, hash string) error
	// DisableUser says whether the user may do anything; ends the sessions if not. What he
	// wrote is not among everyone's while he may not.
	// fault.NotFound.
	DisableUser(ctx context.Context, name string, disabled bool, at time.Time) error
	// SeeUser says that the user logged in at a place, of which the most recent ones
	// are kept.
	TouchUser(ctx context.Context, name, place string, at time.Time, keep int) error
	// KnowsPlace reports whether the user logged in there before.
	KnowsPlace(ctx context.Context, name, place string) (bool, error)
}

// SessionStore keeps sessions of browsers.
type SessionStore interface {
	// AddSession writes a session of a user whose password was set at passwordAt, and ends
	// the oldest ones of the user beyond most. fault.NotFound: there is no such user, or it
	// is disabled; fault.Conflict: there is another password by now.
	AddSession(ctx context.Context, s Session, passwordAt time.Time, limit int) error
	// Session returns one whose user is not disabled, or a fault.NotFound.
	Session(ctx context.Context, id string) (Session, error)
	// Sessions lists those of a user that last beyond now, the newest first.
	Sessions(ctx context.Context, user string, now time.Time) ([]Session, error)
	// SeeSession writes when it was used, and until when it lasts now.
	TouchSession(ctx context.Context, id string, seen, expires time.Time) error
	// EndSession removes one; that there is none is no error.
	EndSession(ctx context.Context, id string) error
}

// TokenStore keeps tokens of programs.
type TokenStore interface {
	// AddToken writes a token; app is the hash of the key that apps make of it, "": none.
	// fault.NotFound: no such user; fault.Conflict: it has most already.
	AddToken(ctx context.Context, t Token, hash, app string, limit int) error
	// TokenByHash returns the one of a user who is not disabled, or a fault.NotFound.
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// TokenByApp is TokenByHash by the hash of an app's key.
	TokenByApp(ctx context.Context, app string) (Token, error)
	// Tokens lists those of a user, the oldest first.
	Tokens(ctx context.Context, user string) ([]Token, error)
	TouchToken(ctx context.Context, id string, at time.Time) error
	// RemoveToken removes one of the user's. fault.NotFound.
	RemoveToken(ctx context.Context, user, id string) error
}

// SecretStore keeps secrets of readers of private feeds.
type SecretStore interface {
	// AddSecret writes a secret. fault.NotFound: no such user; fault.Conflict: the
	// reader has one for this feed already, or the feed has most.
	AddSecret(ctx context.Context, s SealedSecret, limit int) error
	// SecretBySelector returns the one of a user who is not disabled, or a fault.NotFound.
	SecretBySelector(ctx context.Context, selector string) (SealedSecret, error)
	// SecretByMAC returns the one of the user, who is not disabled, with that MAC, or a
	// fault.NotFound.
	SecretByMAC(ctx context.Context, user, feed string, mac []byte) (SealedSecret, error)
	// SecretsOf lists those of a user's feed, the oldest first.
	SecretsOf(ctx context.Context, user, feed string) ([]SealedSecret, error)
	// SecretsFor is SecretsOf for letting readers in: none of a user who is disabled,
	// and unless who is "" only those whose selector or reader it is.
	SecretsFor(ctx context.Context, user, feed, who string) ([]SealedSecret, error)
	TouchSecret(ctx context.Context, selector string, at time.Time) error
	// RemoveSecret removes one of the user's. fault.NotFound.
	RemoveSecret(ctx context.Context, user, selector string) error
	// SecretKeys lists the keys by which secrets were sealed, and how many were.
	SecretKeys(ctx context.Context) (map[string]int64, error)
	// UseNonce remembers all of ids until then if each is new, else none of them, and
	// reports whether it was so. Of two that come at the same time with a common one, only
	// one is told so.
	UseNonce(ctx context.Context, ids [][]byte, until time.Time) (fresh bool, err error)
}

// TallyStore keeps how often something failed or was done.
type TallyStore interface {
	// Tallies reads those of keys, in their order; of one that is not kept only Key is set.
	Tallies(ctx context.Context, keys []TallyKey) ([]Tally, error)
	// ChangeTallies takes those of keys, each once, has change change them, and writes them if
	// it says so. Nobody else changes them meanwhile. change may be called more than once. It
	// returns what change left, in the order of keys.
	ChangeTallies(ctx context.Context, keys []TallyKey, change func([]Tally) bool) ([]Tally, error)
	// TrimTallies removes up to limit of a kind: those whose Last and Until are not after
	// before, and of more than keep those whose are the earliest. It returns how many.
	TrimTallies(ctx context.Context, kind byte, before time.Time, keep, limit int) (int64, error)
}

// TallyKey names what is counted: a byte for its kind, and a keyed hash.
type TallyKey [16]byte

// Tally is how often something failed or was done; see limit.go.
type Tally struct {
	Key      TallyKey
	Change   int64     // grows with each change
	Failures int       // in the span that began at Since
	Waits    int       // so far
	Since    time.Time // of the first of the failures
	Last     time.Time // of the last one
	Until    time.Time // no attempts before
}

// SealedSecret is a [Secret] as the store has it.
type SealedSecret struct {
	Secret        // without Plain
	Sealed []byte // the secret, encrypted
	MAC    []byte // keyed hash of user, feed and secret
	Key    string // which key did both
}
