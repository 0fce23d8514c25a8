package account

import (
	"context"
	"time"
)

// Store is the database interface of accounts. Each method is one transaction, which is on disk
// when it returns nil. Times are stored in milliseconds, UTC; every "now" is a parameter. Names are
// compared byte by byte. Errors are fault.Unavailable when the database is unreachable or full, and
// the documented ones; any other error is a bug.
type Store interface {
	UserStore
	SessionStore
	TokenStore
	SecretStore
	TallyStore
	RoleStore
	InviteStore

	// SweepAccounts deletes expired rows, up to limit of each kind, and returns their number:
	// sessions and nonces that expired before now; addresses last seen, and invitations ended,
	// before old; entries of the audit log that are a year older than old.
	SweepAccounts(ctx context.Context, now, old time.Time, limit int) (int64, error)
}

// UserStore stores users and the addresses from which they signed in.
type UserStore interface {
	// AddUser creates a user. With first, it does so only if the server never had a user. The first
	// user is an administrator. Error: fault.Conflict (the name is taken or belonged to a deleted
	// user, or first and the server had a user).
	AddUser(ctx context.Context, u User, hash string, first bool) error
	// User returns a user with the hash of the password. fault.NotFound.
	User(ctx context.Context, name string) (u User, hash string, err error)
	// Users lists users by name, after the given name. limit is at most 1,000; 0 means 100.
	Users(ctx context.Context, after string, limit int) ([]User, error)
	CountUsers(ctx context.Context) (int64, error)
	// SetUserPassword stores a new hash, ends the user's sessions and returns the time of the
	// change: at, or slightly later, because these times are unique per user. A non-zero was must
	// be the time of the current password, otherwise fault.Conflict. fault.NotFound.
	SetUserPassword(ctx context.Context, name, hash string, at, was time.Time) (time.Time, error)
	// RehashUser replaces the hash of an unchanged password if the stored hash is old.
	RehashUser(ctx context.Context, name, old, hash string) error
	// DisableUser disables or enables a user. Disabling ends the sessions and hides the user's
	// posts from the feed of everyone. fault.NotFound.
	DisableUser(ctx context.Context, name string, disabled bool, at time.Time) error
	// SetPreferences stores the encoded preferences of a user. fault.NotFound.
	SetPreferences(ctx context.Context, name, encoded string) error
	// TouchUser stores the hashed address of a sign-in as a place. Only the most recent places are
	// stored.
	TouchUser(ctx context.Context, name, place string, at time.Time, keep int) error
	// KnowsPlace reports whether the user signed in from that place before.
	KnowsPlace(ctx context.Context, name, place string) (bool, error)
}

// SessionStore stores sessions of browsers.
type SessionStore interface {
	// AddSession stores a session of a user whose password was set at passwordAt, and ends the
	// oldest sessions beyond limit. fault.NotFound: no such user, or disabled; fault.Conflict: the
	// password was changed.
	AddSession(ctx context.Context, s Session, passwordAt time.Time, limit int) error
	// Session returns a session whose user is not disabled. fault.NotFound.
	Session(ctx context.Context, id string) (Session, error)
	// Sessions lists the sessions of a user that expire after now, newest first.
	Sessions(ctx context.Context, user string, now time.Time) ([]Session, error)
	// TouchSession stores the last use and the new expiry.
	TouchSession(ctx context.Context, id string, seen, expires time.Time) error
	// EndSession deletes a session. A missing session is not an error.
	EndSession(ctx context.Context, id string) error
}

// TokenStore stores tokens of programs.
type TokenStore interface {
	// AddToken stores a token; app is the hash of the Fever key derived from it, "": none.
	// fault.NotFound: no such user; fault.Conflict: the user has limit tokens.
	AddToken(ctx context.Context, t Token, hash, app string, limit int) error
	// TokenByHash returns the token of a user who is not disabled. fault.NotFound.
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// TokenByApp is TokenByHash by the hash of a Fever key.
	TokenByApp(ctx context.Context, app string) (Token, error)
	// Tokens lists the tokens of a user, oldest first.
	Tokens(ctx context.Context, user string) ([]Token, error)
	TouchToken(ctx context.Context, id string, at time.Time) error
	// RemoveToken deletes a token of the user. fault.NotFound.
	RemoveToken(ctx context.Context, user, id string) error
}

// SecretStore stores secrets of readers of private feeds.
type SecretStore interface {
	// AddSecret stores a secret. fault.NotFound: no such user; fault.Conflict: the reader has a
	// secret for this feed, or the feed has limit secrets.
	AddSecret(ctx context.Context, s SealedSecret, limit int) error
	// SecretBySelector returns the secret of a user who is not disabled. fault.NotFound.
	SecretBySelector(ctx context.Context, selector string) (SealedSecret, error)
	// SecretByMAC returns the secret with that MAC, of a user who is not disabled. fault.NotFound.
	SecretByMAC(ctx context.Context, user, feed string, mac []byte) (SealedSecret, error)
	// SecretsOf lists the secrets of a user's feed, oldest first.
	SecretsOf(ctx context.Context, user, feed string) ([]SealedSecret, error)
	// SecretsFor is SecretsOf for authentication: none of a disabled user, and unless who is ""
	// only those with this selector or reader.
	SecretsFor(ctx context.Context, user, feed, who string) ([]SealedSecret, error)
	TouchSecret(ctx context.Context, selector string, at time.Time) error
	// RemoveSecret deletes a secret of the user. fault.NotFound.
	RemoveSecret(ctx context.Context, user, selector string) error
	// SecretKeys returns the number of sealed secrets by key.
	SecretKeys(ctx context.Context) (map[string]int64, error)
	// UseNonce stores all ids until the given time if every id is new, and none otherwise. fresh
	// reports whether they were stored. Of concurrent calls with a common id, one gets true.
	UseNonce(ctx context.Context, ids [][]byte, until time.Time) (fresh bool, err error)
}

// TallyStore stores counts of failures and events.
type TallyStore interface {
	// Tallies returns the tallies of keys in their order. A tally that is not stored has only its
	// Key.
	Tallies(ctx context.Context, keys []TallyKey) ([]Tally, error)
	// ChangeTallies locks the tallies of keys (each key once), calls change, and writes them if
	// change returns true. change may be called several times. ChangeTallies returns the changed
	// tallies in the order of keys.
	ChangeTallies(ctx context.Context, keys []TallyKey, change func([]Tally) bool) ([]Tally, error)
	// TrimTallies deletes up to limit tallies of a kind: those whose Last and Until are not after
	// before, and the earliest ones beyond keep. It returns their number.
	TrimTallies(ctx context.Context, kind byte, before time.Time, keep, limit int) (int64, error)
}

// TallyKey identifies a count: a byte for its kind, and a keyed hash.
type TallyKey [16]byte

// Tally counts failures or events of one key; see loginlimit.go.
type Tally struct {
	Key      TallyKey
	Change   int64     // increases with each change
	Failures int       // failures since Since
	Waits    int       // waits so far
	Since    time.Time // start of the counting period
	Last     time.Time // last failure
	Until    time.Time // no attempts before this time
}

// SealedSecret is a [Secret] as stored.
type SealedSecret struct {
	Secret        // without Plain
	Sealed []byte // the secret, encrypted
	MAC    []byte // keyed hash of user, feed and secret
	Key    string // identifier of the key for both
}
