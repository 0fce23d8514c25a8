package account

import (
	"context"
	"time"
)

// Store is the database interface of accounts. Each method is one transaction, which is on disk
// when the method returns nil. Times are stored in milliseconds, UTC; every "now" is a parameter.
// Names are compared byte by byte. Methods return fault.Unavailable if the database is unreachable
// or full, and the documented errors. Any other error is a bug.
type Store interface {
	UserStore
	SessionStore
	TokenStore
	SecretStore
	TallyStore
	RoleStore
	InviteStore

	// SweepAccounts deletes outdated rows, at most limit of each kind, and returns the number of
	// deleted rows: sessions and nonces that expired before now; addresses last seen before old;
	// invitations that ended before old.
	SweepAccounts(ctx context.Context, now, old time.Time, limit int) (int64, error)
}

// UserStore stores users and the addresses from which they signed in.
type UserStore interface {
	// AddUser creates a user. If first is set, AddUser succeeds only if the server has never had a
	// user, and the new user is an administrator. fault.Conflict: the name is taken or belonged to a
	// deleted user, or first is set and the server has had a user.
	AddUser(ctx context.Context, u User, hash string, first bool) error
	// User returns a user and the hash of the user's password. fault.NotFound: the user does not
	// exist.
	User(ctx context.Context, name string) (u User, hash string, err error)
	// Users lists users sorted by name. It begins with the name that follows after. limit is at most
	// 1,000; 0 means 100.
	Users(ctx context.Context, after string, limit int) ([]User, error)
	CountUsers(ctx context.Context) (int64, error)
	// SetUserPassword stores a new hash, ends the user's sessions and returns the time of the
	// change. That time is the parameter at, or slightly later, because the times are unique per
	// user. fault.Conflict: the parameter was is not zero and differs from the time when the current
	// password was set. fault.NotFound: the user does not exist.
	SetUserPassword(ctx context.Context, name, hash string, at, was time.Time) (time.Time, error)
	// RehashUser stores hash, a new hash of the same password, if the stored hash is still old.
	RehashUser(ctx context.Context, name, old, hash string) error
	// DisableUser disables or enables a user. Disabling ends the user's sessions and removes the
	// user's posts from the feed of all users. fault.NotFound: the user does not exist.
	DisableUser(ctx context.Context, name string, disabled bool, at time.Time) error
	// SetPreferences stores the encoded preferences of a user. fault.NotFound: the user does not
	// exist.
	SetPreferences(ctx context.Context, name, encoded string) error
	// TouchUser records a log-in of a user at the time at. place is the keyed hash of the address of
	// the client. The store keeps only the most recent places of a user, at most keep.
	TouchUser(ctx context.Context, name, place string, at time.Time, keep int) error
	// KnowsPlace reports whether the user has logged in from an address with this keyed hash.
	KnowsPlace(ctx context.Context, name, place string) (bool, error)
}

// SessionStore stores the sessions of signed-in browsers.
type SessionStore interface {
	// AddSession stores a session of a user whose password was set at passwordAt. If the user has
	// more than limit sessions, AddSession ends the oldest. fault.NotFound: the user does not exist
	// or is disabled; fault.Conflict: the password has changed.
	AddSession(ctx context.Context, s Session, passwordAt time.Time, limit int) error
	// Session returns a session. fault.NotFound: the session does not exist, or its user is
	// disabled.
	Session(ctx context.Context, id string) (Session, error)
	// Sessions lists the sessions of a user that expire after now, newest session first.
	Sessions(ctx context.Context, user string, now time.Time) ([]Session, error)
	// TouchSession stores the time of the last use and the new expiry of a session.
	TouchSession(ctx context.Context, id string, seen, expires time.Time) error
	// EndSession deletes a session. A missing session is not an error.
	EndSession(ctx context.Context, id string) error
}

// TokenStore stores tokens of programs.
type TokenStore interface {
	// AddToken stores a token. app is the hash of the Fever key that is derived from the token; "":
	// no Fever key. fault.NotFound: the user does not exist; fault.Conflict: the user has limit
	// tokens.
	AddToken(ctx context.Context, t Token, hash, app string, limit int) error
	// TokenByHash returns a token by its hash. fault.NotFound: the token does not exist, or its user
	// is disabled.
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// TokenByApp returns a token by the hash of its Fever key. fault.NotFound: the token does not
	// exist, or its user is disabled.
	TokenByApp(ctx context.Context, app string) (Token, error)
	// Tokens lists the tokens of a user, oldest first.
	Tokens(ctx context.Context, user string) ([]Token, error)
	TouchToken(ctx context.Context, id string, at time.Time) error
	// RemoveToken deletes a token. fault.NotFound: the user has no such token.
	RemoveToken(ctx context.Context, user, id string) error
}

// SecretStore stores the secrets of readers of private feeds.
type SecretStore interface {
	// AddSecret stores a secret. fault.NotFound: the user does not exist; fault.Conflict: the reader
	// already has a secret for the feed, or the feed has limit secrets.
	AddSecret(ctx context.Context, s SealedSecret, limit int) error
	// SecretBySelector returns a secret by its selector. fault.NotFound: the secret does not exist,
	// or its user is disabled.
	SecretBySelector(ctx context.Context, selector string) (SealedSecret, error)
	// SecretByMAC returns a secret by its MAC. fault.NotFound: the secret does not exist, or its
	// user is disabled.
	SecretByMAC(ctx context.Context, user, feed string, mac []byte) (SealedSecret, error)
	// SecretsOf lists the secrets of a user's feed, oldest first.
	SecretsOf(ctx context.Context, user, feed string) ([]SealedSecret, error)
	// SecretsFor lists the secrets of a feed that can authenticate a reader. who is a selector or
	// the name of a reader; "": all secrets. If the user is disabled, the list is empty.
	SecretsFor(ctx context.Context, user, feed, who string) ([]SealedSecret, error)
	TouchSecret(ctx context.Context, selector string, at time.Time) error
	// RemoveSecret deletes a secret. fault.NotFound: the user has no such secret.
	RemoveSecret(ctx context.Context, user, selector string) error
	// SecretKeys returns the number of secrets that were encrypted with each key. Key: identifier of
	// the encryption key.
	SecretKeys(ctx context.Context) (map[string]int64, error)
	// UseNonce stores all ids until the given time if no id is stored yet; otherwise it stores
	// nothing. fresh reports whether the ids were stored. If concurrent calls have an id in common,
	// only one call returns true.
	UseNonce(ctx context.Context, ids [][]byte, until time.Time) (fresh bool, err error)
}

// TallyStore stores counts of failed log-ins and of other events, called tallies.
type TallyStore interface {
	// Tallies returns the tallies of keys, in the same order. For a key without a stored tally, the
	// result has only the Key.
	Tallies(ctx context.Context, keys []TallyKey) ([]Tally, error)
	// ChangeTallies locks the tallies of keys, calls change, and stores the tallies if change
	// returns true. keys has no duplicates. change may be called several times. ChangeTallies
	// returns the changed tallies in the order of keys.
	ChangeTallies(ctx context.Context, keys []TallyKey, change func([]Tally) bool) ([]Tally, error)
	// TrimTallies deletes at most limit tallies of a kind and returns their number. It deletes
	// tallies whose Last and Until are not later than the parameter before. If more than keep
	// tallies remain, it also deletes the earliest.
	TrimTallies(ctx context.Context, kind byte, before time.Time, keep, limit int) (int64, error)
}

// TallyKey identifies a tally. The first byte is the kind, and the rest is a keyed hash.
type TallyKey [16]byte

// Tally counts the failures or events of one key. The file loginlimit.go defines the waits.
type Tally struct {
	Key      TallyKey
	Change   int64     // increases with each change
	Failures int       // failures since Since
	Waits    int       // number of waits, which determines the length of the next wait
	Since    time.Time // start of the counting period
	Last     time.Time // time of the last failure
	Until    time.Time // end of the current wait
}

// SealedSecret is a [Secret] in its stored, encrypted form.
type SealedSecret struct {
	Secret        // Plain is ""
	Sealed []byte // encrypted secret
	MAC    []byte // keyed hash of user, feed and secret
	Key    string // identifier of the key that Sealed and MAC were made with
}
