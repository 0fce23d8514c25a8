package account

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"cloudburst/internal/fault"
)

// User is somebody who has feeds here.
type User struct {
	Name       string
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was set
	SeenAt     time.Time // about the last log-in; zero: never
	Disabled   bool
}

// places is how many addresses are remembered from which a user logged in.
const maxPlaces = 20

// Check is a log-in. Errors: fault.Refused, in the same words whether the name is
// unknown, the password wrong or the user disabled; TooMany; Unavailable.
//
// spec:cloudburst#log-in-refusals spec:cloudburst#log-in-limits
func (a *Accounts) Check(ctx context.Context, name, password string, from Caller) (User, error) {
	a.init()
	place := a.keys.place(name, address(from.Addr))
	known := false
	if wellFormed(name) {
		var err error
		if known, err = a.Store.KnowsPlace(ctx, name, place); err != nil {
			return User{}, err
		}
	}
	started, err := a.limits.start(ctx, a.now, loginSource{from: from, name: name, known: known})
	if err != nil {
		return User{}, err
	}
	list := spellings(password)
	u, with, matched, err := a.verify(ctx, name, list)
	switch {
	case err == nil:
		started.passed()
	case fault.CodeOf(err) == fault.Refused:
		if away := started.failed(ctx, a.now()); away != nil {
			return User{}, away
		}
		return User{}, err
	default:
		started.dropped()
		return User{}, err
	}
	if matched > 0 || a.hasher.outdated(with) {
		a.rehash(ctx, name, list[0], with)
	}
	if now := a.now(); !known || now.Sub(u.SeenAt) >= time.Hour {
		a.logUseError("account", a.Store.TouchUser(ctx, name, place, now, maxPlaces))
	}
	return u, nil
}

// verify compares the spellings of a password with the hash of a user. matched is the index
// of the spelling that the hash was made from. Whatever is wrong, one row is read and each
// spelling is hashed.
func (a *Accounts) verify(ctx context.Context, name string, spellings []string) (u User, with passwordHash, matched int, err error) {
	usable := wellFormed(name) // which everybody can see who looks at it
	if usable {
		var hash string
		u, hash, err = a.Store.User(ctx, name)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return User{}, passwordHash{}, 0, err
		}
		if usable = err == nil && !u.Disabled; usable {
			if with, err = parseHashed(hash); err != nil {
				a.log.Error("a password cannot be checked", "user", name, "err", err)
				usable = false
			}
		}
	}
	for i, password := range spellings {
		ok, err := a.hasher.check(ctx, password, with, usable)
		if err != nil {
			return User{}, passwordHash{}, 0, err
		}
		if ok {
			return u, with, i, nil
		}
	}
	return User{}, passwordHash{}, 0, refused()
}

// rehash makes the hash anew, as hashes are made now.
func (a *Accounts) rehash(ctx context.Context, name, password string, old passwordHash) {
	hash, err := a.hasher.make(ctx, password)
	if err == nil {
		err = a.Store.RehashUser(ctx, name, old.String(), hash)
	}
	a.logUseError("hash", err)
}

// Add makes a user. Errors: fault.Invalid (the name or the password cannot be one),
// Conflict (the name is taken), TooMany, Unavailable.
func (a *Accounts) Add(ctx context.Context, name, password string) (User, error) {
	return a.add(ctx, name, password, false)
}

func (a *Accounts) add(ctx context.Context, name, password string, first bool) (User, error) {
	a.init()
	if err := CheckName(name); err != nil {
		return User{}, err
	}
	password, err := newPassword(name, password)
	if err != nil {
		return User{}, err
	}
	hash, err := a.hasher.make(ctx, password)
	if err != nil {
		return User{}, err
	}
	now := stamp(a.now())
	u := User{Name: name, CreatedAt: now, PasswordAt: now}
	if err := a.Store.AddUser(ctx, u, hash, first); err != nil {
		return User{}, err
	}
	return u, nil
}

// stamp is a time as the store keeps it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Register is Add for strangers, where everybody may have an account: five in a quarter
// of an hour for each source, a hundred in an hour for all.
func (a *Accounts) Register(ctx context.Context, name, password string, from Caller) (User, error) {
	a.init()
	if err := CheckName(name); err != nil {
		return User{}, err
	}
	if _, err := newPassword(name, password); err != nil {
		return User{}, err
	}
	if err := a.limits.register(ctx, a.now(), from); err != nil {
		return User{}, err
	}
	return a.Add(ctx, name, password)
}

// Users lists in order of names, from the one after after; at most limit, which is at
// most 1,000 (0: 100).
func (a *Accounts) Users(ctx context.Context, after string, limit int) ([]User, error) {
	return a.Store.Users(ctx, after, limit)
}

// User returns one, or a fault.NotFound.
func (a *Accounts) User(ctx context.Context, name string) (User, error) {
	u, _, err := a.Store.User(ctx, name)
	if err != nil {
		return User{}, err
	}
	return u, nil
}

// SetPassword gives a user a new password and ends its sessions. Errors as of Add, and
// fault.NotFound.
func (a *Accounts) SetPassword(ctx context.Context, name, password string) error {
	u, err := a.User(ctx, name)
	if err != nil {
		return err
	}
	_, err = a.setPassword(ctx, u, password, time.Time{})
	return err
}

// ChangePassword is SetPassword for u, whom Check has just returned, and returns the user
// as it is afterwards. fault.Conflict: the password was changed meanwhile.
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

// Disable says whether a user may do anything. A disabled one's sessions end, and
// neither password nor tokens nor the secrets of readers work while it lasts, and nothing
// of him is shown ([Accounts.Shut]). fault.NotFound.
func (a *Accounts) Disable(ctx context.Context, name string, disabled bool) error {
	err := a.Store.DisableUser(ctx, name, disabled, stamp(a.now()))
	a.disabledUsers.forget() // also after an error: nobody knows whether the transaction went through
	if err == nil && a.Disabled != nil {
		a.Disabled(ctx, name, disabled)
	}
	return err
}

// Count is the number of users.
func (a *Accounts) Count(ctx context.Context) (int64, error) { return a.Store.CountUsers(ctx) }

// First is what whoever makes the first user has to know: made once per process, or, with Shared, from
// the key, for the operator's eyes. "" when there are users, or nobody knows whether.
func (a *Accounts) SetupToken() string {
	a.init()
	if a.hasUsers.Load() {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, err := a.Count(ctx)
	if err != nil {
		a.log.Error("counting the users", "err", err)
	}
	if err != nil || n > 0 {
		a.hasUsers.Store(err == nil)
		return ""
	}
	return a.setupToken
}

// AddFirst is Add for whoever knows what First returned, while there is no user. Errors
// as of Add, and fault.Refused: the token is wrong, or there is a user by now.
func (a *Accounts) AddFirst(ctx context.Context, token, name, password string, from Caller) (User, error) {
	const no = "The token is not the one that this server printed when it started, or the first user was made already."
	a.init()
	if err := a.limits.checkSource(ctx, a.now(), from); err != nil {
		return User{}, err
	}
	n, err := a.Count(ctx)
	if err != nil {
		return User{}, err
	}
	given, printed := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.setupToken))
	if subtle.ConstantTimeCompare(given[:], printed[:]) != 1 || n > 0 {
		return User{}, a.refuseAndCount(ctx, from, no)
	}
	u, err := a.add(ctx, name, password, true)
	if fault.CodeOf(err) == fault.Conflict {
		return User{}, fault.Wrap(fault.Refused, err, no)
	}
	return u, err
}
